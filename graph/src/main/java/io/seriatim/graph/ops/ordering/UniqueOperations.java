package io.seriatim.graph.ops.ordering;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.Pad;
import io.seriatim.tensor.kernel.Reduction;
import io.seriatim.tensor.kernel.Unary;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The different elements of a tensor, parts of tensors, and norms and distances. */
public final class UniqueOperations {
    private UniqueOperations() {
    }

    public static void register(Operations registry) {
        unique(registry);
        crop(registry);
        normalise(registry);
        distance(registry);
    }

    /** Where each different element is first, and how often it is there, in the order of their size. */
    private static SortedMap<Double, long[]> found(double[] values) {
        SortedMap<Double, long[]> found = new TreeMap<>();
        for (int i = 0; i < values.length; i++) {
            found.computeIfAbsent(values[i] + 0.0, _ -> new long[2])[1]++;
        }
        for (int i = values.length - 1; i >= 0; i--) {
            Objects.requireNonNull(found.get(values[i] + 0.0))[0] = i;
        }
        return found;
    }

    private static void unique(Operations registry) {
        Operation.define("unique").in("X").out("Out", "Indices?", "Index?", "Counts?").attr("return_index", false)
                .attr("return_inverse", false).attr("return_counts", false).attr("axis", new int[0]).attr("dtype", 3)
                .attr("is_sorted", false).values("X")
                .refuse((_, attrs) -> attrs.getInts("axis").length == 0 && attrs.getBool("is_sorted")
                        ? null
                        : "only the sorted elements of a whole tensor are found here, not slices of an axis: "
                                + "flatten X before")
                .infer(inference -> {
                    double[] values = inference.numbers("X");
                    long count = values == null ? -1 : found(values).size();
                    DType places = inference.attrs().getDType("dtype");
                    inference.set("Out", inference.dtype("X"), count);
                    inference.set("Indices", places, count);
                    inference.set("Index", places, Inference.size(inference.dims("X")));
                    inference.set("Counts", places, count);
                }).lower(l -> {
                    double[] values = Objects.requireNonNull(l.numbers("X"));
                    SortedMap<Double, long[]> found = found(values);
                    double[] sorted = found.keySet().stream().mapToDouble(Double::doubleValue).toArray();
                    l.out("Out", l.constant(Tensor.of(l.in("X").dtype(), sorted, sorted.length)));
                    places(l, "Indices", found.values().stream().mapToLong(each -> each[0]).toArray());
                    places(l, "Index",
                            Arrays.stream(values).mapToLong(each -> Arrays.binarySearch(sorted, each + 0.0)).toArray());
                    places(l, "Counts", found.values().stream().mapToLong(each -> each[1]).toArray());
                }).register(registry);
    }

    private static void places(Lowering l, String slot, long[] places) {
        if (l.wants(slot)) {
            l.out(slot, l.constant(Tensor.of(l.attrs().getDType("dtype"), places, places.length)));
        }
    }

