package io.seriatim.tensor.internal.ffi;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The functions of oneDNN's C interface that are used, version 3. Handles and pointers are plain addresses: passing a
 * long costs less than passing a segment. Whoever calls keeps the memory behind them alive.
 */
@SuppressWarnings("restricted")
public final class Dnnl {
    /** What loading gave: the library or the reason why there is none. */
    private record Loaded(@Nullable Dnnl dnnl, @Nullable Path folder, @Nullable String problem) {
    }

    private static final class Once {
        static final Loaded LOADED = load();

        private Once() {
        }
    }

    private final SymbolLookup symbols;
    private final Map<String, MemorySegment> functions = new ConcurrentHashMap<>();
    private final MemorySegment execute;
    private final MemorySegment setDataHandle;
    private final MemorySegment setThreads;
    private final long engine;
    private final long stream;

    private Dnnl(SymbolLookup dnnl, SymbolLookup openMp) {
        symbols = dnnl;
        execute = dnnl.findOrThrow("dnnl_primitive_execute");
        setDataHandle = dnnl.findOrThrow("dnnl_memory_set_data_handle");
        setThreads = openMp.findOrThrow("omp_set_num_threads");
        engine = handle(out -> call("dnnl_engine_create", "pip", out, DnnlConstants.ENGINE_CPU, 0L));
        stream = handle(out -> call("dnnl_stream_create", "ppi", out, engine, DnnlConstants.STREAM_DEFAULT));
        // By itself it keeps 1,024 primitives that were released. Kernels are kept by PreparedKernels, which counts
        // bytes.
        check(call("dnnl_set_primitive_cache_capacity", "i", 0));
    }

    private static Loaded load() {
        NativePlatform platform = NativePlatform.current();
        if (platform == null) {
            return new Loaded(null, null,
                    "there is no oneDNN for " + System.getProperty("os.name") + " on " + System.getProperty("os.arch"));
        }
        Path folder = null;
        try {
            folder = NativeFiles.unpack(platform);
            SymbolLookup openMp = Linker.nativeLinker().defaultLookup();
            SymbolLookup last = openMp;
            for (String name : platform.libraries()) {
                // The loader finds a library that is loaded already by its name: those that oneDNN needs come first.
                last = SymbolLookup.libraryLookup(folder.resolve(name), Arena.global());
                openMp = name.equals(platform.openMp()) ? last : openMp;
            }
            return new Loaded(new Dnnl(last, openMp), folder, null);
        } catch (IOException | RuntimeException | LinkageError e) {
            return new Loaded(null, folder,
                    "oneDNN could not be loaded" + (folder == null ? "" : " from " + folder) + ": " + e);
        }
    }

    /**
     * The library.
     *
     * @return null if it could not be loaded: {@link #problem} says why
     */
    public static @Nullable Dnnl get() {
        return Once.LOADED.dnnl();
    }

    /**
     * The library, where it is known to be there.
     *
     * @return as {@link #get}
     * @throws IllegalStateException
     *             if it could not be loaded
     */
    public static Dnnl require() {
        Dnnl dnnl = get();
        if (dnnl == null) {
            throw new IllegalStateException(problem());
        }
        return dnnl;
    }

    /**
     * Why there is no library.
     *
     * @return null if there is one
     */
    public static @Nullable String problem() {
        return Once.LOADED.problem();
    }

    /**
     * Where the library was loaded from.
     *
     * @return a folder, or null if nothing was unpacked
     */
    public static @Nullable Path folder() {
        return Once.LOADED.folder();
    }

    /** Writes a handle to the address that it is given. */
    @FunctionalInterface
    public interface Creation {
        /**
         * Creates something.
         *
         * @param out
         *            the address for the handle
         * @return a status
         */
        int create(long out);
    }

    private MemorySegment function(String name) {
        return functions.computeIfAbsent(name, symbols::findOrThrow);
    }

    /**
     * Calls a function that makes something, by its name; not for the hot path.
     *
     * @param name
     *            the C function, which returns a status
     * @param parameters
     *            a letter for each argument: p for a pointer or size, i for an int, f for a float
     * @param arguments
     *            a Long, Integer or Float each
     * @return the status
     */
    public int call(String name, String parameters, Object... arguments) {
        return (int) Calls.any(function(name), ValueLayout.JAVA_INT, parameters, arguments);
    }

