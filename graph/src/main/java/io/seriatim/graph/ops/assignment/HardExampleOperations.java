package io.seriatim.graph.ops.assignment;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The boxes of an image with the largest losses, as SSD is trained with (Liu et al., 2016). */
public final class HardExampleOperations {
    private HardExampleOperations() {
    }

    public static void register(Operations registry) {
        Operation.Builder operation = Operation.define("mine_hard_examples")
                .in("ClsLoss", "LocLoss?", "MatchIndices", "MatchDist").out("NegIndices", "UpdatedMatchIndices")
                .attr("neg_pos_ratio", 1f).attr("neg_dist_threshold", 0.5f).attr("sample_size", 0)
                .attr("mining_type", "max_negative");
        Labels.define(operation, new String[]{"ClsLoss", "LocLoss", "MatchIndices", "MatchDist"}, new String[0],
                new String[]{"NegIndices"}, HardExampleOperations::infer, HardExampleOperations::mine)
                .register(registry);
    }

    private static void infer(Inference inference) {
        long[] dims = inference.dims("MatchIndices");
        for (String slot : List.of("ClsLoss", "LocLoss", "MatchIndices", "MatchDist")) {
            if (inference.has(slot)) {
                long[] own = inference.dims(slot);
                boolean alike = own.length == 2 && dims.length == 2;
                for (int i = 0; alike && i < 2; i++) {
                    alike = own[i] < 0 || dims[i] < 0 || own[i] == dims[i];
                }
                inference.require(alike, "%s must be [images, boxes] as MatchIndices is, but they are %s and %s", slot,
                        Numbers.text(own), Numbers.text(dims));
            }
        }
        Attrs attrs = inference.attrs();
        String type = attrs.getText("mining_type");
        inference.require(type.equals("max_negative") || type.equals("hard_example"),
                "the attribute 'mining_type' must be max_negative or hard_example, but is '%s'", type);
        float ratio = attrs.getFloat("neg_pos_ratio");
        float threshold = attrs.getFloat("neg_dist_threshold");
        boolean isHard = type.equals("hard_example");
        inference.require(isHard || ratio > 0, "the attribute 'neg_pos_ratio' must be greater than 0, but is %s",
                ratio);
        inference.require(isHard || (threshold > 0 && threshold < 1),
                "the attribute 'neg_dist_threshold' must be between 0 and 1, but is %s", threshold);
        inference.require(!isHard || attrs.getInt("sample_size") > 0,
                "the attribute 'sample_size' must be from 1 on, but is %d", attrs.getInt("sample_size"));
        inference.set("NegIndices", DType.INT32, -1, 1);
        inference.set("UpdatedMatchIndices", inference.dtype("MatchIndices"), dims);
    }

    private static ComputedOutputs mine(Given given) {
        Attrs attrs = given.attrs();
        boolean isHard = attrs.getText("mining_type").equals("hard_example");
        double[] losses = given.numbers("ClsLoss").clone();
        if (isHard && given.has("LocLoss")) {
            double[] more = given.numbers("LocLoss");
            Arrays.setAll(losses, i -> losses[i] + more[i]);
        }
        double[] matches = given.numbers("MatchIndices").clone();
        double[] distances = given.numbers("MatchDist");
        long[] shape = given.dims("MatchIndices");
        int boxes = Math.toIntExact(shape[1]);
        List<Integer> negative = new ArrayList<>();
        long[] ends = new long[Math.toIntExact(shape[0]) + 1];
        for (int n = 0; n + 1 < ends.length; n++) {
            int first = n * boxes;
            List<Integer> eligible = new ArrayList<>();
            int matched = 0;
            for (int i = first; i < first + boxes; i++) {
                matched += matches[i] == -1 ? 0 : 1;
                if (isHard || (matches[i] == -1 && distances[i] < attrs.getFloat("neg_dist_threshold"))) {
                    eligible.add(i);
                }
            }
            int most = isHard ? attrs.getInt("sample_size") : (int) (matched * attrs.getFloat("neg_pos_ratio"));
            eligible.sort(Comparator.comparingDouble((Integer i) -> -losses[i]));
            Set<Integer> chosen = new HashSet<>(eligible.subList(0, Math.min(most, eligible.size())));
            for (int i = first; i < first + boxes; i++) {
                if (matches[i] > -1 && isHard && !chosen.contains(i)) {
                    matches[i] = -1;
                } else if (chosen.contains(i) && !(isHard && matches[i] > -1)) {
                    negative.add(i - first);
                }
            }
            ends[n + 1] = negative.size();
        }
        ComputedOutputs results = new ComputedOutputs();
        results.add("NegIndices", DType.INT32, negative.stream().mapToDouble(Integer::doubleValue).toArray(),
                Lod.of(ends), negative.size(), 1);
        results.add("UpdatedMatchIndices", given.dtype("MatchIndices"), matches, Lod.NONE, shape);
        return results;
    }
}
