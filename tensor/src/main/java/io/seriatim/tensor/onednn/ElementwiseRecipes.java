package io.seriatim.tensor.onednn;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Quantize;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Functions of one and of two elements, and reductions. Dense operands of the same shape are described as one long row.
 */
final class ElementwiseRecipes {
    private static final Kernels PORTABLE = Kernels.portable();
    private static final int MOST_DIMENSIONS = 12;

    private ElementwiseRecipes() {
    }

    static @Nullable Kernel unary(Dnnl dnnl, Unary unary, @Nullable TensorSpec[] arguments) {
        Algorithms.Eltwise eltwise = Algorithms.eltwise(unary.function(), unary.alpha(), unary.beta());
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        // The library rounds in float32 only.
        boolean roundsHalves = unary.function() == Unary.Function.ROUND && x.dtype() != DType.FLOAT32;
        if (eltwise == null || roundsHalves || !isDense(x, y) || JavaThresholds.isSmall(unary, x)) {
            return null;
        }
        return switch (Algorithms.trust(unary.function())) {
            case ORDINARY_NUMBERS ->
                GuardedUnaryKernel.of(unary, x, size -> unary(dnnl, eltwise, TensorSpec.of(x.dtype(), size)),
                        (size, argument, function) -> ofAll(dnnl, TensorSpec.of(x.dtype(), size), argument, function));
            case ALL_NUMBERS -> unary(dnnl, eltwise, x);
        };
    }

