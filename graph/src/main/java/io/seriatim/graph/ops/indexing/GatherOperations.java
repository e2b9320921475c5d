package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.TakeAlongAxis;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;

/** Operations that take elements by index. Their gradients put them back, added up where an index is repeated. */
public final class GatherOperations {
    private GatherOperations() {
    }

    public static void register(Operations registry) {
        gather(registry);
        gatherNd(registry);
        indexSelect(registry);
        indexSample(registry);
        takeAlongAxis(registry);
    }

    private static void gather(Operations registry) {
        String signature = "gather_grad(Axis, Index, Out@GRAD, X) -> X@GRAD";
        Operation.Builder gather = Operation.define("gather").in("X", "Index", "Axis?").out("Out").attr("axis", 0)
                .values("Axis")
                .shapeArithmetic().infer(GatherOperations::inferGather)
                .lower(l -> l.out("Out", l.run(Gather.of(gatherAxis(l)), l.in("X"), Indexes.vector(l, "Index"))))
                .grad(signature);
        gather.gradOperation(signature, null).values("Axis").shapesOnly("X").lower(l -> slicesGrad(l, gatherAxis(l)))
                .register(registry);
        gather.register(registry);
    }

    private static int gatherAxis(Lowering l) {
        long[] given = l.values("Axis");
        return given == null ? l.attrs().getInt("axis") : Math.toIntExact(given[0]);
    }

    private static void inferGather(Inference inference) {
        Indexes.requireDimensions(inference, "X");
        Indexes.requireVector(inference, "Index");
        long axis = inference.attrs().getLong("axis");
        if (inference.has("Axis")) {
            long[] given = inference.values("Axis");
            inference.require(given == null || given.length == 1, "the slot Axis must hold one number");
            // Paddle takes the first axis until the tensor is known.
            axis = given == null ? 0 : given[0];
        }
        setSlices(inference, inference.axis("X", axis));
    }

    private static void setSlices(Inference inference, int axis) {
        long[] index = inference.dims("Index");
        inference.set("Out", inference.dtype("X"),
                Indexes.replaced(inference.dims("X"), axis, Arrays.copyOf(index, Math.min(1, index.length))));
    }

    private static void slicesGrad(Lowering l, int axis) {
        if (l.wants("X@GRAD")) {
            List<Long> dims = Arrays.stream(l.type("X", 0).dims()).boxed().toList();
            l.out("X@GRAD", l.run(new GatherGrad(Gather.of(axis), dims), l.in("Out@GRAD"), Indexes.vector(l, "Index")));
        }
    }

    private static void indexSelect(Operations registry) {
        String signature = "index_select_grad(Index, Out@GRAD, X) -> X@GRAD";
        Operation.Builder select = Operation.define("index_select").in("X", "Index").out("Out").attr("dim", 0)
                .infer(inference -> {
                    Indexes.requireDimensions(inference, "X");
                    Indexes.requireVector(inference, "Index");
                    inference.require(inference.dims("Index").length > 0, "the slot Index must hold a vector");
                    setSlices(inference, inference.axis("X", inference.attrs().getLong("dim")));
                })
                .lower(l -> l.out("Out",
                        l.run(Gather.of(l.attrs().getInt("dim")), l.in("X"), Indexes.vector(l, "Index"))))
                .grad(signature);
        select.gradOperation(signature, null).shapesOnly("X").lower(l -> slicesGrad(l, l.attrs().getInt("dim")))
                .register(registry);
        select.register(registry);
    }

    private static void gatherNd(Operations registry) {
        String signature = "gather_nd_grad(Index, Out@GRAD, X) -> X@GRAD";
        Operation.Builder gather = Operation.define("gather_nd").in("X", "Index").out("Out").infer(inference -> {
            inference.set("Out", inference.dtype("X"), tuples(inference, "X", "Index"));
        }).lower(l -> l.out("Out", l.run(new GatherNd(), l.in("X"), l.in("Index")))).grad(signature);
        gather.gradOperation(signature, null).shapesOnly("X").lower(l -> {
            if (l.wants("X@GRAD")) {
                l.out("X@GRAD", l.run(new ScatterNd(ScatterNd.Function.ADD), Indexes.zeros(l, "X"), l.in("Index"),
                        l.in("Out@GRAD")));
            }
        }).register(registry);
        gather.register(registry);
    }

