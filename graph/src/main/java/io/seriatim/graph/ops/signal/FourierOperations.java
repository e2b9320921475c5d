package io.seriatim.graph.ops.signal;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Conjugate;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fourier;
import io.seriatim.tensor.computation.Fourier.Kind;
import java.util.Arrays;
import java.util.List;

/**
 * Fourier transforms along several axes. Where numbers on one side are real, the last of the axes has only half of the
 * complex ones. Transforms are linear: the gradient of each is a transform in the other direction, and so is that of
 * the gradient.
 */
public final class FourierOperations {
    private static final long MOST = 1L << 26;

    private FourierOperations() {
    }

    public static void register(Operations registry) {
        complex(registry);
        fromReal(registry);
        toReal(registry);
    }

    private static Operation.Builder begin(String type) {
        return Operation.define(type).in("X").out("Out").required("axes", Attribute.Int64s.class)
                .required("normalization", Attribute.Text.class).required("forward", Attribute.Bool.class);
    }

    private static void complex(Operations registry) {
        Operation.Builder forward = begin("fft_c2c").infer(inference -> {
            ComplexNumbers.require(inference, "X");
            check(inference, "X");
            inference.same("X", "Out");
        }).lower(l -> {
            boolean direction = l.attrs().getBool("forward");
            l.out("Out",
                    complex(l, l.in("X"), axes(l, "X"), direction, scale(l.attrs(), sizes(l.in("X"), axes(l, "X")))));
        });
        String signature = "fft_c2c_grad(Out@GRAD) -> X@GRAD";
        forward.gradOperation(signature, null).lower(l -> {
            Operand dout = l.in("Out@GRAD");
            int[] axes = axes(l, "Out@GRAD");
            l.out("X@GRAD", complex(l, dout, axes, !l.attrs().getBool("forward"), scale(l.attrs(), sizes(dout, axes))));
        }).grad("fft_c2c(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
        forward.grad(signature).register(registry);
    }

    private static void fromReal(Operations registry) {
        Operation.Builder forward = begin("fft_r2c").required("onesided", Attribute.Bool.class).infer(inference -> {
            DType dtype = inference.dtype("X");
            inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64,
                    "X must be float32 or float64, but is %s",
                    dtype);
            int last = check(inference, "X");
            long[] dims = inference.dims("X");
            if (inference.attrs().getBool("onesided")) {
                // Of an unknown dimension PaddlePaddle infers 1, which no other length is.
                dims[last] = dims[last] < 0 ? -1 : Fourier.half(dims[last]);
            }
            inference.set("Out", ComplexNumbers.of(dtype), dims);
        }).lower(l -> {
            Operand x = l.in("X");
            int[] axes = axes(l, "X");
            boolean direction = l.attrs().getBool("forward");
            double scale = scale(l.attrs(), sizes(x, axes));
            l.out("Out", l.attrs().getBool("onesided")
                    ? fromReal(l, x, axes, direction, scale)
                    : wholeFromReal(l, x, axes, direction, scale));
        });
        String signature = "fft_r2c_grad(X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(signature, null).lower(l -> {
            Operand x = l.in("X");
            int[] axes = axes(l, "X");
            l.out("X@GRAD", fromRealGradient(l, l.in("Out@GRAD"), x.shape(), axes, l.attrs().getBool("forward"),
                    scale(l.attrs(), sizes(x, axes))));
        }).grad("fft_r2c(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
        forward.grad(signature).register(registry);
    }

    private static void toReal(Operations registry) {
        Operation.Builder forward =
                begin("fft_c2r").attr("last_dim_size", 0L).infer(FourierOperations::toReal).lower(l -> {
                    Operand x = l.in("X");
                    int[] axes = axes(l, "X");
                    Shape out = Shape.of(l.outType("Out", 0).dims());
                    boolean inverse = !l.attrs().getBool("forward");
                    int last = axes[axes.length - 1];
                    Operand inner = complex(l, x, Arrays.copyOf(axes, axes.length - 1), !inverse, 1);
                    l.out("Out",
                            l.run(new Fourier(Kind.TO_REAL, last, out.dim(last), inverse,
                                    scale(l.attrs(), sizes(out, axes))),
                                    inner));
                });
        String signature = "fft_c2r_grad(Out@GRAD) -> X@GRAD";
        forward.gradOperation(signature, inference -> {
            long[] dims = inference.dims("Out@GRAD");
            int last = check(inference, "Out@GRAD");
            dims[last] = dims[last] < 0 ? -1 : Fourier.half(dims[last]);
            inference.set("X@GRAD", ComplexNumbers.of(inference.dtype("Out@GRAD")), dims);
        }).lower(l -> {
            Operand dout = l.in("Out@GRAD");
            int[] axes = axes(l, "Out@GRAD");
            Operand half = fromReal(l, dout, axes, !l.attrs().getBool("forward"), scale(l.attrs(), sizes(dout, axes)));
            l.out("X@GRAD", l.binary(Binary.Function.MULTIPLY, half, mirrored(l, half, dout, axes[axes.length - 1])));
        }).grad("fft_c2r(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
        forward.grad(signature).register(registry);
    }

    private static void toReal(Inference inference) {
        DType dtype = ComplexNumbers.require(inference, "X");
        int last = check(inference, "X");
        long[] dims = inference.dims("X");
        long size = inference.attrs().getLong("last_dim_size");
        inference.require(size >= 0 && size <= MOST, "last_dim_size must be from 0 to %d, but is %d", MOST, size);
        long half = dims[last];
        inference.require(half < 0 || size > 0 || half > 1,
                "a real transform needs last_dim_size or two numbers of half of it, but X has the shape %s",
                Numbers.text(dims));
        long whole = size > 0 ? size : half < 0 ? -1 : 2 * (half - 1);
        inference.require(half < 0 || half >= Fourier.half(whole),
                "axis %d of X must have at least %d numbers for a transform of %d real ones, but X has the shape %s",
                last,
                Fourier.half(whole), whole, Numbers.text(dims));
        dims[last] = whole;
        inference.set("Out", dtype.real(), dims);
    }

    /** 2 for numbers whose mirror image is not in the half; they count twice in the real result. */
    private static Operand mirrored(Lowering l, Operand half, Operand whole, int axis) {
        int count = Math.toIntExact(half.dim(axis));
        double[] parts = new double[WorkingMemory.length(2, count)];
        for (int i = 0; i < count; i++) {
            parts[2 * i] = i >= 1 && i <= whole.dim(axis) - count ? 2 : 1;
        }
        long[] dims = new long[half.rank() - axis];
        Arrays.fill(dims, 1);
        dims[0] = count;
        return l.cast(l.constant(Tensor.ofComplex(parts, dims)), half.dtype());
    }

    static Operand complex(Lowering l, Operand x, int[] axes, boolean forward, double scale) {
        Operand result = x;
        for (int i = 0; i < axes.length; i++) {
            double factor = i == axes.length - 1 ? scale : 1;
            result = l.run(new Fourier(Kind.COMPLEX, axes[i], x.dim(axes[i]), !forward, factor), result);
        }
        return result;
    }

    /** Half of the transform of real numbers along the last of the axes. */
    static Operand fromReal(Lowering l, Operand x, int[] axes, boolean forward, double scale) {
        int last = axes[axes.length - 1];
        Operand half = l.run(new Fourier(Kind.FROM_REAL, last, x.dim(last), !forward, scale), x);
        return complex(l, half, Arrays.copyOf(axes, axes.length - 1), forward, 1);
    }

    /** The transform of real numbers: along the last of the axes, the other half is the mirror image. */
    static Operand wholeFromReal(Lowering l, Operand x, int[] axes, boolean forward, double scale) {
        int last = axes[axes.length - 1];
        long length = x.dim(last);
        Operand half = l.run(new Fourier(Kind.FROM_REAL, last, length, !forward, scale), x);
        long count = half.dim(last);
        Operand whole = l.temporary(TensorSpec.of(half.dtype(), x.shape()));
        l.into(Copy.PLAIN, List.of(half), List.of(whole.slice(last, 0, count)));
        if (count < length) {
            l.into(new Conjugate(), List.of(half.slice(last, 1, length - count + 1).flip(last)),
                    List.of(whole.slice(last, count, length)));
        }
        return complex(l, whole, Arrays.copyOf(axes, axes.length - 1), forward, 1);
    }

    /** The gradient of real numbers: what is not in the half has none. */
    static Operand fromRealGradient(Lowering l, Operand dout, Shape whole, int[] axes, boolean forward, double scale) {
        Operand full = dout;
        int last = axes[axes.length - 1];
        if (dout.dim(last) != whole.dim(last)) {
            full = l.fill(0, TensorSpec.of(dout.dtype(), whole));
            l.into(Copy.PLAIN, List.of(dout), List.of(full.slice(last, 0, dout.dim(last))));
        }
        return l.run(new ComplexPart(ComplexPart.Function.REAL), complex(l, full, axes, !forward, scale));
    }

    private static double sizes(Operand x, int[] axes) {
        return sizes(x.shape(), axes);
    }

    private static double sizes(Shape shape, int[] axes) {
        double product = 1;
        for (int axis : axes) {
            product *= shape.dim(axis);
        }
        return product;
    }

    private static double scale(Attrs attrs, double size) {
        String normalization = attrs.getText("normalization");
        if (normalization.equals("ortho")) {
            return 1 / Math.sqrt(size);
        }
        return normalization.equals("forward") == attrs.getBool("forward") ? 1 / size : 1;
    }

    private static int[] axes(Lowering l, String slot) {
        int rank = l.in(slot).rank();
        return Arrays.stream(l.attrs().getLongs("axes")).mapToInt(axis -> (int) (axis < 0 ? axis + rank : axis))
                .toArray();
    }

    /** Checks the attributes; returns the last axis. */
    private static int check(Inference inference, String slot) {
        String normalization = inference.attrs().getText("normalization");
        inference.require(List.of("backward", "forward", "ortho").contains(normalization),
                "normalization must be backward, forward or ortho, but is '%s'", normalization);
        long[] axes = inference.attrs().getLongs("axes");
        inference.require(axes.length > 0, "axes must name at least one axis");
        int[] positive = Arrays.stream(axes).mapToInt(axis -> inference.axis(slot, axis)).toArray();
        inference.require(Arrays.stream(positive).distinct().count() == axes.length,
                "axes must not repeat one, but are %s", Numbers.text(axes));
        long[] dims = inference.dims(slot);
        inference.require(dims.length > 0, "%s needs at least one dimension", slot);
        for (int axis : positive) {
            inference.require(dims[axis] != 0 && dims[axis] <= MOST,
                    "axis %d of %s must have from 1 to %d numbers, but the shape is %s", axis, slot, MOST,
                    Numbers.text(dims));
        }
        return positive[positive.length - 1];
    }
}
