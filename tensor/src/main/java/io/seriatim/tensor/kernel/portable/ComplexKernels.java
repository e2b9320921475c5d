package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexNumber;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Conjugate;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fourier;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.ReductionGrad;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.Scatter;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelFactory;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Kernels for complex numbers. {@link ComplexParts} serves those that move numbers or add them up; copies and fills are
 * those of all types.
 */
final class ComplexKernels {
    private static final List<DType> COMPLEX = List.of(DType.COMPLEX64, DType.COMPLEX128);
    private static final List<DType> PARTS = List.of(DType.FLOAT32, DType.FLOAT64);

    private ComplexKernels() {
    }

    static void register(Kernels kernels) {
        register(kernels, "complex_number", ComplexNumber.class, PARTS, (_, arguments) -> number(arguments));
        register(kernels, "complex_part", ComplexPart.class, COMPLEX, ComplexKernels::part);
        register(kernels, "conjugate", Conjugate.class, COMPLEX,
                (_, arguments) -> ComplexElementwise.conjugate(arguments));
        register(kernels, "unary", Unary.class, COMPLEX, ComplexElementwise::unary);
        register(kernels, "binary", Binary.class, COMPLEX, ComplexElementwise::binary);
        register(kernels, "where", Where.class, COMPLEX, ComplexKernels::where);
        register(kernels, "reduction", Reduction.class, COMPLEX, ComplexKernels::reduction);
        register(kernels, "reduction_grad", ReductionGrad.class, COMPLEX, ComplexKernels::reductionGrad);
        register(kernels, "matmul", MatMul.class, COMPLEX, ComplexMatMul::of);
        register(kernels, "unary_grad", UnaryGrad.class, COMPLEX, ComplexElementwise::unaryGrad);
        register(kernels, "fourier", Fourier.class, COMPLEX, FourierKernel::of);
        register(kernels, "fourier", Fourier.class, PARTS, FourierKernel::of);
        movements(kernels);
    }

    private static void movements(Kernels kernels) {
        register(kernels, "scan", Scan.class, COMPLEX, (scan, arguments) -> ComplexParts.find(
                parts -> PortableScan.scan(new Scan(axis(arguments, scan.axis()), scan.exclusive(), scan.reverse()),
                        parts),
                ComplexParts.last(arguments)));
        register(kernels, "pad", Pad.class, COMPLEX, (pad, arguments) -> pad.value() != 0
                ? null
                : ComplexParts.find(parts -> PortablePad.forward(withParts(pad), parts), ComplexParts.last(arguments)));
        register(kernels, "pad_grad", PadGrad.class, COMPLEX, (grad, arguments) -> ComplexParts.find(
                parts -> PortablePad.grad(new PadGrad(withParts(grad.forward())), parts),
                ComplexParts.last(arguments)));
        register(kernels, "gather", Gather.class, COMPLEX, (gather, arguments) -> ComplexParts.find(
                parts -> PortableIndex.gather(new Gather(axis(arguments, gather.axis()), gather.padding()), parts),
                ComplexParts.last(arguments)));
        register(kernels, "gather_grad", GatherGrad.class, COMPLEX, ComplexKernels::gatherGrad);
        register(kernels, "gather_nd", GatherNd.class, COMPLEX,
                (_, arguments) -> ComplexParts.find(PortableIndex::gatherNd, ComplexParts.last(arguments)));
        register(kernels, "scatter_nd", ScatterNd.class, COMPLEX,
                (scatter, arguments) -> scatter.function() == ScatterNd.Function.ASSIGN
                        || scatter.function() == ScatterNd.Function.ADD
                                ? ComplexParts.find(parts -> PortableIndex.scatterNd(scatter, parts),
                                        ComplexParts.last(arguments))
                                : null);
        register(kernels, "scatter", Scatter.class, COMPLEX, (scatter, arguments) -> ComplexParts
                .find(parts -> PortableIndex.scatter(scatter, parts), ComplexParts.last(arguments)));
        register(kernels, "take_along_axis", TakeAlongAxis.class, COMPLEX, (take, arguments) -> {
            @Nullable
            TensorSpec[] views = ComplexParts.last(arguments);
            views[1] = ComplexParts.repeated(Objects.requireNonNull(arguments[1]), 2);
            return ComplexParts.find(
                    parts -> PortableAlongAxis.take(new TakeAlongAxis(axis(arguments, take.axis())), parts), views);
        });
        register(kernels, "put_along_axis", PutAlongAxis.class, COMPLEX, ComplexKernels::put);
        register(kernels, "triangle", Triangle.class, COMPLEX, (triangle, arguments) -> ComplexParts.find(
                parts -> PortableAlongAxis.triangle(triangle, parts),
                ComplexParts.first(Objects.requireNonNull(arguments[0])),
                ComplexParts.first(Objects.requireNonNull(arguments[1]))));
    }

    private static <C extends Computation> void register(Kernels kernels, String operation, Class<C> type,
            List<DType> dtypes, KernelFactory<C> factory) {
        kernels.register(PortableKernels.PROVIDER, PortableKernels.CPU, operation, type, dtypes,
                PortableKernels.plain(factory));
    }

    /** An axis of the first operand, counted from the front: there it stays when a dimension is added. */
    private static int axis(@Nullable TensorSpec[] arguments, int axis) {
        return Objects.requireNonNull(arguments[0]).shape().axis(axis);
    }

    private static Pad withParts(Pad pad) {
        List<Long> before = new ArrayList<>(pad.before());
        List<Long> after = new ArrayList<>(pad.after());
        before.add(0L);
        after.add(0L);
        return new Pad(before, after, pad.mode(), pad.value());
    }

