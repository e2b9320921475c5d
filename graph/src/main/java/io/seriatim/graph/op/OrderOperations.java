package io.seriatim.graph.op;

import io.seriatim.graph.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.ArgReduction;
import io.seriatim.tensor.kernel.PutAlongAxis;
import io.seriatim.tensor.kernel.Scan;
import io.seriatim.tensor.kernel.TopK;
import java.util.Arrays;
import java.util.List;

/** Sorting, choosing by size, and running sums. */
final class OrderOperations {
    private static final int NOT_GIVEN = -1;

    private OrderOperations() {
    }

    static void register(Operations registry) {
        sort(registry);
        top(registry);
        extreme(registry, "arg_max", true);
        extreme(registry, "arg_min", false);
        sum(registry);
    }

    private static void sort(Operations registry) {
        Operation.Builder forward = Operation.define("argsort").in("X").out("Out", "Indices").attr("axis", -1).attr("descending", false);
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
        Operation.Builder forward = Operation.define("top_k_v2").in("X", "K?").out("Out", "Indices").attr("k", 1).attr("axis", -1)
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
            inference.require(k >= 1, "k must be 1 or more, but is %d", k);
            inference.require(length < 0 || k <= length, "k must be from 1 to %d, the length of axis %d of X, but is %d", length, axis, k);
        }
        if (dims.length > 0) {
            dims[axis] = k;
        }
        inference.set("Out", inference.dtype("X"), dims);
        inference.set("Indices", DType.INT64, dims);
    }

    private static void extreme(Operations registry, String type, boolean largest) {
        Operation.define(type).in("X").out("Out").required("axis", Attribute.Int64.class).attr("keepdims", false).attr("flatten", false)
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
        inference.require(dtype == DType.INT64 || dtype == DType.INT32, "dtype must be int32 or int64, but is %s", dtype);
        boolean flat = attrs.getBool("flatten");
        long[] axes = flat ? new long[0] : new long[]{attrs.getLong("axis")};
        Axes reduced = Axes.of(inference, "X", axes, flat);
        boolean found = Arrays.stream(dims).noneMatch(dim -> dim == 0) || Inference.size(reduced.apply(dims, false)) == 0;
        inference.require(found, "X has no elements of which one could be the extreme");
        inference.set("Out", dtype, reduced.apply(dims, attrs.getBool("keepdims")));
    }

    private static void sum(Operations registry) {
        Operation.Builder forward = Operation.define("cumsum").in("X").out("Out").attr("axis", -1).attr("flatten", false)
                .attr("exclusive", false).attr("reverse", false);
        String gradient = "cumsum_grad(X, Out@GRAD) -> X@GRAD";
        forward.gradOperation(gradient, null).shapesOnly("X")
                .lower(l -> l.out("X@GRAD", scan(l, l.in("Out@GRAD"), true).reshape(l.outType("X@GRAD", 0).dims()))).register(registry);
        forward.infer(inference -> {
            long[] dims = inference.dims("X");
            boolean flat = inference.attrs().getBool("flatten");
            inference.require(inference.dtype("X") != DType.BOOL, "X must be of numbers, but is bool; cast it");
            if (!flat) {
                inference.axis("X", inference.attrs().getInt("axis"));
            }
            inference.set("Out", inference.dtype("X"), flat ? new long[]{Inference.size(dims)} : dims);
        }).lower(l -> {
            Operand x = l.in("X");
            l.out("Out", scan(l, l.attrs().getBool("flatten") ? x.reshape(x.shape().size()) : x, false));
        }).grad(gradient).register(registry);
    }

    private static Operand scan(Lowering l, Operand x, boolean backwards) {
        boolean exclusive = l.attrs().getBool("exclusive");
        if (x.rank() == 0) {
            return exclusive ? l.fill(0, x.spec()) : l.copy(x);
        }
        int axis = l.attrs().getBool("flatten") ? 0 : l.attrs().getInt("axis");
        return l.run(new Scan(axis, exclusive, l.attrs().getBool("reverse") != backwards), x);
    }
}
