package io.seriatim.graph.ops.recommendation;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.OneRun;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What operations of recommendation refuse: each error names the operation and what is wrong. */
class RefusedRankingTest {
    private static final Map<String, Tensor> FEEDS = Map.ofEntries(Map.entry("floats", Tensor.of(new float[6], 3, 2)),
            Map.entry("column", Tensor.of(new float[3], 3, 1)), Map.entry("two", Tensor.of(new float[2], 2)),
            Map.entry("six", Tensor.of(new float[12], 6, 2)), Map.entry("labels", Tensor.of(new long[]{0, 7, 1}, 3, 1)),
            Map.entry("right", Tensor.of(new long[]{0, 1, 1}, 3, 1)),
            Map.entry("negative", Tensor.of(new long[]{0, -1, 1}, 3)),
            Map.entry("falling", Tensor.of(new long[]{0, 2, 1}, 3)),
            Map.entry("paths", Tensor.of(new long[]{0, 9, 1}, 3, 1)),
            Map.entry("none", Tensor.of(new float[0], 3, 0)));

    private record Refusal(OpDesc.Builder op, List<String> parts) {
        void check() {
            OpDesc desc = op.build();
            String message = String.valueOf(
                    assertThrows(IllegalArgumentException.class, () -> OneRun.of(FEEDS, desc)).getMessage());
            for (String part : parts) {
                assertTrue(message.contains(part), () -> "'" + part + "' is not in: " + message);
            }
            assertTrue(message.contains(desc.type()), message);
        }
    }

    private static Refusal of(OpDesc.Builder op, String... parts) {
        return new Refusal(op, List.of(parts));
    }

    private static OpDesc.Builder nce(String label, int classes, int samples, int sampler) {
        return OpDesc.of("nce").in("Input", "floats").in("Label", label).in("Weight", "six").out("Cost", "cost")
                .out("SampleLogits", "logits").out("SampleLabels", "samples").attr("num_total_classes", classes)
                .attr("num_neg_samples", samples).attr("sampler", sampler).attr("seed", 1);
    }

    private static OpDesc.Builder tree(String label, int classes) {
        return OpDesc.of("hierarchical_sigmoid").in("X", "floats").in("W", "six").in("Label", label).out("Out", "out")
                .out("PreOut", "pre").attr("num_classes", classes);
    }

    private static OpDesc.Builder centers(String label, int classes, int samples) {
        return OpDesc.of("class_center_sample").in("Label", label).out("RemappedLabel", "remapped")
                .out("SampledLocalClassCenter", "sampled").attr("num_classes", classes).attr("num_samples", samples);
    }

    private static OpDesc.Builder margin(String label) {
        return OpDesc.of("margin_cross_entropy").in("Logits", "floats").in("Label", label).out("Softmax", "softmax")
                .out("Loss", "loss");
    }

    private static OpDesc.Builder segments(String ids) {
        return OpDesc.of("segment_pool").in("X", "floats").in("SegmentIds", ids).out("Out", "out");
    }

    @TestFactory
    Stream<DynamicTest> refused() {
        return Stream.of(of(nce("labels", 6, 2, 0), "Label", "0 to 5", "is 7"),
                of(nce("right", 5, 2, 0), "Weight", "[6, 2]"), of(nce("right", 6, -1, 0), "num_neg_samples", "is -1"),
                of(nce("right", 6, 2, 3), "sampler", "is 3"), of(nce("right", 6, 2, 2), "CustomDistProbs"),
                of(nce("right", 6, 2, 0).attr("custom_neg_classes", new int[]{1, 9}), "is 9"),
                of(nce("right", 6, 2, 0).attr("custom_neg_classes", new int[]{1}), "custom_neg_classes", "has 1"),
                of(tree("labels", 7), "Label", "is 7"), of(tree("right", 1), "num_classes", "is 1"),
                of(tree("right", 40), "paths", "0 to 5"),
                of(tree("right", 7).in("PathTable", "paths").in("PathCode", "right"), "paths", "is 9"),
                of(tree("right", 7).in("PathTable", "paths"), "PathTable and PathCode"),
                of(centers("labels", 5, 3), "Label", "is 7"), of(centers("right", 5, 6), "num_samples", "is 6"),
                of(centers("right", 0, 0), "num_samples", "is 0"), of(margin("labels"), "Label", "is 7"),
                of(margin("right").attr("nranks", 2), "2 processes"),
                of(OpDesc.of("cvm").in("X", "column").in("CVM", "floats").out("Y", "y"), "X", "[3, 1]"),
                of(OpDesc.of("hash").in("X", "labels").out("Out", "y").attr("mod_by", 0L), "mod_by"),
                of(OpDesc.of("hash").in("X", "labels").out("Out", "y").attr("num_hash", 0), "num_hash", "is 0"),
                of(OpDesc.of("data_norm").in("X", "floats").in("BatchSize", "two").in("BatchSum", "two")
                        .in("BatchSquareSum", "column").out("Y", "y").out("Means", "m").out("Scales", "s"),
                        "BatchSquareSum", "[3, 1]"),
                of(OpDesc.of("data_norm").in("X", "floats").in("BatchSize", "two").in("BatchSum", "two")
                        .in("BatchSquareSum", "two").out("Y", "y").out("Means", "m").out("Scales", "s")
                        .attr("slot_dim", 3), "slot_dim", "3"),
                of(OpDesc.of("bpr_loss").in("X", "floats").in("Label", "labels").out("Y", "y"), "Label", "is 7"),
                of(OpDesc.of("rank_loss").in("Label", "column").in("Left", "floats").in("Right", "column").out("Out",
                        "y"),
                        "Left", "[3, 2]"),
                of(segments("negative"), "SegmentIds", "element 1 is -1"),
                of(segments("falling"), "SegmentIds", "element 2 is 1"),
                of(segments("right").attr("pooltype", "PROD"), "pooltype", "'PROD'"),
                of(OpDesc.of("precision_recall").in("MaxProbs", "column").in("Indices", "right").in("Labels", "labels")
                        .out("BatchMetrics", "a").out("AccumMetrics", "b").out("AccumStatesInfo", "c")
                        .attr("class_number", 2), "Labels", "is 7"),
                of(OpDesc.of("positive_negative_pair").in("Score", "floats").in("Label", "column")
                        .in("QueryID", "right")
                        .out("PositivePair", "a").out("NegativePair", "b").attr("column", 2), "column", "is 2"),
                of(OpDesc.of("sampling_id").in("X", "none").out("Out", "y"), "X", "[3, 0]"),
                of(OpDesc.of("fc").in("Input", "floats").in("W", "six").out("Out", "y"), "W", "2 inputs"),
                of(OpDesc.of("fc").in("Input", "floats").in("W", "floats").out("Out", "y").attr("in_num_col_dims", 2),
                        "in_num_col_dims", "is 2"),
                of(OpDesc.of("skip_layernorm").in("X", "floats").in("Y", "floats").in("Scale", "column")
                        .in("Bias", "two")
                        .out("Out", "y").attr("epsilon", 1e-5f).attr("begin_norm_axis", 1), "Scale", "2 elements"),
                of(OpDesc.of("self_dp_attention").in("X", "floats").out("Out", "y"), "X", "[3, 2]"))
                .map(refusal -> DynamicTest.dynamicTest(refusal.op.build().type() + refusal.parts, refusal::check));
    }
}
