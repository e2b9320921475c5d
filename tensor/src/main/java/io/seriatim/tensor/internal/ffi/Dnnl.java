package io.seriatim.tensor.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The functions of oneDNN's C interface that are used, version 3. Each object of the library is a {@link Handle} of its
 * own type; a failure is a {@link DnnlException} with the status by name. The two functions that a run calls,
 * {@link #execute} and {@link #setDataHandle}, take plain addresses. The caller keeps the memory behind them alive.
 */
@SuppressWarnings("restricted")
public final class Dnnl {
    /** In the names of implementations that move the stack. */
    private static final String PLAIN_PRODUCTS = "gemm:jit";
    /** Products of more columns of x may take their workspace from the heap; the limit with AVX-512 is 84. */
    private static final long MOST_ON_STACK = 80;

    private final CheckedCalls calls;
    private final MemorySegment execute;
    private final MemorySegment setDataHandle;
    private final MemorySegment setThreads;
    private final MemorySegment sgemm;
    private final NativeEngine engine;
    private final NativeStream stream;
    private final PrimitiveDescriptors primitives;
    /** Null where no signal needs to be deferred. */
    private final @Nullable SignalMask signals;

    /** The {@code dnnl_engine_t} of the processor, which lives as long as the process. */
    record NativeEngine(long address) implements Handle {
    }

    /** The {@code dnnl_stream_t} in which primitives run, which lives as long as the process. */
    record NativeStream(long address) implements Handle {
    }

    /** Creates the calls of a library that was loaded, and of the OpenMP library that it uses. */
    Dnnl(SymbolLookup dnnl, SymbolLookup openMp) {
        calls = new CheckedCalls(dnnl);
        execute = dnnl.findOrThrow("dnnl_primitive_execute");
        setDataHandle = dnnl.findOrThrow("dnnl_memory_set_data_handle");
        sgemm = dnnl.findOrThrow("dnnl_sgemm");
        setThreads = openMp.findOrThrow("omp_set_num_threads");
        engine = new NativeEngine(calls.create("dnnl_engine_create", DnnlConstants.ENGINE_CPU, 0L));
        stream = new NativeStream(calls.create("dnnl_stream_create", engine, DnnlConstants.STREAM_DEFAULT));
        primitives = new PrimitiveDescriptors(calls, engine);
        signals = SignalMask.of(NativePlatform.current());
        // By itself it keeps 1,024 primitives that were released. Kernels are kept by PreparedKernels, which counts
        // bytes.
        calls.call("dnnl_set_primitive_cache_capacity", 0);
    }

    /**
     * The library.
     *
     * @return null if it could not be loaded: {@link #problem} says why
     */
    public static @Nullable Dnnl get() {
        return DnnlLibrary.get().dnnl();
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
        return DnnlLibrary.get().problem();
    }

    /**
     * Where the library was loaded from.
     *
     * @return a folder, or null if nothing was unpacked
     */
    public static @Nullable Path folder() {
        return DnnlLibrary.get().folder();
    }

    /**
     * Describes primitives.
     *
     * @return the functions that create primitive descriptors
     */
    public PrimitiveDescriptors primitives() {
        return primitives;
    }

    CheckedCalls calls() {
        return calls;
    }

    /**
     * How many released primitives the library keeps.
     *
     * @return a number of primitives
     */
    public int primitiveCacheCapacity() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
            calls.call("dnnl_get_primitive_cache_capacity", out);
            return out.get(ValueLayout.JAVA_INT, 0);
        }
    }

    /**
     * Runs a primitive on the calling thread, and on more if {@link #setThreads} allows it. For the hot path, pointers
     * are plain longs.
     *
     * @param primitive
     *            the address of a {@link Primitive}
     * @param count
     *            the number of arguments
     * @param arguments
     *            the address of an array of {int, address of a {@link MemoryObject}}, 16 bytes each
     * @throws DnnlException
     *             if the primitive fails
     */
    public void execute(long primitive, int count, long arguments) {
        requireExecuted(Calls.execute(execute, primitive, stream.address(), count, arguments), count);
    }

    private void requireExecuted(int status, int count) {
        if (status != 0) {
            throw calls.failure("dnnl_primitive_execute", DnnlStatus.of(status), count + " arguments");
        }
    }

    /**
     * Runs a primitive for which {@link #movesStack} is true.
     *
     * @param primitive
     *            as in {@link #execute}
     * @param count
     *            as in {@link #execute}
     * @param arguments
     *            as in {@link #execute}
     * @throws DnnlException
     *             if the primitive fails
     */
    public void executeUnsignalled(long primitive, int count, long arguments) {
        if (signals == null) {
            execute(primitive, count, arguments);
            return;
        }
        requireExecuted(signals.within(() -> Calls.execute(execute, primitive, stream.address(), count, arguments)),
                count);
    }

    /**
     * Returns whether an implementation may use memory of the heap as its stack, so that signals must wait.
     *
     * @param primitive
     *            a primitive descriptor
     * @return true for those that are built on the library's plain products of matrices
     */
    public boolean movesStack(PrimitiveDescriptor primitive) {
        return signals != null && implementation(primitive).contains(PLAIN_PRODUCTS);
    }

    /**
     * Points a memory object to other data. For the hot path, pointers are plain longs.
     *
     * @param memory
     *            the address of a {@link MemoryObject}
     * @param address
     *            the address of the data
     * @throws DnnlException
     *             if there is no such object
     */
    public void setDataHandle(long memory, long address) {
        int status = Calls.instant(setDataHandle, memory, address);
        if (status != 0) {
            throw calls.failure("dnnl_memory_set_data_handle", DnnlStatus.of(status), memory, address);
        }
    }

    /**
     * Adds a product of dense matrices of float32 to sums, which takes a tenth of the time that a primitive takes to
     * start. Garbage collections wait for it, so it is for small products.
     *
     * @param rows
     *            of x and the sums
     * @param columns
     *            of y and the sums
     * @param inner
     *            the columns of x, which are the rows of y
     * @param x
     *            the first matrix, which may be on the heap
     * @param y
     *            the address of the second matrix
     * @param sums
     *            is added to; may be on the heap
     * @param stride
     *            between the rows of the sums
     * @throws DnnlException
     *             if the library refuses
     */
    public void addProduct(long rows, long columns, long inner, MemorySegment x, long y, MemorySegment sums,
            long stride) {
        int status = signals == null || inner <= MOST_ON_STACK
                ? Calls.addProduct(sgemm, rows, columns, inner, x, y, sums, stride)
                : signals.within(() -> Calls.addProduct(sgemm, rows, columns, inner, x, y, sums, stride));
        if (status != 0) {
            throw calls.failure("dnnl_sgemm", DnnlStatus.of(status), rows, columns, inner);
        }
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
     * @return a descriptor that the caller destroys
     * @throws DnnlException
     *             if the library cannot describe such memory
     */
    public MemoryDescriptor.Owned describe(long[] dims, int dtype, long[] strides) {
        return new MemoryDescriptor.Owned(
                calls.create("dnnl_memory_desc_create_with_strides", dims.length, dims, dtype, strides));
    }

    /**
     * Describes memory whose layout a primitive may choose.
     *
     * @param dims
     *            the dimensions, 1 to 12
     * @param dtype
     *            a constant of {@link DnnlConstants}
     * @return a descriptor that the caller destroys
     * @throws DnnlException
     *             if the library cannot describe such memory
     */
    public MemoryDescriptor.Owned describeAny(long[] dims, int dtype) {
        return new MemoryDescriptor.Owned(calls.create("dnnl_memory_desc_create_with_tag", dims.length, dims, dtype,
                DnnlConstants.FORMAT_ANY));
    }

    /**
     * Writes a descriptor to bytes, which can be kept.
     *
     * @param descriptor
     *            a descriptor
     * @return the library's own form
     */
    public byte[] blob(MemoryDescriptor descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
            calls.call("dnnl_memory_desc_get_blob", null, size, descriptor);
            MemorySegment blob = arena.allocate(size.get(ValueLayout.JAVA_LONG, 0));
            calls.call("dnnl_memory_desc_get_blob", blob, size, descriptor);
            return blob.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /**
     * Reads a descriptor from its bytes.
     *
     * @param blob
     *            from {@link #blob}
     * @return a descriptor that the caller destroys
     */
    public MemoryDescriptor.Owned describe(byte[] blob) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, blob);
            return new MemoryDescriptor.Owned(calls.create("dnnl_memory_desc_create_with_blob", bytes));
        }
    }

    /**
     * The memory that a tensor with a descriptor takes.
     *
     * @param descriptor
     *            a descriptor
     * @return in bytes
     */
    public long size(MemoryDescriptor descriptor) {
        return calls.pointer("dnnl_memory_desc_get_size", descriptor);
    }

    /**
     * Whether two descriptors have one layout.
     *
     * @param a
     *            a descriptor
     * @param b
     *            a descriptor
     * @return true if a tensor of one can be read as the other
     */
    public boolean equal(MemoryDescriptor a, MemoryDescriptor b) {
        return calls.integer("dnnl_memory_desc_equal", a, b) != 0;
    }

    /**
     * Whether two descriptors have the same blocks: if the blocks are large enough, the tensor of one can lie in that
     * of the other.
     *
     * @param a
     *            a descriptor
     * @param b
     *            a descriptor with as many dimensions
     * @return true if all strides between blocks, and the blocks, are the same
     */
    public boolean haveSameBlocks(MemoryDescriptor a, MemoryDescriptor b) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            long dimensions = calls.integer(a, DnnlConstants.QUERY_DIMENSIONS, out);
            long blocks = calls.integer(a, DnnlConstants.QUERY_BLOCKS, out);
            return dimensions == calls.integer(b, DnnlConstants.QUERY_DIMENSIONS, out)
                    && blocks == calls.integer(b, DnnlConstants.QUERY_BLOCKS, out)
                    && calls.numbers(a, DnnlConstants.QUERY_STRIDES, dimensions, out)
                            .mismatch(calls.numbers(b, DnnlConstants.QUERY_STRIDES, dimensions, out)) < 0
                    && calls.numbers(a, DnnlConstants.QUERY_BLOCK_SIZES, blocks, out)
                            .mismatch(calls.numbers(b, DnnlConstants.QUERY_BLOCK_SIZES, blocks, out)) < 0
                    && calls.numbers(a, DnnlConstants.QUERY_BLOCK_DIMENSIONS, blocks, out)
                            .mismatch(calls.numbers(b, DnnlConstants.QUERY_BLOCK_DIMENSIONS, blocks, out)) < 0;
        }
    }

    /**
     * Copies a descriptor.
     *
     * @param descriptor
     *            a descriptor
     * @return a descriptor that the caller destroys
     */
    public MemoryDescriptor.Owned copy(MemoryDescriptor descriptor) {
        return new MemoryDescriptor.Owned(calls.create("dnnl_memory_desc_clone", descriptor));
    }

    /**
     * Destroys a descriptor.
     *
     * @param descriptor
     *            a descriptor that nothing uses any more
     */
    public void destroy(MemoryDescriptor.Owned descriptor) {
        calls.call("dnnl_memory_desc_destroy", descriptor);
    }

    /**
     * Finds a memory descriptor of a primitive descriptor.
     *
     * @param primitive
     *            a primitive descriptor
     * @param query
     *            a QUERY constant
     * @return null if it has none
     */
    public MemoryDescriptor.@Nullable Borrowed find(PrimitiveDescriptor primitive, int query) {
        return find(primitive, query, 0);
    }

    /**
     * Finds one of several memory descriptors of a primitive descriptor.
     *
     * @param primitive
     *            a primitive descriptor
     * @param query
     *            a QUERY constant
     * @param index
     *            which of several
     * @return null if it has none
     */
    public MemoryDescriptor.@Nullable Borrowed find(PrimitiveDescriptor primitive, int query, int index) {
        long address = calls.queried(primitive, query, index);
        return address == 0 ? null : new MemoryDescriptor.Borrowed(address);
    }

    /**
     * Gets a memory descriptor that a primitive descriptor has.
     *
     * @param primitive
     *            a primitive descriptor
     * @param query
     *            a QUERY constant
     * @return valid as long as the primitive descriptor
     * @throws DnnlException
     *             if it has none
     */
    public MemoryDescriptor.Borrowed get(PrimitiveDescriptor primitive, int query) {
        MemoryDescriptor.Borrowed found = find(primitive, query);
        if (found == null) {
            throw calls.failure(CheckedCalls.QUERY, DnnlStatus.NOT_REQUIRED, primitive, query);
        }
        return found;
    }

    /**
     * The name of the implementation that was chosen.
     *
     * @param primitive
     *            a primitive descriptor
     * @return for instance {@code brg_matmul:avx512_core}
     */
    public String implementation(PrimitiveDescriptor primitive) {
        return calls.implementation(primitive);
    }

    /**
     * Changes a primitive descriptor to the next implementation that the library has for it.
     *
     * @param primitive
     *            a primitive descriptor
     * @return false if there is no other one
     */
    public boolean nextImplementation(PrimitiveDescriptor primitive) {
        return calls.nextImplementation(primitive);
    }

    /**
     * Creates a primitive, which generates its code.
     *
     * @param descriptor
     *            what it does
     * @return a primitive that the caller destroys
     */
    public Primitive primitive(PrimitiveDescriptor descriptor) {
        return new Primitive(calls.create("dnnl_primitive_create", descriptor));
    }

    /**
     * Destroys a primitive.
     *
     * @param primitive
     *            a primitive that no thread runs
     */
    public void destroy(Primitive primitive) {
        calls.call("dnnl_primitive_destroy", primitive);
    }

    /**
     * Destroys a primitive descriptor, and with it the memory descriptors that it has.
     *
     * @param descriptor
     *            a primitive descriptor
     */
    public void destroy(PrimitiveDescriptor descriptor) {
        calls.call("dnnl_primitive_desc_destroy", descriptor);
    }

    /**
     * Creates a memory object without data.
     *
     * @param descriptor
     *            describes the data
     * @return a memory object that the caller destroys
     */
    public MemoryObject memory(MemoryDescriptor descriptor) {
        return new MemoryObject(calls.create("dnnl_memory_create", descriptor, engine, 0L));
    }

    /**
     * Destroys a memory object; its data stays.
     *
     * @param memory
     *            a memory object that no thread uses
     */
    public void destroy(MemoryObject memory) {
        calls.call("dnnl_memory_destroy", memory);
    }

    /**
     * Creates attributes of primitives whose scratch memory the caller provides.
     *
     * @return attributes that the caller destroys
     */
    public Attributes attributes() {
        Attributes attributes = new Attributes(calls.create("dnnl_primitive_attr_create"));
        calls.call("dnnl_primitive_attr_set_scratchpad_mode", attributes, DnnlConstants.SCRATCHPAD_USER);
        return attributes;
    }

    /**
     * Adds post-ops to attributes.
     *
     * @param attributes
     *            the attributes
     * @param postOps
     *            are copied
     */
    public void set(Attributes attributes, PostOpList postOps) {
        calls.call("dnnl_primitive_attr_set_post_ops", attributes, postOps);
    }

    /**
     * Adds float32 scales of an operand, which are an argument of the primitive, to attributes.
     *
     * @param attributes
     *            attributes
     * @param argument
     *            the operand
     * @param mask
     *            a bit for each dimension along which scales differ; 0 for a single scale
     */
    public void setScales(Attributes attributes, int argument, int mask) {
        calls.call("dnnl_primitive_attr_set_scales_mask", attributes, argument, mask);
    }

    /**
     * Destroys attributes.
     *
     * @param attributes
     *            attributes
     */
    public void destroy(Attributes attributes) {
        calls.call("dnnl_primitive_attr_destroy", attributes);
    }

    /**
     * Creates an empty list of post-ops.
     *
     * @return a list that the caller destroys
     */
    public PostOpList postOps() {
        return new PostOpList(calls.create("dnnl_post_ops_create"));
    }

    /**
     * Appends a function of one element.
     *
     * @param postOps
     *            the list, of at most {@link DnnlConstants#MOST_POST_OPS}
     * @param algorithm
     *            the library's number of the function
     * @param alpha
     *            its first parameter
     * @param beta
     *            its second parameter
     */
    public void appendEltwise(PostOpList postOps, int algorithm, float alpha, float beta) {
        calls.call("dnnl_post_ops_append_eltwise", postOps, algorithm, alpha, beta);
    }

    /**
     * Appends a function of the result's element and one of another tensor.
     *
     * @param postOps
     *            the list, of at most {@link DnnlConstants#MOST_POST_OPS}
     * @param algorithm
     *            the library's number of the function
     * @param operand
     *            the other tensor
     */
    public void appendBinary(PostOpList postOps, int algorithm, MemoryDescriptor operand) {
        calls.call("dnnl_post_ops_append_binary", postOps, algorithm, operand);
    }

    /**
     * Appends the addition of the output's previous elements.
     *
     * @param postOps
     *            the list, of at most {@link DnnlConstants#MOST_POST_OPS}
     * @param scale
     *            they are multiplied by it
     */
    public void appendSum(PostOpList postOps, float scale) {
        calls.call("dnnl_post_ops_append_sum", postOps, scale, 0, 0);
    }

    /**
     * Destroys a list of post-ops.
     *
     * @param postOps
     *            a list
     */
    public void destroy(PostOpList postOps) {
        calls.call("dnnl_post_ops_destroy", postOps);
    }

    /**
     * The version.
     *
     * @return for instance {@code 3.11.0}
     */
    public String version() {
        MemorySegment parts = MemorySegment.ofAddress(calls.pointer("dnnl_version")).reinterpret(12);
        return parts.get(ValueLayout.JAVA_INT, 0) + "." + parts.get(ValueLayout.JAVA_INT, 4) + "."
                + parts.get(ValueLayout.JAVA_INT, 8);
    }

    /**
     * The instruction sets that it uses.
     *
     * @return a constant of oneDNN's {@code dnnl_cpu_isa_t}; 0 where that is not known
     */
    public int isa() {
        return calls.integer("dnnl_get_effective_cpu_isa");
    }
}
