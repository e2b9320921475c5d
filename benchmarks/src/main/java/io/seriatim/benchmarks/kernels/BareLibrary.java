package io.seriatim.benchmarks.kernels;

import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptors;
import io.seriatim.tensor.internal.ffi.WindowGeometry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Bare calls of oneDNN with memory objects that are created once and with the library's preferred layouts: the upper
 * limit of a kernel's speed.
 */
final class BareLibrary {
    private static final int ARGUMENT_BYTES = 16;

    private BareLibrary() {
    }

    /** A primitive with the memory that it works on. */
    private static Runnable call(Dnnl dnnl, @Nullable PrimitiveDescriptor found, int... argumentsAndQueries) {
        Arena arena = Arena.ofAuto();
        PrimitiveDescriptor descriptor = required(found);
        MemoryDescriptor scratchpad = dnnl.get(descriptor, DnnlConstants.QUERY_SCRATCHPAD);
        boolean scratch = dnnl.size(scratchpad) > 0;
        int count = argumentsAndQueries.length / 2 + (scratch ? 1 : 0);
        MemorySegment list = arena.allocate((long) count * ARGUMENT_BYTES, 8);
        for (int i = 0; i < count; i++) {
            boolean pad = scratch && i == count - 1;
            MemoryDescriptor memoryDescriptor = pad
                    ? scratchpad
                    : dnnl.get(descriptor, argumentsAndQueries[2 * i + 1]);
            MemorySegment data = arena.allocate(Math.max(64, dnnl.size(memoryDescriptor)), 64);
            long memory = dnnl.memory(memoryDescriptor).address();
            dnnl.setDataHandle(memory, data.address());
            list.set(ValueLayout.JAVA_INT, (long) i * ARGUMENT_BYTES,
                    pad ? DnnlConstants.SCRATCHPAD : argumentsAndQueries[2 * i]);
            list.set(ValueLayout.JAVA_LONG, (long) i * ARGUMENT_BYTES + 8, memory);
        }
        long primitive = dnnl.primitive(descriptor).address();
        long address = list.address();
        return () -> {
            try {
                dnnl.execute(primitive, count, address);
            } finally {
                Reference.reachabilityFence(arena);
                Reference.reachabilityFence(list);
            }
        };
    }

    private static PrimitiveDescriptor required(@Nullable PrimitiveDescriptor found) {
        return Objects.requireNonNull(found, "oneDNN has no implementation on this processor");
    }

    static Runnable matMul(int type, long n) {
        return matMul(type, n, 1);
    }

    /** The number of the library's threads is a persistent setting of the calling thread. */
    static Runnable matMul(int type, long n, int threads) {
        Dnnl dnnl = Dnnl.require();
        dnnl.setThreads(threads);
        long[] dims = {n, n};
        long[] strides = {n, 1};
        MemoryDescriptor matrix = dnnl.describe(dims, type, strides);
        return call(dnnl, dnnl.primitives().tryMatMul(matrix, matrix, null, matrix, dnnl.attributes()),
                DnnlConstants.SRC, DnnlConstants.QUERY_SRC, DnnlConstants.WEIGHTS, DnnlConstants.QUERY_WEIGHTS,
                DnnlConstants.DST, DnnlConstants.QUERY_DST);
    }

    /** The three computations of a convolution. */
    enum Direction {
        FORWARD, GRAD_INPUT, GRAD_WEIGHTS
    }

    static Runnable convolution(Direction direction, ConvolutionShape shape) {
        Dnnl dnnl = Dnnl.require();
        dnnl.setThreads(1);
        MemoryDescriptor x = dnnl.describeAny(shape.x(), DnnlConstants.F32);
        MemoryDescriptor w = dnnl.describeAny(shape.weights(), DnnlConstants.F32);
        MemoryDescriptor y = dnnl.describeAny(shape.y(), DnnlConstants.F32);
        WindowGeometry window = new WindowGeometry(both(shape.stride()), both(0), both(shape.padding()),
                both(shape.padding()));
        Attributes attributes = dnnl.attributes();
        PrimitiveDescriptors primitives = dnnl.primitives();
        PrimitiveDescriptor forward = required(
                primitives.tryConvolution(DnnlConstants.FORWARD_TRAINING, x, w, null, y, window, attributes));
        return switch (direction) {
            case FORWARD -> call(dnnl, forward, DnnlConstants.SRC, DnnlConstants.QUERY_SRC, DnnlConstants.WEIGHTS,
                    DnnlConstants.QUERY_WEIGHTS, DnnlConstants.DST, DnnlConstants.QUERY_DST);
            case GRAD_INPUT -> call(dnnl, primitives.tryConvolutionGradInput(x, w, y, window, forward, attributes),
                    DnnlConstants.DIFF_SRC, DnnlConstants.QUERY_DIFF_SRC, DnnlConstants.WEIGHTS,
                    DnnlConstants.QUERY_WEIGHTS, DnnlConstants.DIFF_DST, DnnlConstants.QUERY_DIFF_DST);
            case GRAD_WEIGHTS -> call(dnnl,
                    primitives.tryConvolutionGradWeights(x, w, null, y, window, forward, attributes),
                    DnnlConstants.SRC, DnnlConstants.QUERY_SRC, DnnlConstants.DIFF_WEIGHTS,
                    DnnlConstants.QUERY_DIFF_WEIGHTS, DnnlConstants.DIFF_DST, DnnlConstants.QUERY_DIFF_DST);
        };
    }

    private static long[] both(long value) {
        return new long[]{value, value};
    }
}
