package io.seriatim.benchmarks.internal.ffi;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * The dependency engine of {@code libmxnet.so} 1.9.1, called through its C interface. Operations have a native body
 * without effect, C's {@code labs} with an unused pointer: a body in Java would add the cost of an upcall into the JVM
 * to each operation.
 *
 * <p>
 * The C interface lacks functions to create variables and to wait. They are called through the virtual function table
 * of the engine object, whose order is fixed for that release. Addresses are passed as {@code long}, which saves some
 * ten nanoseconds per call compared with segments.
 *
 * <p>
 * Not thread-safe. The environment must hold {@code MXNET_CPU_WORKER_NTHREADS} before the library is loaded.
 */
public final class MxnetEngine {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final AddressLayout TABLE = ValueLayout.ADDRESS;
    private static final int NEW_VARIABLE = 3;
    private static final int WAIT_FOR_ALL = 10;
    private static final int TABLE_SIZE = WAIT_FOR_ALL + 1;
    private static final int CPU = 1;
    private static final int READS = 2;

    private final MethodHandle newVariable;
    private final MethodHandle waitForAll;
    private final MethodHandle pushSync;
    private final long engine;
    private final long body;
    private final long device;

    /** Two variables to read and one to mutate, which a push copies. */
    private final MemorySegment vars;
    private final long reads;
    private final long mutates;

    /**
     * Loads the library and starts its engine.
     *
     * @param library
     *            {@code libmxnet.so}
     * @throws IllegalArgumentException
     *             if it cannot be loaded
     */
    @SuppressWarnings("restricted")
    public MxnetEngine(Path library) {
        Arena forever = Arena.global();
        Linker linker = Linker.nativeLinker();
        SymbolLookup symbols = SymbolLookup.libraryLookup(library, forever);
        // int MXEnginePushSync(body, argument, deleter, device, reads, n, mutates, n, property, priority, name)
        pushSync = linker.downcallHandle(symbols.findOrThrow("MXEnginePushSync"),
                FunctionDescriptor.of(INT, LONG, LONG, LONG, LONG, LONG, INT, LONG, INT, LONG, INT, LONG));
        MethodHandle get = linker.downcallHandle(symbols.findOrThrow("_ZN5mxnet6Engine3GetEv"),
                FunctionDescriptor.of(LONG));
        engine = (long) call(() -> get.invoke());
        MemorySegment table = MemorySegment.ofAddress(engine).reinterpret(TABLE.byteSize()).get(TABLE, 0)
                .reinterpret(TABLE_SIZE * TABLE.byteSize());
        newVariable = linker.downcallHandle(table.getAtIndex(TABLE, NEW_VARIABLE), FunctionDescriptor.of(LONG, LONG));
        waitForAll = linker.downcallHandle(table.getAtIndex(TABLE, WAIT_FOR_ALL), FunctionDescriptor.ofVoid(LONG));
        body = linker.defaultLookup().findOrThrow("labs").address();
        MemorySegment cpu = forever.allocate(INT, 2);
        cpu.setAtIndex(INT, 0, CPU);
        device = cpu.address();
        vars = forever.allocate(LONG, READS + 1);
        reads = vars.address();
        mutates = reads + READS * LONG.byteSize();
    }

    /**
     * Creates a variable.
     *
     * @return its address
     */
    public long newVariable() {
        return (long) call(() -> (long) newVariable.invokeExact(engine));
    }

    /**
     * Pushes an operation without effect.
     *
     * @param first
     *            a variable to read
     * @param second
     *            another variable to read
     * @param reading
     *            the number of read variables, from 0 to 2
     * @param mutated
     *            a variable to mutate
     * @param mutating
     *            the number of mutated variables, 0 or 1
     */
    public void push(long first, long second, int reading, long mutated, int mutating) {
        vars.setAtIndex(LONG, 0, first);
        vars.setAtIndex(LONG, 1, second);
        vars.setAtIndex(LONG, READS, mutated);
        int error;
        try {
            error = (int) pushSync.invokeExact(body, 0L, 0L, device, reads, reading, mutates, mutating, 0L, 0, 0L);
        } catch (Throwable t) {
            throw failed(t);
        }
        if (error != 0) {
            throw new IllegalStateException("MXEnginePushSync returned " + error);
        }
    }

    /** Waits until all operations have ended. */
    public void waitForAll() {
        try {
            waitForAll.invokeExact(engine);
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    @FunctionalInterface
    private interface NativeCall {
        Object invoke() throws Throwable;
    }

    private static Object call(NativeCall call) {
        try {
            return call.invoke();
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static IllegalStateException failed(Throwable t) {
        return new IllegalStateException("A call into libmxnet.so failed with " + t, t);
    }
}