    private static void crop(Operations registry) {
        Operation.Builder forward = Operation.define("crop_tensor")
                .in("X", "Shape?", "ShapeTensor*?", "Offsets?", "OffsetsTensor*?")
                .out("Out").attr("shape", new int[0]).attr("offsets", new int[0])
                .values("Shape", "ShapeTensor", "Offsets", "OffsetsTensor");
        String gradient = "crop_tensor_grad(X, Offsets, OffsetsTensor, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").values("Offsets", "OffsetsTensor").lower(l -> {
            long[] dims = l.outType("X@GRAD", 0).dims();
            long[] offsets = Dims.given(l, "OffsetsTensor", "Offsets", "offsets");
            Operand dout = l.in("Out@GRAD");
            List<Long> before = Arrays.stream(offsets).boxed().toList();
            List<Long> after = IntStream.range(0, dims.length).mapToObj(i -> dims[i] - offsets[i] - dout.dim(i))
                    .toList();
            l.out("X@GRAD", l.run(new Pad(before, after, Pad.Mode.CONSTANT, 0), dout));
        }).register(registry);
        forward.infer(UniqueOperations::cropped).lower(l -> {
            long[] dims = l.outType("Out", 0).dims();
            long[] offsets = Dims.given(l, "OffsetsTensor", "Offsets", "offsets");
            Operand part = l.in("X");
            for (int i = 0; i < dims.length; i++) {
                part = part.slice(i, offsets[i], offsets[i] + dims[i]);
            }
            l.out("Out", part);
        }).grad(gradient).register(registry);
    }

    private static void cropped(Inference inference) {
        long[] x = inference.dims("X");
        long @Nullable [] shape = Dims.given(inference, "ShapeTensor", "Shape", "shape");
        long @Nullable [] offsets = Dims.given(inference, "OffsetsTensor", "Offsets", "offsets");
        inference.require(
                (shape == null || shape.length == x.length) && (offsets == null || offsets.length == x.length),
                "shape and offsets must have one number for each of %d dimensions", x.length);
        long[] dims = Dims.unknown(x.length);
        for (int i = 0; shape != null && i < x.length; i++) {
            long offset = offsets == null ? 0 : offsets[i];
            inference.require(offset >= 0 && shape[i] >= -1,
                    "offsets must be from 0, and shape from -1 on, but are %d and %d", offset,
                    shape[i]);
            dims[i] = shape[i] >= 0 ? shape[i] : x[i] < 0 || offsets == null ? -1 : x[i] - offset;
            inference.require(x[i] < 0 || dims[i] < 0 || offset + dims[i] <= x[i],
                    "%d elements from %d do not fit into axis %d of length %d",
                    dims[i], offset, i, x[i]);
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static void normalise(Operations registry) {
        Operation.define("norm").in("X").out("Out", "Norm~").required("axis", Attribute.Int.class)
                .attr("epsilon", 1e-10f)
                .attr("is_test", false).infer(inference -> {
                    long[] dims = inference.dims("X");
                    int axis = inference.axis("X", inference.attrs().getInt("axis"));
                    inference.require(dims.length > 0 && inference.dtype("X").isFloating(),
                            "X must have an axis of floating-point numbers");
                    inference.same("X", "Out");
                    inference.set("Norm", inference.dtype("X"), Dims.with(dims, axis, 1));
                }).lower(l -> {
                    Term x = Term.of(l, "X");
                    Term norm = sum(x.unary(Unary.Function.SQUARE)).plus(x.number(l.attrs().getFloat("epsilon")))
                            .unary(Unary.Function.SQRT);
                    norm.to("Norm");
                    x.over(norm).to("Out");
                }).grad("norm_grad(X, Norm, Out@GRAD) -> X@GRAD", l -> {
                    Term x = Term.of(l, "X");
                    Term norm = Term.of(l, "Norm");
                    Term dout = Term.of(l, "Out@GRAD");
                    Term along = x.times(sum(x.times(dout))).over(norm.unary(Unary.Function.SQUARE));
                    dout.minus(along).over(norm).to("X@GRAD");
                }).register(registry);
    }

    private static Term sum(Term x) {
        Lowering l = x.l();
        int axis = x.operand().shape().axis(l.attrs().getInt("axis"));
        return new Term(l, l.run(new Reduction(Reduction.Function.SUM, List.of(axis), true), x.operand()));
    }

    private static void distance(Operations registry) {
        Operation.define("dist").in("X", "Y").out("Out").attr("p", 2f).infer(inference -> {
            inference.broadcast(inference.dims("X"), inference.dims("Y"));
            inference.require(inference.dtype("X").isFloating() && inference.dtype("X") == inference.dtype("Y"),
                    "X and Y must be of one floating-point type, but are %s and %s", inference.dtype("X"),
                    inference.dtype("Y"));
            inference.require(inference.attrs().getFloat("p") >= 0, "p must be 0 or more, but is %s",
                    inference.attrs().getFloat("p"));
            inference.set("Out", inference.dtype("X"));
        }).lower(l -> {
            Term size = difference(l).unary(Unary.Function.ABS);
            float p = l.attrs().getFloat("p");
            if (p == 0) {
                Operand differ = l.cast(size.isAbove(0).operand(), size.operand().dtype());
                l.out("Out", all(l, Reduction.Function.SUM, differ));
            } else if (Float.isInfinite(p)) {
                l.out("Out", all(l, Reduction.Function.MAX, size.operand()));
            } else if (p == 1 || p == 2) {
                Operand sum = all(l, p == 1 ? Reduction.Function.SUM : Reduction.Function.SUM_OF_SQUARES,
                        size.operand());
                l.out("Out", p == 1 ? sum : l.unary(Unary.Function.SQRT, sum));
            } else {
                Term sum = new Term(l, all(l, Reduction.Function.SUM, power(size, p).operand()));
                power(sum, 1 / (double) p).to("Out");
            }
        }).grad("dist_grad(X, Y, Out, Out@GRAD) -> X@GRAD, Y@GRAD", l -> {
            Term slope = slope(difference(l)).times(Term.of(l, "Out@GRAD"));
            if (l.wants("X@GRAD")) {
                l.out("X@GRAD", Dims.sumTo(l, slope.operand(), l.in("X").shape().dims()));
            }
            if (l.wants("Y@GRAD")) {
                l.out("Y@GRAD", Dims.sumTo(l, slope.linear(-1, 0).operand(), l.in("Y").shape().dims()));
            }
        }).register(registry);
    }

    private static Term difference(Lowering l) {
        return Term.of(l, "X").minus(Term.of(l, "Y"));
    }

    private static Operand all(Lowering l, Reduction.Function function, Operand x) {
        return l.run(new Reduction(function, List.of(), false), x);
    }

    private static Term power(Term x, double exponent) {
        return new Term(x.l(), x.l().binary(Binary.Function.POWER, x.operand(), x.number(exponent).operand()));
    }

    private static Term slope(Term z) {
        Term out = Term.of(z.l(), "Out");
        float p = z.l().attrs().getFloat("p");
        Term sign = z.unary(Unary.Function.SIGN);
        Term size = z.unary(Unary.Function.ABS);
        if (p == 0) {
            return z.times(z.number(0));
        }
        if (Float.isInfinite(p)) {
            return size.is(Binary.Function.EQUAL, out).orZero(sign);
        }
        Term slope = p == 1 ? sign : p == 2 ? z.over(out) : sign.times(power(size.over(out), p - 1.0));
        return out.isAbove(0).choose(slope, z.number(0));
    }
}
