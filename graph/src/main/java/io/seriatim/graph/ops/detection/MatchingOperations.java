package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Greedy matching of rows to columns of a matrix of similarities. */
public final class MatchingOperations {
    private static final Set<String> MATCH_TYPES = Set.of("bipartite", "per_prediction");

    private MatchingOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("bipartite_match").in("DistMat").out("ColToRowMatchIndices", "ColToRowMatchDist")
                .readsLod("DistMat").sharesNoLod().attr("match_type", "bipartite").attr("dist_threshold", 0.5f)
                .infer(MatchingOperations::inferMatch).lower(MatchingOperations::match).register(registry);
    }

    private static void inferMatch(Inference inference) {
        Shapes.requireFloats(inference, "DistMat");
        long[] dims = Shapes.require(inference, "DistMat", -1, -1);
        String type = inference.attrs().getText("match_type");
        inference.require(MATCH_TYPES.contains(type), "match_type must be bipartite or per_prediction, but is %s",
                type);
        if (inference.isForRun()) {
            dims[0] = inference.hasLod("DistMat") ? inference.sequences("DistMat") : 1;
        }
        inference.set("ColToRowMatchIndices", DType.INT32, dims);
        inference.set("ColToRowMatchDist", inference.dtype("DistMat"), dims);
    }

    private static void match(Lowering l) {
        boolean each = l.attrs().getText("match_type").equals("per_prediction");
        double threshold = l.attrs().getFloat("dist_threshold");
        int rows = Math.toIntExact(l.in("DistMat").dim(0));
        int columns = Math.toIntExact(l.in("DistMat").dim(1));
        Precision precision = Precision.of(l.in("DistMat").dtype());
        List<@Nullable Operand> to = new ArrayList<>();
        to.add(l.wants("ColToRowMatchIndices") ? l.output("ColToRowMatchIndices") : null);
        to.add(l.wants("ColToRowMatchDist") ? l.output("ColToRowMatchDist") : null);
        l.call("bipartite_match", (in, out) -> {
            double[] similarities = Objects.requireNonNull(in.getFirst()).toDoubleArray();
            Tensor lod = in.get(1);
            long[] starts = lod == null || lod.shape().size() == 0
                    ? new long[]{0, rows}
                    : SequenceOffsets.of("bipartite_match", "DistMat", lod, rows);
            BipartiteMatch match = new BipartiteMatch(similarities, columns, starts.length - 1, precision);
            for (int i = 0; i + 1 < starts.length; i++) {
                match.match(i, (int) starts[i], (int) starts[i + 1]);
                if (each) {
                    match.matchRest(i, (int) starts[i], (int) starts[i + 1], threshold);
                }
            }
            Tensor indices = out.get(0);
            if (indices != null) {
                Elements.write(match.rows(), indices);
            }
            Tensor distances = out.get(1);
            if (distances != null) {
                Elements.write(match.distances(), distances);
            }
        }, List.of(l.in("DistMat"), l.lod("DistMat")), to);
    }
}
