package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;

/** Decoding with several candidates a sequence. */
public final class BeamOperations {
    private static final String TREE = "gather_tree";

    private BeamOperations() {
    }

    public static void register(Operations registry) {
        tree(registry);
    }

    /** Whole sequences out of the tokens of each step and the candidates that each token continues. */
    private static void tree(Operations registry) {
        Operation.define(TREE).in("Ids", "Parents").out("Out").infer(inference -> {
            DType dtype = inference.dtype("Ids");
            inference.require((dtype == DType.INT32 || dtype == DType.INT64) && dtype == inference.dtype("Parents"),
                    "Ids and Parents must both be int32 or int64, but are %s and %s", dtype,
                    inference.dtype("Parents"));
            long[] ids = inference.dims("Ids");
            long[] parents = inference.dims("Parents");
            boolean alike = ids.length == 3 && parents.length == 3;
            for (int i = 0; alike && i < 3; i++) {
                alike = ids[i] < 0 || parents[i] < 0 || ids[i] == parents[i];
            }
            inference.require(alike,
                    "Ids and Parents must have one shape [steps, batch, candidates], but have %s and %s",
                    Arrays.toString(ids), Arrays.toString(parents));
            inference.same("Ids", "Out");
        }).lower(l -> l.call(TREE, (in, out) -> {
            Tensor ids = Checks.tensor(in, 0);
            Elements.write(tree(ids, Checks.tensor(in, 1).toLongArray()),
                    Checks.tensor(out, 0));
        }, List.of(l.in("Ids"), l.in("Parents")), List.of(l.output("Out")))).register(registry);
    }

    private static long[] tree(Tensor given, long[] parents) {
        long[] ids = given.toLongArray();
        int steps = Checks.dim(given, 0);
        int width = Checks.dim(given, 2);
        int row = Checks.dim(given, 1) * width;
        long[] tree = new long[ids.length];
        for (int i = 0; steps > 0 && i < row; i++) {
            int first = i - i % width;
            int from = i;
            for (int step = steps - 1; step >= 0; step--) {
                tree[step * row + i] = ids[step * row + from];
                int at = step * row + from;
                if (step > 0) {
                    from = first + Checks.within(TREE, "Parents", at, parents[at], 0, width - 1);
                }
            }
        }
        return tree;
    }
}
