package io.seriatim.graph.program;

import java.util.function.Supplier;

/** The words of errors that an {@link OutOfMemoryError} causes while a model is read, compiled or run. */
public final class HeapMemory {
    private HeapMemory() {
    }

    /**
     * A reason and what to do.
     *
     * @param error
     *            what was thrown
     * @return to follow what was being read or built, and a colon
     */
    public static String advice(OutOfMemoryError error) {
        return "memory is exhausted (" + error.getMessage() + "), of which the Java heap may have "
                + Runtime.getRuntime().maxMemory()
                + " bytes: raise the limit of the heap (-Xmx), or use smaller sizes; "
                + "tensors have their own limit (-Dseriatim.cpu.memory)";
    }

    /**
     * Compiles a program.
     *
     * @param <T>
     *            the type of the result
     * @param program
     *            what is compiled
     * @param compilation
     *            how
     * @return the result
     * @throws IllegalStateException
     *             if memory is exhausted; the message says how large the program is
     */
    public static <T> T compiling(Program program, Supplier<T> compilation) {
        try {
            return compilation.get();
        } catch (OutOfMemoryError e) {
            throw new IllegalStateException("A program of " + program.blocks().size() + " blocks, whose first has "
                    + program.global().ops().size() + " operations, cannot be compiled: " + advice(e), e);
        }
    }
}