    private static @Nullable DnnlKernel unary(Dnnl dnnl, Algorithms.Eltwise eltwise, TensorSpec x) {
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor data = row(builder, x);
            PrimitiveDescriptor descriptor = builder.keepFast(builder.primitives().tryEltwise(
                    DnnlConstants.FORWARD_INFERENCE, eltwise.algorithm(), data, data, eltwise.alpha(), eltwise.beta(),
                    builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, data), new Operand(DnnlConstants.DST, 1, data));
            return true;
        });
    }

    /** The sum of all elements, at the beginning of the scratch memory. */
    static @Nullable DnnlKernel sum(Dnnl dnnl, TensorSpec x) {
        return sum(dnnl, x, 0);
    }

    /** The sum of all elements of an argument, at the beginning of the scratch memory. */
    static @Nullable DnnlKernel sum(Dnnl dnnl, TensorSpec x, int argument) {
        return ofAll(dnnl, x, argument, Reduction.Function.SUM);
    }

    /** A reduction of all elements of an argument, at the beginning of the scratch memory. */
    static @Nullable DnnlKernel ofAll(Dnnl dnnl, TensorSpec x, int argument, Reduction.Function function) {
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor data = row(builder, x);
            MemoryDescriptor single = builder.describe(new long[]{1}, DType.FLOAT32, new long[]{1});
            int algorithm = x.shape().size() == 1 ? 0 : Algorithms.reduction(function);
            Operand result = builder.temporary(DnnlConstants.DST, single);
            if (algorithm == 0) {
                builder.copy(new Operand(DnnlConstants.SRC, argument, data), result);
                return true;
            }
            PrimitiveDescriptor descriptor = builder
                    .keep(builder.primitives().tryReduction(algorithm, data, single, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, argument, data), result);
            return true;
        });
    }

    static @Nullable Kernel unaryGrad(Dnnl dnnl, UnaryGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = arguments[0];
        TensorSpec dy = Objects.requireNonNull(arguments[2]);
        // In float32, plain Java computes gradients from the result as fast as the library.
        boolean ofResult = x == null && dy.dtype().isHalf();
        TensorSpec data = ofResult ? arguments[1] : x;
        Algorithms.Eltwise eltwise = ofResult
                ? Algorithms.ofResult(grad.function(), grad.alpha())
                : Algorithms.ofInput(grad.function(), grad.alpha(), grad.beta());
        if (eltwise == null || data == null || !isDense(data, dy, Objects.requireNonNull(arguments[3]))
                || grad.function() == Unary.Function.ROUND || JavaThresholds.isSmallGradient(grad.function(), data)) {
            return null;
        }
        DnnlKernel fast = unaryGrad(dnnl, eltwise, data, ofResult);
        return grad.function() == Unary.Function.GELU_TANH || grad.function() == Unary.Function.MISH
                ? OverflowGuardedKernel.of(fast, PORTABLE.prepare(grad, Place.CPU, arguments), data)
                : fast;
    }

    private static @Nullable DnnlKernel unaryGrad(Dnnl dnnl, Algorithms.Eltwise eltwise, TensorSpec spec,
            boolean ofResult) {
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor data = row(builder, spec);
            PrimitiveDescriptor forward = builder.keep(builder.primitives().tryEltwise(
                    DnnlConstants.FORWARD_TRAINING, eltwise.algorithm(), data, data, eltwise.alpha(), eltwise.beta(),
                    builder.attributes()));
            if (forward == null) {
                return false;
            }
            PrimitiveDescriptor descriptor = builder.keepFast(builder.primitives().tryEltwiseGrad(eltwise.algorithm(),
                    data, data, data, eltwise.alpha(), eltwise.beta(), forward, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor,
                    ofResult ? new Operand(DnnlConstants.DST, 1, data) : new Operand(DnnlConstants.SRC, 0, data),
                    new Operand(DnnlConstants.DIFF_DST, 2, data), new Operand(DnnlConstants.DIFF_SRC, 3, data));
            return true;
        });
    }

    static @Nullable Kernel binary(Dnnl dnnl, Binary binary, @Nullable TensorSpec[] arguments) {
        int algorithm = Algorithms.binary(binary.function());
        List<TensorSpec> all = new ArrayList<>();
        for (TensorSpec argument : arguments) {
            all.add(Objects.requireNonNull(argument));
        }
        TensorSpec out = all.getLast();
        boolean fits = all.stream().allMatch(TensorSpec::isRowMajor)
                || (out.shape().size() > 0 && Operands.areDenseAlike(all.toArray(TensorSpec[]::new)));
        if (algorithm == 0 || out.shape().size() == 0 || out.shape().rank() > MOST_DIMENSIONS || !fits
                || JavaThresholds.isSmall(binary, all.get(0), all.get(1), out)) {
            return null;
        }
        Shape shape = out.shape().rank() == 0 ? Shape.of(1) : out.shape();
        boolean alike = all.stream().allMatch(spec -> spec.shape().equals(out.shape()));
        return DnnlKernel.of(dnnl, builder -> {
            List<MemoryDescriptor> descriptors = new ArrayList<>();
            for (TensorSpec spec : all) {
                descriptors.add(alike ? row(builder, spec) : padded(builder, spec, shape));
            }
            Attributes attributes = builder.tryAttributes(binary.postOps(),
                    descriptors.subList(2, descriptors.size() - 1));
            PrimitiveDescriptor descriptor = attributes == null
                    ? null
                    : builder.keepFast(builder.primitives().tryBinary(algorithm, descriptors.get(0),
                            descriptors.get(1), descriptors.getLast(), attributes));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, operands(binary.postOps(), descriptors));
            return true;
        });
    }

    /** The library rounds halves to even and saturates, which are the levels of all 8 bits. */
    static @Nullable Kernel quantize(Dnnl dnnl, Quantize quantize, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec factor = Objects.requireNonNull(arguments[1]);
        TensorSpec levels = Objects.requireNonNull(arguments[2]);
        if (quantize.away() || quantize.most() != Quantize.LARGEST || x.shape().size() == 0 || !x.isRowMajor()
                || !levels.isRowMajor()) {
            return null;
        }
        long size = x.shape().size();
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor from = builder.describe(new long[]{1, size}, x.dtype(), new long[]{size, 1});
            MemoryDescriptor one = builder.describe(new long[]{1, 1}, factor.dtype(), new long[]{1, 1});
            MemoryDescriptor to = builder.describe(new long[]{1, size}, levels.dtype(), new long[]{size, 1});
            PrimitiveDescriptor descriptor = builder.keepFast(builder.primitives()
                    .tryBinary(Algorithms.binary(Binary.Function.MULTIPLY), from, one, to, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, from),
                    new Operand(DnnlConstants.SRC_1, 1, one), new Operand(DnnlConstants.DST, 2, to));
            return true;
        });
    }

    private static Operand[] operands(List<PostOp> postOps, List<MemoryDescriptor> descriptors) {
        List<Operand> operands = new ArrayList<>();
        operands.add(new Operand(DnnlConstants.SRC, 0, descriptors.get(0)));
        operands.add(new Operand(DnnlConstants.SRC_1, 1, descriptors.get(1)));
        int slot = 2;
        for (int i = 0; i < postOps.size(); i++) {
            if (postOps.get(i) instanceof PostOp.Combine) {
                operands.add(new Operand(DnnlConstants.POST_OP * (i + 1) | DnnlConstants.SRC_1, slot,
                        descriptors.get(slot)));
                slot++;
            }
        }
        operands.add(new Operand(DnnlConstants.DST, slot, descriptors.get(slot)));
        return operands.toArray(Operand[]::new);
    }

    static @Nullable Kernel reduction(Dnnl dnnl, Reduction reduction, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        int algorithm = Algorithms.reduction(reduction.function());
        if (algorithm == 0 || x.shape().size() == 0 || !x.isRowMajor() || !y.isRowMajor()
                || x.shape().size() == y.shape().size()
                || JavaThresholds.isSmallExtreme(reduction.function(), x)) {
            return null;
        }
        Kernel ofColumns = ColumnSums.of(dnnl, reduction, x, y);
        if (ofColumns != null) {
            return ofColumns;
        }
        List<Long> from = new ArrayList<>();
        List<Long> to = new ArrayList<>();
        merge(x.shape(), reduction.reduced(x.shape()), from, to);
        if (from.size() > MOST_DIMENSIONS || JavaThresholds.areShortRows(reduction.function(), x.dtype(), from, to)) {
            return null;
        }
        DnnlKernel fast = DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor source = rowMajor(builder, from, x.dtype());
            MemoryDescriptor target = rowMajor(builder, to, y.dtype());
            PrimitiveDescriptor descriptor = builder
                    .keepFast(builder.primitives().tryReduction(algorithm, source, target, builder.attributes()));
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, source),
                    new Operand(DnnlConstants.DST, 1, target));
            return true;
        });
        boolean extreme = reduction.function() == Reduction.Function.MAX
                || reduction.function() == Reduction.Function.MIN;
        return extreme && fast != null
                ? NanGuardedKernel.of(sum(dnnl, x), fast, PORTABLE.prepare(reduction, Place.CPU, arguments))
                : fast;
    }

    /** Merges neighbouring dimensions that are reduced together, or kept together. */
    private static void merge(Shape shape, boolean[] reduced, List<Long> from, List<Long> to) {
        boolean last = false;
        for (int i = 0; i < reduced.length; i++) {
            long length = shape.dim(i);
            if (length == 1) {
                continue;
            }
            if (!from.isEmpty() && last == reduced[i]) {
                length *= from.removeLast();
                to.removeLast();
            }
            from.add(length);
            to.add(reduced[i] ? 1 : length);
            last = reduced[i];
        }
    }

    private static MemoryDescriptor rowMajor(SequenceBuilder builder, List<Long> dims, DType dtype) {
        Shape shape = Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
        return builder.describe(shape.dims(), dtype, shape.strides());
    }

    private static boolean isDense(TensorSpec... specs) {
        for (TensorSpec spec : specs) {
            if (spec.shape().size() == 0 || spec.dtype() != specs[0].dtype()) {
                return false;
            }
        }
        return Operands.areDenseAlike(specs);
    }

    private static MemoryDescriptor row(SequenceBuilder builder, TensorSpec spec) {
        return builder.describe(new long[]{spec.shape().size()}, spec.dtype(), new long[]{1});
    }

    /** Describes an operand with dimensions of length 1 in front, up to the rank of the result. */
    private static MemoryDescriptor padded(SequenceBuilder builder, TensorSpec spec, Shape shape) {
        long[] dims = new long[shape.rank()];
        Arrays.fill(dims, 1);
        System.arraycopy(spec.shape().dims(), 0, dims, dims.length - spec.shape().rank(), spec.shape().rank());
        return builder.describe(dims, spec.dtype(), Shape.of(dims).strides());
    }
}
