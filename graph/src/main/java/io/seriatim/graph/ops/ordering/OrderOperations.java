package io.seriatim.graph.ops.ordering;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Axes;
import io.seriatim.graph.ops.common.ElementOrder;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Lines;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.TopK;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/** Sorting, searching sorted values, and choosing elements by size or by how often they occur. */
public final class OrderOperations {
    private static final int NOT_GIVEN = -1;

    private OrderOperations() {
    }

    public static void register(Operations registry) {
        sort(registry);
        top(registry);
        extreme(registry, "arg_max", true);
        extreme(registry, "arg_min", false);
        kth(registry);
        mode(registry);
        topOfLast(registry);
        searchSorted(registry);
    }

    private static void sort(Operations registry) {
        Operation.Builder forward = Operation.define("argsort").in("X").out("Out", "Indices").attr("axis", -1)
                .attr("descending", false);
        String gradient = "argsort_grad(Indices, X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X").lower(OrderOperations::putBack).register(registry);
        forward.infer(inference -> {
            inference.axis("X", inference.attrs().getInt("axis"));
            inference.same("X", "Out");
            inference.set("Indices", DType.INT64, inference.dims("X"));
        }).lower(l -> {
            Operand x = l.in("X");
            first(l, x, x.rank() == 0 ? 1 : x.dim(l.attrs().getInt("axis")), l.attrs().getBool("descending"));
        }).grad(gradient).register(registry);
    }

    /** The first elements in order; a single element without dimensions is the only one. */
    private static void first(Lowering l, Operand x, long k, boolean largest) {
        if (x.rank() == 0) {
            l.out("Out", x);
            l.out("Indices", l.number(DType.INT64, 0));
            return;
        }
        List<Operand> found = l.runAll(new TopK(k, l.attrs().getInt("axis"), largest), x);
        l.out("Out", found.get(0));
        l.out("Indices", found.get(1));
    }

    /** The gradient of elements chosen along an axis: to where they came from. */
    private static void putBack(Lowering l) {
        TensorSpec x = l.outType("X@GRAD", 0).spec();
        Operand dout = l.in("Out@GRAD");
        if (x.shape().rank() == 0) {
            l.out("X@GRAD", dout);
            return;
        }
        l.out("X@GRAD", l.run(new PutAlongAxis(l.attrs().getInt("axis"), false), l.fill(0, x), l.in("Indices"), dout));
    }

    private static void top(Operations registry) {
        Operation.Builder forward = Operation.define("top_k_v2").in("X", "K?").out("Out", "Indices").attr("k", 1)
                .attr("axis", -1)
                .attr("largest", true).attr("sorted", true);
        String gradient = "top_k_v2_grad(Indices, K, X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X", "K").lower(OrderOperations::putBack).register(registry);
        forward.values("K").infer(OrderOperations::inferTop).lower(l -> {
            long[] given = l.values("K");
            first(l, l.in("X"), given == null ? l.attrs().getInt("k") : given[0], l.attrs().getBool("largest"));
        }).grad(gradient).register(registry);
    }

    private static void inferTop(Inference inference) {
        long[] dims = inference.dims("X");
        int axis = inference.axis("X", inference.attrs().getInt("axis"));
        long[] given = inference.values("K");
        boolean known = given != null || !inference.has("K");
        inference.require(given == null || given.length == 1, "K must be one number");
        long k = given != null ? given[0] : known ? inference.attrs().getInt("k") : -1;
        if (known) {
            long length = dims.length == 0 ? 1 : dims[axis];
            // PaddlePaddle refuses 0, of which ONNX and NumPy take the empty result.
            inference.require(k >= 0, "k must be 0 or more, but is %d", k);
            inference.require(length < 0 || k <= length,
                    "k must be from 0 to %d, the length of axis %d of X, but is %d", length, axis, k);
        }
        if (dims.length > 0) {
            dims[axis] = k;
        }
        inference.set("Out", inference.dtype("X"), dims);
        inference.set("Indices", DType.INT64, dims);
    }

    private static void extreme(Operations registry, String type, boolean largest) {
        Operation.define(type).in("X").out("Out").required("axis", Attribute.Int64.class).attr("keepdims", false)
                .attr("flatten", false)
                .attr("dtype", 3).infer(OrderOperations::inferExtreme).lower(l -> {
                    Operand x = l.in("X");
                    boolean flat = l.attrs().getBool("flatten") || x.rank() == 0;
                    Operand from = flat ? x.reshape(x.shape().size()) : x;
                    Operand found = l.run(new ArgReduction(largest, flat ? 0 : l.attrs().getInt("axis"), true), from);
                    l.out("Out", l.cast(found, l.outType("Out", 0).dtype()).reshape(l.outType("Out", 0).dims()));
                }).register(registry);
    }

    private static void inferExtreme(Inference inference) {
        long[] dims = inference.dims("X");
        Attrs attrs = inference.attrs();
        DType dtype = attrs.getInt("dtype") == NOT_GIVEN ? DType.INT64 : attrs.getDType("dtype");
        inference.require(dtype == DType.INT64 || dtype == DType.INT32, "dtype must be int32 or int64, but is %s",
                dtype);
        boolean flat = attrs.getBool("flatten");
        long[] axes = flat ? new long[0] : new long[]{attrs.getLong("axis")};
        Axes reduced = Axes.of(inference, "X", axes, flat);
        boolean found = Arrays.stream(dims).noneMatch(dim -> dim == 0)
                || Inference.size(reduced.apply(dims, false)) == 0;
        inference.require(found, "X has no elements of which one could be the extreme");
        inference.set("Out", dtype, reduced.apply(dims, attrs.getBool("keepdims")));
    }

    private static void kth(Operations registry) {
        String gradient = "kthvalue_grad(Indices, X, Out@GRAD) -> X@GRAD";
        Operation.Builder forward = Operation.define("kthvalue").in("X").out("Out", "Indices").attr("k", 1)
                .attr("axis", -1)
                .attr("keepdim", false);
        forward.gradOperation(gradient, null).shapesOnly("X").lower(OrderOperations::putBackOne).register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            long length = dims.length == 0 ? 1 : dims[inference.axis("X", inference.attrs().getInt("axis"))];
            int k = inference.attrs().getInt("k");
            inference.require(k >= 1 && (length < 0 || k <= length),
                    "k must be from 1 to %s, the length of the axis, but is %d",
                    length < 0 ? "?" : length, k);
            inferOne(inference);
        }).lower(l -> {
            Operand x = l.in("X");
            if (x.rank() == 0) {
                first(l, x, 1, false);
                return;
            }
            int k = l.attrs().getInt("k");
            int axis = x.shape().axis(l.attrs().getInt("axis"));
            List<Operand> found = l.runAll(new TopK(k, axis, false), x);
            one(l, "Out", found.get(0).slice(axis, k - 1, k), axis);
            one(l, "Indices", found.get(1).slice(axis, k - 1, k), axis);
        }).grad(gradient).register(registry);
    }

    /** One element of each line along an axis. */
    private static void inferOne(Inference inference) {
        Attrs attrs = inference.attrs();
        long[] dims = Axes.of(inference, "X", new long[]{attrs.getInt("axis")}, false).apply(inference.dims("X"),
                attrs.getBool("keepdim"));
        inference.set("Out", inference.dtype("X"), dims);
        inference.set("Indices", DType.INT64, dims);
    }

    private static void one(Lowering l, String slot, Operand kept, int axis) {
        l.out(slot, l.attrs().getBool("keepdim") ? kept : kept.squeeze(axis));
    }

    /** The gradient of one element of each line: to where it came from. */
    private static void putBackOne(Lowering l) {
        TensorSpec x = l.outType("X@GRAD", 0).spec();
        Operand dout = l.in("Out@GRAD");
        if (x.shape().rank() == 0) {
            l.out("X@GRAD", dout);
            return;
        }
        int axis = x.shape().axis(l.attrs().getInt("axis"));
        long[] kept = x.shape().with(axis, 1).dims();
        l.out("X@GRAD",
                l.run(new PutAlongAxis(axis, false), l.fill(0, x), l.in("Indices").reshape(kept), dout.reshape(kept)));
    }

    private static void mode(Operations registry) {
        String gradient = "mode_grad(Indices, X, Out@GRAD) -> X@GRAD";
        Operation.Builder forward = Operation.define("mode").in("X").out("Out", "Indices").attr("axis", -1)
                .attr("keepdim", false);
        forward.gradOperation(gradient, null).shapesOnly("X").lower(OrderOperations::putBackOne).register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            int axis = inference.axis("X", inference.attrs().getInt("axis"));
            inference.require(dims.length == 0 || dims[axis] != 0, "the axis %d of X has no elements", axis);
            inferOne(inference);
        }).lower(l -> {
            Operand x = l.in("X");
            if (x.rank() == 0) {
                first(l, x, 1, false);
                return;
            }
            int axis = x.shape().axis(l.attrs().getInt("axis"));
            Lines lines = Lines.of(x, axis);
            Operand places = l.temporary(TensorSpec.of(DType.INT64, x.shape().with(axis, 1).dims()));
            l.call("mode", (in, out) -> {
                ElementOrder order = ElementOrder.of(Objects.requireNonNull(in.getFirst()), true);
                long[] found = new long[WorkingMemory.length(places.shape().size())];
                for (int i = 0; i < found.length; i++) {
                    found[i] = mode(order, lines.element(i * lines.length(), false), lines.length(), lines.inner());
                }
                Elements.write(found, Objects.requireNonNull(out.getFirst()));
            }, List.of(x), List.of(places));
            one(l, "Out", l.run(new TakeAlongAxis(axis), x, places), axis);
            one(l, "Indices", places, axis);
        }).grad(gradient).register(registry);
    }

    /** The last index in a line of the element that occurs most often; of several such elements the smallest. */
    private static int mode(ElementOrder order, int first, int length, int inner) {
        List<Integer> sorted = IntStream.range(0, length).boxed()
                .sorted((one, other) -> order.compare(first + one * inner, first + other * inner)).toList();
        int best = sorted.getFirst();
        int most = 0;
        int count = 0;
        for (int i = 0; i < length; i++) {
            boolean repeated = i > 0
                    && order.compare(first + sorted.get(i) * inner, first + sorted.get(i - 1) * inner) == 0;
            count = repeated ? count + 1 : 1;
            if (count > most) {
                most = count;
                best = sorted.get(i);
            }
        }
        return best;
    }

    private static void topOfLast(Operations registry) {
        Operation.Builder forward = Operation.define("top_k").in("X", "K?").out("Out", "Indices").attr("k", 1)
                .values("K");
        String gradient = "top_k_grad(X, Indices, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X")
                .lower(l -> l.out("X@GRAD", l.run(new PutAlongAxis(-1, false),
                        l.fill(0, l.outType("X@GRAD", 0).spec()), l.in("Indices"), l.in("Out@GRAD"))))
                .register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            long[] given = inference.values("K");
            long k = given != null && given.length == 1
                    ? given[0]
                    : inference.has("K") ? -1 : inference.attrs().getInt("k");
            inference.require(
                    dims.length > 0
                            && (k == -1 || (k > 0 && (dims[dims.length - 1] < 0 || k <= dims[dims.length - 1]))),
                    "k must be from 1 to the length of the last axis of X, %s, but is %d", Numbers.text(dims), k);
            dims[dims.length - 1] = k;
            inference.set("Out", inference.dtype("X"), dims);
            inference.set("Indices", DType.INT64, dims);
        }).lower(l -> {
            long[] dims = l.outType("Out", 0).dims();
            List<Operand> found = l.runAll(new TopK(dims[dims.length - 1], -1, true), l.in("X"));
            l.out("Out", found.get(0));
            l.out("Indices", found.get(1));
        }).grad(gradient).register(registry);
    }

    private static void searchSorted(Operations registry) {
        Operation.define("searchsorted").in("SortedSequence", "Values").out("Out").attr("out_int32", false)
                .attr("right", false)
                .infer(inference -> {
                    long[] sorted = inference.dims("SortedSequence");
                    long[] values = inference.dims("Values");
                    boolean fits = sorted.length == 1 || sorted.length == values.length;
                    for (int i = 0; fits && sorted.length > 1 && i < values.length - 1; i++) {
                        fits = sorted[i] < 0 || values[i] < 0 || sorted[i] == values[i];
                    }
                    inference.require(fits,
                            "SortedSequence must be a vector or have all but the last dimension of Values, but "
                                    + "they are %s and %s",
                            Numbers.text(sorted), Numbers.text(values));
                    inference.set("Out", inference.attrs().getBool("out_int32") ? DType.INT32 : DType.INT64, values);
                }).lower(l -> {
                    boolean right = l.attrs().getBool("right");
                    Operand found = l.temporary(l.outType("Out", 0).spec());
                    Operand sorted = l.in("SortedSequence");
                    int length = Math.toIntExact(sorted.dim(sorted.rank() - 1));
                    boolean shared = sorted.rank() == 1;
                    // Beside numbers of float32, whole numbers are compared as such.
                    boolean narrow = sorted.dtype() == DType.FLOAT32 && !l.in("Values").dtype().isFloating();
                    boolean narrowed = l.in("Values").dtype() == DType.FLOAT32 && !sorted.dtype().isFloating();
                    Operand from = narrowed ? l.cast(sorted, DType.FLOAT32) : sorted;
                    Operand values = narrow ? l.cast(l.in("Values"), DType.FLOAT32) : l.in("Values");
                    l.call("searchsorted",
                            (in, out) -> Elements.write(found(Objects.requireNonNull(in.get(0)).toDoubleArray(),
                                    Objects.requireNonNull(in.get(1)).toDoubleArray(), length, shared, right),
                                    Objects.requireNonNull(out.getFirst())),
                            List.of(from, values), List.of(found));
                    l.out("Out", found);
                }).register(registry);
    }

    private static long[] found(double[] sorted, double[] values, int length, boolean shared, boolean right) {
        long[] places = new long[values.length];
        int each = shared || length == 0 ? values.length : values.length / Math.max(1, sorted.length / length);
        for (int i = 0; i < values.length; i++) {
            int start = shared ? 0 : i / each * length;
            int low = 0;
            int high = length;
            while (low < high) {
                int middle = (low + high) >>> 1;
                double at = sorted[start + middle];
                boolean before = right ? !(at > values[i]) : !(at >= values[i]);
                low = before ? middle + 1 : low;
                high = before ? high : middle;
            }
            places[i] = low;
        }
        return places;
    }
}
