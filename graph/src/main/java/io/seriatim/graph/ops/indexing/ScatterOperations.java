package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Scatter;
import io.seriatim.tensor.computation.ScatterNd;
import java.util.Arrays;

/** Operations that put or add slices at indexes. */
public final class ScatterOperations {
    private ScatterOperations() {
    }

    public static void register(Operations registry) {
        scatter(registry);
        scatterNdAdd(registry);
        indexAdd(registry);
    }

    private static void scatter(Operations registry) {
        Operation.define("scatter").in("X", "Ids", "Updates").out("Out").attr("overwrite", true)
                .infer(ScatterOperations::inferScatter)
                .lower(l -> l.out("Out",
                        l.run(new Scatter(l.attrs().getBool("overwrite")), l.in("X"), rows(l),
                                slices(l, l.in("Updates")))))
                .grad("scatter_grad(Ids, Out@GRAD, Updates) -> Updates@GRAD, X@GRAD", ScatterOperations::scatterGrad)
                .register(registry);
    }

    private static void inferScatter(Inference inference) {
        Indexes.requireDimensions(inference, "X");
        Indexes.requireVector(inference, "Ids");
        long[] x = inference.dims("X");
        long[] ids = inference.dims("Ids");
        long[] updates = inference.dims("Updates");
        long[] expected = Indexes.replaced(x, 0, Arrays.copyOf(ids, Math.min(1, ids.length)));
        boolean fits = updates.length == expected.length;
        for (int i = 0; fits && i < updates.length; i++) {
            fits = updates[i] == expected[i] || updates[i] < 0 || expected[i] < 0;
        }
        inference.require(fits, "the updates must have the shape %s, a slice of X for each index, but have %s",
                Numbers.text(expected),
                Numbers.text(updates));
        inference.same("X", "Out");
    }

    private static Operand rows(Lowering l) {
        return l.in("Ids").reshape(l.in("Ids").shape().size());
    }

    /** Adds a first dimension if the index is a single number. */
    private static Operand slices(Lowering l, Operand updates) {
        return l.in("Ids").rank() == 0 ? updates.unsqueeze(0) : updates;
    }

    /** Overwritten elements have no influence, and Paddle clears elements before it adds to them. */
    private static void scatterGrad(Lowering l) {
        Operand dy = l.in("Out@GRAD");
        if (l.wants("X@GRAD")) {
            l.out("X@GRAD", l.run(new Scatter(true), dy, rows(l), slices(l, Indexes.zeros(l, "Updates"))));
        }
        if (l.wants("Updates@GRAD")) {
            l.out("Updates@GRAD", l.run(Gather.of(0), dy, Indexes.vector(l, "Ids")));
        }
    }

    private static void scatterNdAdd(Operations registry) {
        String signature = "scatter_nd_add_grad(Index, Out@GRAD, Updates) -> Updates@GRAD, X@GRAD";
        Operation.Builder scatter = Operation.define("scatter_nd_add").in("X", "Index", "Updates").out("Out")
                .infer(inference -> {
                    long[] expected = GatherOperations.tuples(inference, "X", "Index");
                    inference.require(
                            Arrays.equals(expected, inference.dims("Updates")) || !isKnown(expected)
                                    || !inference.in("Updates").isKnown(),
                            "the updates must have the shape %s, but have %s", Numbers.text(expected),
                            Numbers.text(inference.dims("Updates")));
                    inference.same("X", "Out");
                })
                .lower(l -> l.out("Out",
                        l.run(new ScatterNd(ScatterNd.Function.ADD), l.in("X"), l.in("Index"), l.in("Updates"))))
                .grad(signature);
        scatter.gradOperation(signature, null).shapesOnly("Updates").lower(l -> {
            l.out("X@GRAD", l.in("Out@GRAD"));
            if (l.wants("Updates@GRAD")) {
                l.out("Updates@GRAD", l.run(new GatherNd(), l.in("Out@GRAD"), l.in("Index")));
            }
        }).register(registry);
        scatter.register(registry);
    }

    private static boolean isKnown(long[] dims) {
        return Arrays.stream(dims).allMatch(dim -> dim >= 0);
    }

    private static void indexAdd(Operations registry) {
        Operation.define("index_add").in("X", "Index", "AddValue").out("Out").attr("axis", 0).infer(inference -> {
            inference.axis("X", inference.attrs().getInt("axis"));
            Indexes.requireVector(inference, "Index");
            inference.require(inference.dims("AddValue").length == inference.dims("X").length,
                    "AddValue must have the dimensions of X");
            inference.require(inference.dtype("AddValue") == inference.dtype("X"), "AddValue must have the type of X");
            inference.same("X", "Out");
        }).lower(l -> {
            Operand values = l.in("AddValue");
            l.out("Out", l.run(new PutAlongAxis(l.attrs().getInt("axis"), true), l.in("X"), index(l, values), values));
        }).grad("index_add_grad(Index, AddValue, Out@GRAD) -> X@GRAD, AddValue@GRAD", inference -> {
            inference.same("Out@GRAD", "X@GRAD");
            inference.same("AddValue", "AddValue@GRAD");
        }, l -> {
            l.out("X@GRAD", l.in("Out@GRAD"));
            if (l.wants("AddValue@GRAD")) {
                l.out("AddValue@GRAD",
                        l.run(new Gather(l.attrs().getInt("axis"), Gather.NO_PADDING), l.in("Out@GRAD"),
                                Indexes.vector(l, "Index")));
            }
        }).register(registry);
    }

    /** The indices, once for each element of the values. */
    private static Operand index(Lowering l, Operand values) {
        int axis = values.shape().axis(l.attrs().getInt("axis"));
        long[] dims = new long[values.rank()];
        Arrays.fill(dims, 1);
        dims[axis] = values.dim(axis);
        return l.copy(l.reshape(l.in("Index"), dims).expand(values.shape()));
    }
}
