package io.seriatim.tensor.internal.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * Calls of C functions through few signatures. Linking a signature takes 4 ms of class generation in each process, the
 * first 10 ms, so on Linux functions share one: each argument is passed as a long or as a float, and there may be more
 * of them than the function has. Both of its calling conventions (System V for x86-64, AAPCS64) hand an int over in the
 * register or the 8 bytes of stack that a long would have, of which the function looks at the lower half; they count
 * integers apart from floats, and the caller takes away what it put on the stack. Elsewhere each function is called by
 * a signature of its own.
 */
@SuppressWarnings("restricted")
final class Calls {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final boolean IS_LINUX = System.getProperty("os.name", "").toLowerCase(Locale.ROOT)
            .startsWith("linux");
    private static final byte PLAIN = 'N';
    private static final int INTEGERS = 13;
    private static final int FLOATS = 2;

    // META-INF/native-image has the same signatures.
    static final FunctionDescriptor EXECUTE_SIGNATURE = FunctionDescriptor.of(ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG);
    static final FunctionDescriptor INSTANT_SIGNATURE = FunctionDescriptor.of(ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    static final FunctionDescriptor MASK_SIGNATURE = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    static final FunctionDescriptor PRODUCT_SIGNATURE = FunctionDescriptor.of(ValueLayout.JAVA_INT,
            ValueLayout.JAVA_BYTE, ValueLayout.JAVA_BYTE, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_FLOAT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_FLOAT, ValueLayout.ADDRESS,
            ValueLayout.JAVA_LONG);
    private static final MethodHandle EXECUTE = LINKER.downcallHandle(EXECUTE_SIGNATURE);
    private static final MethodHandle INSTANT = LINKER.downcallHandle(INSTANT_SIGNATURE,
            Linker.Option.critical(false));

    private Calls() {
    }

    /** The product of matrices, whose arrays may be on the heap: threads of the JVM wait for it to stop. */
    private static final class Product {
        static final MethodHandle CALL = LINKER.downcallHandle(PRODUCT_SIGNATURE, Linker.Option.critical(true));

        private Product() {
        }
    }

    /** The change of the calling thread's signal mask. */
    private static final class Mask {
        static final MethodHandle CALL = LINKER.downcallHandle(MASK_SIGNATURE, Linker.Option.critical(false));

        private Mask() {
        }
    }

    /** The signature that all functions share. */
    private static final class Shared {
        static final MethodHandle CALL = LINKER.downcallHandle(sharedSignature());

        private Shared() {
        }
    }

    static FunctionDescriptor sharedSignature() {
        List<MemoryLayout> layouts = new ArrayList<>(Collections.nCopies(INTEGERS, ValueLayout.JAVA_LONG));
        layouts.addAll(Collections.nCopies(FLOATS, ValueLayout.JAVA_FLOAT));
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts.toArray(MemoryLayout[]::new));
    }

    /** Runs a primitive. */
    static int execute(MemorySegment function, long primitive, long stream, int count, long arguments) {
        try {
            return (int) EXECUTE.invokeExact(function, primitive, stream, count, arguments);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Calls a function of two pointers or sizes that returns quickly and never blocks. */
    static int instant(MemorySegment function, long first, long second) {
        try {
            return (int) INSTANT.invokeExact(function, first, second);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Calls {@code pthread_sigmask} with the addresses of two sets of signals, or 0. */
    static int mask(MemorySegment function, int how, long set, long before) {
        try {
            return (int) Mask.CALL.invokeExact(function, how, set, before);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Calls {@code dnnl_sgemm} to add x · y to sums; none is transposed. */
    static int addProduct(MemorySegment function, long rows, long columns, long inner, MemorySegment x, long y,
            MemorySegment sums, long stride) {
        try {
            return (int) Product.CALL.invokeExact(function, PLAIN, PLAIN, rows, columns, inner, 1f, x, inner, y,
                    columns, 1f, sums, stride);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /**
     * Any function.
     *
     * @param parameters
     *            a letter for each argument: p for a pointer or size, i for an int, f for a float
     * @param arguments
     *            a Long, Integer or Float each
     * @return the result, of which the lower half counts if it is an int
     */
    static long any(MemorySegment function, ValueLayout result, String parameters, Object... arguments) {
        return IS_LINUX ? shared(function, arguments) : own(function, result, parameters, arguments);
    }

    /** Calls a function by the shared signature. */
    static long shared(MemorySegment function, Object... arguments) {
        long[] p = new long[INTEGERS];
        float[] f = new float[FLOATS];
        int integers = 0;
        int floats = 0;
        for (Object argument : arguments) {
            if (argument instanceof Float number) {
                f[floats++] = number;
            } else {
                p[integers++] = ((Number) argument).longValue();
            }
        }
        try {
            return (long) Shared.CALL.invokeExact(function, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9],
                    p[10], p[11], p[12],
                    f[0], f[1]);
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    /** Calls a function by its own signature. */
    static long own(MemorySegment function, ValueLayout result, String parameters, Object... arguments) {
        MemoryLayout[] layouts = parameters.chars().mapToObj(c -> switch (c) {
            case 'p' -> ValueLayout.JAVA_LONG;
            case 'i' -> ValueLayout.JAVA_INT;
            case 'f' -> ValueLayout.JAVA_FLOAT;
            default -> throw new IllegalArgumentException("unknown parameter type " + (char) c);
        }).toArray(MemoryLayout[]::new);
        try {
            return ((Number) LINKER.downcallHandle(function, FunctionDescriptor.of(result, layouts))
                    .invokeWithArguments(arguments))
                    .longValue();
        } catch (Throwable e) {
            throw thrown(e);
        }
    }

    private static AssertionError thrown(Throwable e) {
        return new AssertionError("a C function throws nothing", e);
    }
}