    /** Both parts are copied to their places. */
    private static Kernel number(@Nullable TensorSpec[] arguments) {
        TensorSpec to = ComplexParts.realParts(Objects.requireNonNull(arguments[2]));
        Kernel first = PortableCopy.copy(Copy.PLAIN, new TensorSpec[]{arguments[0], to});
        Kernel second = PortableCopy.copy(Copy.PLAIN, new TensorSpec[]{arguments[1], to});
        return PortableKernel.of((all, context) -> {
            Tensor out = all.get(2);
            first.run(new Tensor[]{all.get(0), new Tensor(out.buffer(), out.offset(), to)}, context);
            second.run(new Tensor[]{all.get(1), imaginary(out, to)}, context);
        });
    }

    /** The imaginary parts of a tensor whose real parts have a spec. */
    private static Tensor imaginary(Tensor complex, TensorSpec realParts) {
        long offset = realParts.shape().size() == 0 ? complex.offset() : complex.offset() + realParts.dtype().bytes();
        return new Tensor(complex.buffer(), offset, realParts);
    }

    private static @Nullable Kernel part(ComplexPart part, @Nullable TensorSpec[] arguments) {
        TensorSpec from = ComplexParts.realParts(Objects.requireNonNull(arguments[0]));
        return switch (part.function()) {
            case REAL -> ComplexParts.of(parts -> PortableCopy.copy(Copy.PLAIN, parts), from, arguments[1]);
            case IMAGINARY -> {
                Kernel copy = PortableCopy.copy(Copy.PLAIN, new TensorSpec[]{from, arguments[1]});
                yield PortableKernel
                        .of((in, out, context) -> copy.run(new Tensor[]{imaginary(in, from), out}, context));
            }
            case MAGNITUDE, ANGLE -> ComplexElementwise.part(part.function(), arguments);
        };
    }

    private static @Nullable Kernel where(Where where, @Nullable TensorSpec[] arguments) {
        @Nullable
        TensorSpec[] views = ComplexParts.last(arguments);
        views[0] = ComplexParts.repeated(Objects.requireNonNull(arguments[0]), 1);
        return ComplexParts.find(parts -> PortableElementwise.where(where, parts), views);
    }

    /** The indices are repeated for both parts, in scratch memory, since the kernel reads dense ones only. */
    private static @Nullable Kernel put(PutAlongAxis put, @Nullable TensorSpec[] arguments) {
        TensorSpec indices = ComplexParts.repeated(Objects.requireNonNull(arguments[1]), 2);
        @Nullable
        TensorSpec[] views = ComplexParts.last(arguments);
        views[1] = indices.with(indices.dtype());
        Kernel copy = PortableCopy.copy(Copy.PLAIN, new TensorSpec[]{indices, views[1]});
        Kernel real = PortableAlongAxis.put(new PutAlongAxis(axis(arguments, put.axis()), put.add()), views);
        return real == null ? null : PortableKernel.of((all, context) -> {
            TensorSpec dense = indices.with(indices.dtype());
            Tensor repeated = new Tensor(context.scratch(dense.bytes()), 0, dense);
            copy.run(new Tensor[]{new Tensor(all.get(1).buffer(), all.get(1).offset(), indices), repeated}, context);
            real.run(new Tensor[]{all.get(0).asReal(), repeated, all.get(2).asReal(), all.get(3).asReal()}, context);
        });
    }

    private static boolean isLinear(Reduction reduction) {
        return reduction.function() == Reduction.Function.SUM || reduction.function() == Reduction.Function.MEAN;
    }

    /** With axes that stay the same when the dimension of the parts is added. */
    private static Reduction withParts(Reduction reduction, TensorSpec x) {
        boolean[] reduced = reduction.reduced(x.shape());
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < reduced.length; i++) {
            if (reduced[i]) {
                axes.add(i);
            }
        }
        return new Reduction(reduction.function(), axes, reduction.keepDims());
    }

    private static @Nullable Kernel reduction(Reduction reduction, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        if (!isLinear(reduction)) {
            return null;
        }
        return x.shape().rank() == 0
                ? PortableCopy.copy(Copy.PLAIN, arguments)
                : ComplexParts.find(parts -> PortableReduction.forward(withParts(reduction, x), parts),
                        ComplexParts.last(arguments));
    }

    private static @Nullable Kernel reductionGrad(ReductionGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        if (!isLinear(grad.reduction())) {
            return null;
        }
        if (x.shape().rank() == 0) {
            return PortableKernel.of((all, context) -> PortableCopy
                    .copy(Copy.PLAIN, new TensorSpec[]{all.get(2).spec(), all.get(3).spec()})
                    .run(new Tensor[]{all.get(2), all.get(3)}, context));
        }
        return ComplexParts.find(
                parts -> PortableReduction.grad(new ReductionGrad(withParts(grad.reduction(), x)), parts),
                ComplexParts.last(arguments));
    }

    private static @Nullable Kernel gatherGrad(GatherGrad grad, @Nullable TensorSpec[] arguments) {
        TensorSpec dx = Objects.requireNonNull(arguments[2]);
        List<Long> shape = new ArrayList<>(grad.shape());
        shape.add(2L);
        Gather forward = new Gather(dx.shape().axis(grad.forward().axis()), grad.forward().padding());
        return ComplexParts.find(parts -> PortableIndex.gatherGrad(new GatherGrad(forward, shape), parts),
                ComplexParts.last(arguments));
    }
}
