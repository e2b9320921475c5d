package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.ComplexNumber;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fourier;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Fourier transforms whose axis, length or parts of numbers are known only in a run, and mel weights. */
final class SignalSchemas {
    private static final long MOST = 1L << 26;

    private SignalSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_dft").in("X", "Length?", "Axis?").out("Out").attr("axis", -2L).attr("inverse", false)
                .attr("onesided", false).values("Length", "Axis").infer(SignalSchemas::infer)
                .lower(SignalSchemas::lower)
                .grad("onnx_dft_grad(X, Length, Axis, Out@GRAD) -> X@GRAD").register(registry);
        Operation.define("onnx_mel_weight_matrix").in("Bands", "Length", "Rate", "Low", "High").out("Out")
                .attr("dtype", 5).values("Bands", "Length", "Rate", "Low", "High")
                .infer(SignalSchemas::inferMel).lower(l -> {
                    MelWeights weights = mel(slot -> Objects.requireNonNull(l.numbers(slot), slot));
                    l.out("Out", l.constant(Tensor.of(l.attrs().getDType("dtype"), weights.weights(), weights.rows(),
                            weights.columns())));
                }).register(registry);
    }

    private static void inferMel(Inference inference) {
        boolean isKnown = true;
        for (String slot : List.of("Bands", "Length", "Rate", "Low", "High")) {
            long size = Inference.size(inference.dims(slot));
            inference.require(size == 1 || size < 0, "%s is one number, but has %d", slot, size);
            isKnown &= inference.numbers(slot) != null;
        }
        MelWeights weights = isKnown ? mel(slot -> Objects.requireNonNull(inference.numbers(slot), slot)) : null;
        inference.set("Out", inference.attrs().getDType("dtype"), weights == null ? -1 : weights.rows(),
                weights == null ? -1 : weights.columns());
    }

    private static MelWeights mel(Function<String, double[]> numbers) {
        return new MelWeights((long) numbers.apply("Bands")[0], (long) numbers.apply("Length")[0],
                (long) numbers.apply("Rate")[0], numbers.apply("Low")[0], numbers.apply("High")[0]);
    }

    /** Half of a spectrum gives real numbers, and real numbers give half of a spectrum. */
    private static void infer(Inference inference) {
        Attrs attrs = inference.attrs();
        boolean inverse = attrs.getBool("inverse");
        boolean half = attrs.getBool("onesided");
        long[] dims = inference.dims("X");
        inference.require(dims.length > 1, "signals have an axis and one for the parts of numbers, but X is %s",
                inference.in("X"));
        int last = dims.length - 1;
        long parts = dims[last];
        inference.require(parts < 0 || parts == 2 || (parts == 1 && !(inverse && half)),
                "the last axis has the real and the imaginary parts, but X is %s", inference.in("X"));
        inference.require(!half || inverse || parts != 2, "half of a spectrum is enough for real signals only, but X "
                + "is %s", inference.in("X"));
        dims[last] = inverse && half ? 1 : 2;
        long[] axes = inference.has("Axis") ? inference.values("Axis") : new long[]{attrs.getLong("axis")};
        long[] lengths = inference.has("Length") ? inference.values("Length") : new long[0];
        if (axes == null) {
            Arrays.fill(dims, 0, last, -1);
        } else {
            inference.require(axes.length == 1 && inference.axis("X", axes[0]) != last,
                    "there is one axis, which is not the last, but it is %s", Numbers.text(axes));
            int axis = inference.axis("X", axes[0]);
            long length = length(inverse && half, dims[axis], lengths);
            inference.require(length == -1 || (length >= 1 && length <= MOST),
                    "a transform has from 1 to %d numbers, but %d", MOST, length);
            dims[axis] = length < 0 ? -1 : half && !inverse ? Fourier.half(length) : length;
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    /** Of the whole transform; −1 while it is not known. */
    private static long length(boolean ofHalf, long given, long @Nullable [] lengths) {
        return lengths == null ? -1 : lengths.length > 0 ? lengths[0] : ofHalf && given > 0 ? 2 * (given - 1) : given;
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        boolean inverse = l.attrs().getBool("inverse");
        boolean half = l.attrs().getBool("onesided");
        long[] axes = l.values("Axis");
        int axis = x.shape().axis((int) (axes == null ? l.attrs().getLong("axis") : axes[0]));
        long[] given = l.values("Length");
        long length = length(inverse && half, x.dim(axis), given == null ? new long[0] : given);
        Operand signal = resized(l, x, axis, inverse && half ? Fourier.half(length) : length);
        double scale = inverse ? 1.0 / length : 1;
        Operand out = l.output("Out");
        Operand real = signal.select(-1, 0);
        if (half && !inverse) {
            write(l, l.run(new Fourier(Fourier.Kind.FROM_REAL, axis, length, false, scale), real), out);
            return;
        }
        Operand imaginary = signal.dim(signal.rank() - 1) == 2
                ? signal.select(-1, 1)
                : l.fill(0, TensorSpec.of(real.dtype(), real.shape()));
        Operand numbers = l.run(new ComplexNumber(), real, imaginary);
        if (half) {
            Operand whole = l.run(new Fourier(Fourier.Kind.TO_REAL, axis, length, true, scale), numbers);
            l.into(Copy.PLAIN, List.of(whole), List.of(out.select(-1, 0)));
        } else {
            write(l, l.run(new Fourier(Fourier.Kind.COMPLEX, axis, length, inverse, scale), numbers), out);
        }
    }

    private static void write(Lowering l, Operand numbers, Operand out) {
        l.into(new ComplexPart(ComplexPart.Function.REAL), List.of(numbers), List.of(out.select(-1, 0)));
        l.into(new ComplexPart(ComplexPart.Function.IMAGINARY), List.of(numbers), List.of(out.select(-1, 1)));
    }

    /** The first elements of an axis, followed by zeros if there are too few. */
    private static Operand resized(Lowering l, Operand x, int axis, long length) {
        if (x.dim(axis) >= length) {
            return x.slice(axis, 0, length);
        }
        Operand wide = l.fill(0, TensorSpec.of(x.dtype(), x.shape().with(axis, length)));
        l.into(Copy.PLAIN, List.of(x), List.of(wide.slice(axis, 0, x.dim(axis))));
        return wide;
    }
}
