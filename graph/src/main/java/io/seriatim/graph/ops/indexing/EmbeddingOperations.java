package io.seriatim.graph.ops.indexing;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Indexes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.ScatterNd;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Tables of vectors, and their gradients as some rows of the table. */
public final class EmbeddingOperations {
    private static final long NO_PADDING = -1;

    private EmbeddingOperations() {
    }

    public static void register(Operations registry) {
        lookup(registry, "lookup_table_v2", false);
        lookup(registry, "lookup_table", true);
        merge(registry);
        values(registry);
    }

    /** The older of the two has indexes with a last dimension of length 1. */
    private static void lookup(Operations registry, String type, boolean column) {
        String signature = type + "_grad(Ids, Out@GRAD, W) -> W@GRAD";
        Operation.Builder lookup = Operation.define(type).in("W", "Ids").out("Out").attr("padding_idx", NO_PADDING)
                .attr("is_sparse", false)
                .attr("is_distributed", false).attr("remote_prefetch", false)
                .infer(inference -> inferLookup(inference, column))
                .lower(l -> l.out("Out", l.run(gather(l), l.in("W"), ids(l, column)))).grad(signature);
        lookup.gradOperation(signature, EmbeddingOperations::inferGradient).shapesOnly("W")
                .lower(l -> lookupGrad(l, column))
                .register(registry);
        lookup.register(registry);
    }

    private static void inferLookup(Inference inference, boolean column) {
        long[] table = inference.dims("W");
        inference.require(inference.in("W").kind() == ArgType.Kind.DENSE && table.length == 2,
                "the table must be a tensor of two dimensions, but is %s", inference.in("W"));
        Indexes.require(inference, "Ids");
        long[] ids = inference.dims("Ids");
        inference.require(!column || (ids.length > 0 && ids[ids.length - 1] == 1),
                "the last dimension of Ids must be 1, but the shape is %s; lookup_table_v2 takes any",
                Numbers.text(ids));
        int places = column ? ids.length - 1 : ids.length;
        long[] dims = Arrays.copyOf(ids, places + 1);
        dims[places] = table[1];
        inference.set("Out", inference.dtype("W"), dims);
    }

    private static Gather gather(Lowering l) {
        long padding = l.attrs().getLong("padding_idx");
        return new Gather(0, padding == NO_PADDING ? Gather.NO_PADDING : padding);
    }

    private static Operand ids(Lowering l, boolean column) {
        Operand ids = l.in("Ids");
        return column ? ids.squeeze(-1) : ids;
    }

    private static void inferGradient(Inference inference) {
        ArgType table = inference.in("W");
        inference.set("W@GRAD", 0, inference.attrs().getBool("is_sparse")
                ? ArgType.rows(table.dtype(), Inference.size(inference.dims("Ids")), table.dims())
                : table);
    }

    private static void lookupGrad(Lowering l, boolean column) {
        if (!l.wants("W@GRAD")) {
            return;
        }
        long[] table = l.type("W", 0).dims();
        Operand ids = ids(l, column);
        if (l.attrs().getBool("is_sparse")) {
            // As in Paddle, a padding index has a row in the gradient too; the forward direction does not read it.
            l.into(new Copy(DType.INT64), List.of(l.reshape(ids, ids.shape().size())),
                    List.of(l.outputRowIndexes("W@GRAD")));
            l.out("W@GRAD", l.in("Out@GRAD").reshape(ids.shape().size(), table[1]));
        } else {
            l.out("W@GRAD",
                    l.run(new GatherGrad(gather(l), Arrays.stream(table).boxed().toList()), l.in("Out@GRAD"), ids));
        }
    }

    private static void merge(Operations registry) {
        Operation.define("merge_selected_rows").in("X").out("Out").values("X").infer(inference -> {
            ArgType x = requireRows(inference);
            long[] rows = inference.values("X");
            inference.set("Out", 0, ArgType.rows(x.dtype(), rows == null ? -1 : unique(rows).length, x.dims()));
        }).lower(l -> {
            long[] rows = Objects.requireNonNull(l.values("X"));
            long[] unique = unique(rows);
            long[] places = Arrays.stream(rows).map(row -> Arrays.binarySearch(unique, row)).toArray();
            l.into(Copy.PLAIN, List.of(l.constant(Tensor.of(unique, unique.length))),
                    List.of(l.outputRowIndexes("Out")));
            l.out("Out",
                    l.run(new ScatterNd(ScatterNd.Function.ADD), l.fill(0, l.output("Out").spec()),
                            l.constant(Tensor.of(places, places.length, 1)),
                            l.in("X")));
        }).register(registry);
    }

    private static ArgType requireRows(Inference inference) {
        ArgType x = inference.in("X");
        inference.require(x.kind() == ArgType.Kind.ROWS, "X must hold some rows of a tensor (SELECTED_ROWS), but is %s",
                x);
        return x;
    }

    private static long[] unique(long[] rows) {
        return Arrays.stream(rows).sorted().distinct().toArray();
    }

    /** The values alone: one for each row that is there. */
    private static void values(Operations registry) {
        Operation.define("get_tensor_from_selected_rows").in("X").out("Out").infer(inference -> {
            ArgType x = requireRows(inference);
            long[] dims = x.dims();
            dims[0] = x.rowCount() < 0 ? dims[0] : x.rowCount();
            inference.set("Out", x.dtype(), dims);
        }).lower(l -> l.out("Out", l.in("X"))).register(registry);
    }
}
