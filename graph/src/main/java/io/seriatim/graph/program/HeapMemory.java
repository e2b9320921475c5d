package io.seriatim.graph.program;

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
}
