package io.seriatim.benchmarks.kernels;

import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/**
 * Bare calls of oneDNN with memory objects that are created once and with the library's preferred layouts: the upper
 * limit of a kernel's speed.
 */
final class BareLibrary {
    private static final int ARGUMENT_BYTES = 16;

    private BareLibrary() {
    }

    /** A primitive with the memory that it works on. */
    private static Runnable call(Dnnl dnnl, long description, int... argumentsAndQueries) {
        Arena arena = Arena.ofAuto();
        long scratchpad = dnnl.query(description, DnnlConstants.QUERY_SCRATCHPAD);
        boolean scratch = scratchpad != 0 && dnnl.size(scratchpad) > 0;
        int count = argumentsAndQueries.length / 2 + (scratch ? 1 : 0);
        MemorySegment list = arena.allocate((long) count * ARGUMENT_BYTES, 8);
        for (int i = 0; i < count; i++) {
            boolean pad = scratch && i == count - 1;
            long memoryDescription = pad ? scratchpad : dnnl.query(description, argumentsAndQueries[2 * i + 1]);
            MemorySegment data = arena.allocate(Math.max(64, dnnl.size(memoryDescription)), 64);
            long memory = dnnl.memory(memoryDescription);
            dnnl.setDataHandle(memory, data.address());
            list.set(ValueLayout.JAVA_INT, (long) i * ARGUMENT_BYTES,
                    pad ? DnnlConstants.SCRATCHPAD : argumentsAndQueries[2 * i]);
            list.set(ValueLayout.JAVA_LONG, (long) i * ARGUMENT_BYTES + 8, memory);
        }
        long primitive = dnnl.primitive(description);
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

    static Runnable matMul(int type, long n) {
        return matMul(type, n, 1);
    }

    /** The number of the library's threads is a persistent setting of the calling thread. */
    static Runnable matMul(int type, long n, int threads) {
        Dnnl dnnl = Dnnl.require();
        dnnl.setThreads(threads);
        long[] dims = {n, n};
        long[] strides = {n, 1};
        long matrix = dnnl.describe(dims, type, strides);
        long description = Dnnl.handle(
                out -> dnnl.call("dnnl_matmul_primitive_desc_create", "ppppppp", out, dnnl.engine(), matrix, matrix,
                        0L, matrix, attributes(dnnl)));
        return call(dnnl, description, DnnlConstants.SRC, DnnlConstants.QUERY_SRC, DnnlConstants.WEIGHTS,
                DnnlConstants.QUERY_WEIGHTS,
                DnnlConstants.DST, DnnlConstants.QUERY_DST);
    }

    /** The three computations of a convolution. */
    enum Direction {
        FORWARD, GRAD_INPUT, GRAD_WEIGHTS
    }

    static Runnable convolution(Direction direction, ConvolutionShape shape) {
        Dnnl dnnl = Dnnl.require();
        dnnl.setThreads(1);
        long x = dnnl.describeAny(shape.x(), DnnlConstants.F32);
        long w = dnnl.describeAny(shape.weights(), DnnlConstants.F32);
        long y = dnnl.describeAny(shape.y(), DnnlConstants.F32);
        try (Arena arena = Arena.ofConfined()) {
            long strides = both(arena, shape.stride());
            long dilations = both(arena, 0);
            long padding = both(arena, shape.padding());
            long forward = Dnnl
                    .handle(out -> dnnl.call("dnnl_convolution_forward_primitive_desc_create", "ppiippppppppp", out,
                            dnnl.engine(), DnnlConstants.FORWARD_TRAINING,
                            DnnlConstants.CONVOLUTION_DIRECT, x, w, 0L, y, strides, dilations, padding, padding,
                            attributes(dnnl)));
            return switch (direction) {
                case FORWARD -> call(dnnl, forward, DnnlConstants.SRC, DnnlConstants.QUERY_SRC, DnnlConstants.WEIGHTS,
                        DnnlConstants.QUERY_WEIGHTS, DnnlConstants.DST,
                        DnnlConstants.QUERY_DST);
                case GRAD_INPUT -> call(dnnl,
                        Dnnl.handle(out -> dnnl.call("dnnl_convolution_backward_data_primitive_desc_create",
                                "ppippppppppp", out,
                                dnnl.engine(), DnnlConstants.CONVOLUTION_DIRECT, x, w,
                                y, strides, dilations, padding, padding, forward, attributes(dnnl))),
                        DnnlConstants.DIFF_SRC, DnnlConstants.QUERY_DIFF_SRC, DnnlConstants.WEIGHTS,
                        DnnlConstants.QUERY_WEIGHTS,
                        DnnlConstants.DIFF_DST,
                        DnnlConstants.QUERY_DIFF_DST);
                case GRAD_WEIGHTS -> call(dnnl,
                        Dnnl.handle(out -> dnnl.call("dnnl_convolution_backward_weights_primitive_desc_create",
                                "ppipppppppppp", out,
                                dnnl.engine(), DnnlConstants.CONVOLUTION_DIRECT, x,
                                w, 0L, y, strides, dilations, padding, padding, forward, attributes(dnnl))),
                        DnnlConstants.SRC, DnnlConstants.QUERY_SRC, DnnlConstants.DIFF_WEIGHTS,
                        DnnlConstants.QUERY_DIFF_WEIGHTS,
                        DnnlConstants.DIFF_DST,
                        DnnlConstants.QUERY_DIFF_DST);
            };
        }
    }

    private static long both(Arena arena, long value) {
        return arena.allocateFrom(ValueLayout.JAVA_LONG, value, value).address();
    }

    private static long attributes(Dnnl dnnl) {
        long attributes = Dnnl.handle(out -> dnnl.call("dnnl_primitive_attr_create", "p", out));
        dnnl.call("dnnl_primitive_attr_set_scratchpad_mode", "pi", attributes, 1);
        return attributes;
    }
}