    /**
     * Creates something and gives its handle.
     *
     * @param creation
     *            writes it
     * @return the handle; 0 if the library has no implementation
     * @throws IllegalStateException
     *             for any other failure
     */
    public static long handle(Creation creation) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            int status = creation.create(out.address());
            if (status == DnnlConstants.UNIMPLEMENTED || status == DnnlConstants.LAST_IMPL_REACHED
                    || status == DnnlConstants.INVALID_ARGUMENTS) {
                return 0;
            }
            check(status);
            return out.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /**
     * How many released primitives the library keeps.
     *
     * @return a number of primitives
     */
    public int primitiveCacheCapacity() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
            check(call("dnnl_get_primitive_cache_capacity", "p", out.address()));
            return out.get(ValueLayout.JAVA_INT, 0);
        }
    }

    private static void check(int status) {
        if (status != 0) {
            throw new IllegalStateException(
                    "oneDNN failed: " + (status < STATUS.length ? STATUS[status] : "status " + status));
        }
    }

    private static final String[] STATUS = {"success", "out of memory", "invalid arguments", "no implementation",
            "last implementation reached", "a run-time error",
            "not required", "invalid graph", "invalid graph operation", "invalid shape", "invalid data type"};

    /**
     * The engine, which all primitives are of.
     *
     * @return a handle
     */
    public long engine() {
        return engine;
    }

    /**
     * Runs a primitive on the calling thread, and on more if it was given them.
     *
     * @param primitive
     *            a handle
     * @param count
     *            how many arguments
     * @param arguments
     *            the address of an array of {int, memory handle}, 16 bytes each
     */
    public void execute(long primitive, int count, long arguments) {
        check(Calls.execute(execute, primitive, stream, count, arguments));
    }

    /**
     * Points a memory object to other data.
     *
     * @param memory
     *            a handle
     * @param address
     *            of the data
     */
    public void setDataHandle(long memory, long address) {
        check(Calls.instant(setDataHandle, memory, address));
    }

    /**
     * Sets how many threads the primitives that the calling thread creates and runs may use.
     *
     * @param threads
     *            from 1
     */
    public void setThreads(int threads) {
        Calls.instant(setThreads, threads, 0);
    }

    /**
     * Describes memory with strides.
     *
     * @param dims
     *            the dimensions, 1 to 12
     * @param dtype
     *            a constant of {@link DnnlConstants}
     * @param strides
     *            in elements
     * @return a handle
     */
    public long describe(long[] dims, int dtype, long[] strides) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment d = arena.allocateFrom(ValueLayout.JAVA_LONG, dims);
            MemorySegment s = arena.allocateFrom(ValueLayout.JAVA_LONG, strides);
            return handle(out -> call("dnnl_memory_desc_create_with_strides", "pipip", out, dims.length, d.address(),
                    dtype, s.address()));
        }
    }

    /**
     * Describes memory whose layout a primitive may choose.
     *
     * @param dims
     *            the dimensions, 1 to 12
     * @param dtype
     *            a constant of {@link DnnlConstants}
     * @return a handle
     */
    public long describeAny(long[] dims, int dtype) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment d = arena.allocateFrom(ValueLayout.JAVA_LONG, dims);
            return handle(out -> call("dnnl_memory_desc_create_with_tag", "pipii", out, dims.length, d.address(), dtype,
                    DnnlConstants.FORMAT_ANY));
        }
    }

    /**
     * The description in bytes, which can be kept.
     *
     * @param description
     *            a handle
     * @return the library's own form
     */
    public byte[] blob(long description) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
            check(call("dnnl_memory_desc_get_blob", "ppp", 0L, size.address(), description));
            long bytes = size.get(ValueLayout.JAVA_LONG, 0);
            MemorySegment blob = arena.allocate(bytes);
            check(call("dnnl_memory_desc_get_blob", "ppp", blob.address(), size.address(), description));
            return blob.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /**
     * The description out of its bytes.
     *
     * @param blob
     *            from {@link #blob}
     * @return a handle
     */
    public long describe(byte[] blob) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, blob);
            return handle(out -> call("dnnl_memory_desc_create_with_blob", "pp", out, bytes.address()));
        }
    }

    /**
     * The memory that a description takes.
     *
     * @param description
     *            a handle
     * @return in bytes
     */
    public long size(long description) {
        return Calls.any(function("dnnl_memory_desc_get_size"), ValueLayout.JAVA_LONG, "p", description);
    }

    /**
     * Whether two descriptions are of one layout.
     *
     * @param a
     *            a handle
     * @param b
     *            a handle
     * @return true if a tensor of one can be read as the other
     */
    public boolean equal(long a, long b) {
        return call("dnnl_memory_desc_equal", "pp", a, b) != 0;
    }

    /**
     * Whether a description's blocks are those of another one: so that if they are large enough, what the one describes
     * can lie in the other.
     *
     * @param a
     *            a handle
     * @param b
     *            a handle of as many dimensions
     * @return true if all strides between blocks, and the blocks, are the same
     */
    public boolean haveSameBlocks(long a, long b) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            long dimensions = integer(a, DnnlConstants.QUERY_DIMENSIONS, out);
            long blocks = integer(a, DnnlConstants.QUERY_BLOCKS, out);
            return dimensions == integer(b, DnnlConstants.QUERY_DIMENSIONS, out)
                    && blocks == integer(b, DnnlConstants.QUERY_BLOCKS, out)
                    && numbers(a, DnnlConstants.QUERY_STRIDES, dimensions, out)
                            .mismatch(numbers(b, DnnlConstants.QUERY_STRIDES, dimensions, out)) < 0
                    && numbers(a, DnnlConstants.QUERY_BLOCK_SIZES, blocks, out)
                            .mismatch(numbers(b, DnnlConstants.QUERY_BLOCK_SIZES, blocks, out)) < 0
                    && numbers(a, DnnlConstants.QUERY_BLOCK_DIMENSIONS, blocks, out)
                            .mismatch(numbers(b, DnnlConstants.QUERY_BLOCK_DIMENSIONS, blocks, out)) < 0;
        }
    }

    private int integer(long description, int what, MemorySegment out) {
        check(call("dnnl_memory_desc_query", "pip", description, what, out.address()));
        return out.get(ValueLayout.JAVA_INT, 0);
    }

    @SuppressWarnings("restricted")
    private MemorySegment numbers(long description, int what, long count, MemorySegment out) {
        check(call("dnnl_memory_desc_query", "pip", description, what, out.address()));
        return MemorySegment.ofAddress(out.get(ValueLayout.JAVA_LONG, 0)).reinterpret(count * Long.BYTES);
    }

    /**
     * Releases a description.
     *
     * @param description
     *            a handle, or 0
     */
    public void destroyDescription(long description) {
        destroy("dnnl_memory_desc_destroy", description);
    }

    /**
     * Copies a description.
     *
     * @param description
     *            a handle
     * @return a handle of its own
     */
    public long copy(long description) {
        return handle(out -> call("dnnl_memory_desc_clone", "pp", out, description));
    }

    /**
     * A description that belongs to a primitive description.
     *
     * @param primitiveDescription
     *            a handle
     * @param what
     *            a QUERY constant
     * @return a handle that lives as long as the primitive description; 0 if it has none
     */
    public long query(long primitiveDescription, int what) {
        return query(primitiveDescription, what, 0);
    }

    /**
     * A description that belongs to a primitive description.
     *
     * @param primitiveDescription
     *            a handle
     * @param what
     *            a QUERY constant
     * @param index
     *            which of several
     * @return a handle that lives as long as the primitive description; 0 if it has none
     */
    public long query(long primitiveDescription, int what, int index) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            int status = call("dnnl_primitive_desc_query", "piip", primitiveDescription, what, index, out.address());
            return status == 0 ? out.get(ValueLayout.JAVA_LONG, 0) : 0;
        }
    }

    /**
     * What implementation was chosen.
     *
     * @param primitiveDescription
     *            a handle
     * @return for instance {@code brg_matmul:avx512_core}
     */
    public String implementation(long primitiveDescription) {
        long text = query(primitiveDescription, DnnlConstants.QUERY_IMPL_INFO);
        return text == 0 ? "" : MemorySegment.ofAddress(text).reinterpret(256).getString(0);
    }

    /**
     * Makes a primitive.
     *
     * @param primitiveDescription
     *            a handle
     * @return a handle
     */
    public long primitive(long primitiveDescription) {
        long primitive = handle(out -> call("dnnl_primitive_create", "pp", out, primitiveDescription));
        if (primitive == 0) {
            throw new IllegalStateException("oneDNN made no primitive of " + implementation(primitiveDescription));
        }
        return primitive;
    }

    /**
     * Releases a primitive.
     *
     * @param primitive
     *            a handle, or 0
     */
    public void destroyPrimitive(long primitive) {
        destroy("dnnl_primitive_destroy", primitive);
    }

    /**
     * Releases a primitive description.
     *
     * @param primitiveDescription
     *            a handle, or 0
     */
    public void destroyPrimitiveDescription(long primitiveDescription) {
        destroy("dnnl_primitive_desc_destroy", primitiveDescription);
    }

    /**
     * Makes a memory object without data.
     *
     * @param description
     *            of the data
     * @return a handle
     */
    public long memory(long description) {
        return handle(out -> call("dnnl_memory_create", "pppp", out, description, engine, 0L));
    }

    /**
     * Releases a memory object; its data stays.
     *
     * @param memory
     *            a handle, or 0
     */
    public void destroyMemory(long memory) {
        destroy("dnnl_memory_destroy", memory);
    }

    private void destroy(String destructor, long handle) {
        if (handle != 0) {
            check(call(destructor, "p", handle));
        }
    }

    /**
     * The version.
     *
     * @return for instance {@code 3.11.0}
     */
    public String version() {
        long version = Calls.any(function("dnnl_version"), ValueLayout.JAVA_LONG, "");
        MemorySegment parts = MemorySegment.ofAddress(version).reinterpret(12);
        return parts.get(ValueLayout.JAVA_INT, 0) + "." + parts.get(ValueLayout.JAVA_INT, 4) + "."
                + parts.get(ValueLayout.JAVA_INT, 8);
    }

    /**
     * The instruction sets that it uses.
     *
     * @return a constant of oneDNN's {@code dnnl_cpu_isa_t}; 0 where that is not known
     */
    public int isa() {
        return call("dnnl_get_effective_cpu_isa", "");
    }
}