    /** The shape of what tuples of indexes stand for. */
    static long[] tuples(Inference inference, String slot, String indexSlot) {
        Indexes.require(inference, indexSlot);
        long[] x = inference.dims(slot);
        long[] index = inference.dims(indexSlot);
        inference.require(index.length > 0 && index[index.length - 1] >= 0 && index[index.length - 1] <= x.length,
                "the last dimension of %s must be known and no more than the %d dimensions of %s, but the shape is %s",
                indexSlot, x.length,
                slot,
                Numbers.text(index));
        int depth = (int) index[index.length - 1];
        long[] dims = Arrays.copyOf(index, index.length - 1 + x.length - depth);
        System.arraycopy(x, depth, dims, index.length - 1, x.length - depth);
        return dims;
    }

    private static void indexSample(Operations registry) {
        alongAxis(registry, Operation.define("index_sample").in("X", "Index").out("Out").infer(inference -> {
            long[] x = inference.dims("X");
            long[] index = inference.dims("Index");
            inference.require(x.length == 2 && index.length == 2 && (x[0] == index[0] || x[0] < 0 || index[0] < 0),
                    "X and Index must have two dimensions, the first of the same length, but have the shapes %s and %s",
                    Numbers.text(x),
                    Numbers.text(index));
            Indexes.require(inference, "Index");
            inference.set("Out", inference.dtype("X"), index);
        }), "index_sample_grad(Index, Out@GRAD, X) -> X@GRAD", "X", "Out", _ -> 1);
    }

    private static void takeAlongAxis(Operations registry) {
        alongAxis(registry,
                Operation.define("take_along_axis").in("Input", "Index").out("Result")
                        .required("Axis", Attribute.Int.class).infer(inference -> {
                            requireAlongAxis(inference, "Input", "Index");
                            inference.set("Result", inference.dtype("Input"), inference.dims("Index"));
                        }),
                "take_along_axis_grad(Index, Input, Result@GRAD) -> Input@GRAD", "Input", "Result",
                attrs -> attrs.getInt("Axis"));
    }

    /** The indexes have as many dimensions as what they point into. */
    static void requireAlongAxis(Inference inference, String slot, String indexSlot) {
        Indexes.requireDimensions(inference, slot);
        Indexes.require(inference, indexSlot);
        long[] x = inference.dims(slot);
        long[] index = inference.dims(indexSlot);
        inference.require(x.length == index.length,
                "%s and %s must have as many dimensions as each other, but have the shapes %s and %s",
                slot,
                indexSlot, Numbers.text(x), Numbers.text(index));
        int axis = inference.axis(slot, inference.attrs().getLong("Axis"));
        for (int i = 0; i < x.length; i++) {
            inference.require(i == axis || index[i] <= x[i] || x[i] < 0,
                    "dimension %d of %s must be no longer than that of %s, but the shapes are %s and %s",
                    i, indexSlot, slot, Numbers.text(index), Numbers.text(x));
        }
    }

    private static void alongAxis(Operations registry, Operation.Builder take, String signature, String in, String out,
            ToIntFunction<Attrs> axis) {
        take.lower(l -> l.out(out, l.run(new TakeAlongAxis(axis.applyAsInt(l.attrs())), l.in(in), l.in("Index"))))
                .grad(signature);
        take.gradOperation(signature, null).shapesOnly(in).lower(l -> {
            if (l.wants(in + "@GRAD")) {
                l.out(in + "@GRAD",
                        l.run(new PutAlongAxis(axis.applyAsInt(l.attrs()), true), Indexes.zeros(l, in), l.in("Index"),
                                l.in(out + "@GRAD")));
            }
        }).register(registry);
        take.register(registry);
    }
}
