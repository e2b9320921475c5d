package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;

/** Regions of images that a network proposes, and their distribution to the levels of a feature pyramid. */
public final class ProposalOperations {
    /** More levels than any pyramid has; their number must not be what is left of an overflow. */
    private static final int MOST_LEVELS = 1024;

    private ProposalOperations() {
    }

    public static void register(Operations registry) {
        generate("generate_proposals", "ImInfo", registry);
        generate("generate_proposals_v2", "ImShape", registry);
        distribute(registry);
        collect(registry);
    }

    private static void generate(String type, String images, Operations registry) {
        boolean first = images.equals("ImInfo");
        Operation.Builder builder = Operation.define(type).in("Scores", "BboxDeltas", images, "Anchors", "Variances")
                .out("RpnRois", "RpnRoiProbs", "RpnRoisNum?").required("pre_nms_topN", Attribute.Int.class)
                .required("post_nms_topN", Attribute.Int.class).required("nms_thresh", Attribute.Real.class)
                .required("min_size", Attribute.Real.class).required("eta", Attribute.Real.class)
                .sharesNoLod();
        if (first) {
            builder.makesLod("RpnRois", "RpnRoiProbs");
        } else {
            builder.attr("pixel_offset", true);
        }
        Given.rules(builder, inference -> inferGenerated(inference, images),
                given -> new Proposals(given, images, first || given.attrs().getBool("pixel_offset"), first)
                        .outputs(given.length("Scores", 0)),
                images, "Scores", "BboxDeltas", "Anchors", "Variances").register(registry);
    }

    private static void inferGenerated(Inference inference, String images) {
        Shapes.requireFloats(inference, "Anchors", "Scores", "BboxDeltas", images, "Variances");
        long[] scores = Shapes.require(inference, "Scores", -1, -1, -1, -1);
        long deltas = scores[1] < 0 ? -1 : Math.multiplyExact(scores[1], BoxCode.SIZE);
        Shapes.require(inference, "BboxDeltas", scores[0], deltas, scores[2], scores[3]);
        requireAnchors(inference, "Anchors", scores);
        requireAnchors(inference, "Variances", scores);
        long[] sizes = Shapes.require(inference, images, scores[0], -1);
        int least = images.equals("ImInfo") ? 3 : 2;
        inference.require(sizes[1] < 0 || sizes[1] >= least, "%s must have %d columns, but has %d", images, least,
                sizes[1]);
        inference.set("RpnRois", inference.dtype("Anchors"), -1, BoxCode.SIZE);
        inference.set("RpnRoiProbs", inference.dtype("Anchors"), -1, 1);
        if (inference.isForRun()) {
            inference.set("RpnRoisNum", DType.INT32, scores[0]);
        } else {
            // PaddlePaddle says nothing of it while a program is built.
            inference.asDeclared("RpnRoisNum");
        }
    }

    /** There is an anchor for each score of an image; the dimensions do not matter. */
    private static void requireAnchors(Inference inference, String slot, long[] scores) {
        long anchors = Inference.size(inference.dims(slot));
        long wanted = Inference.size(scores[1], scores[2], scores[3]);
        inference.require(anchors < 0 || wanted < 0 || anchors == wanted * BoxCode.SIZE,
                "%s must hold 4 numbers for each of the %d scores of an image, but holds %d numbers", slot, wanted,
                anchors);
    }

    private static void distribute(Operations registry) {
        Operation.Builder builder = Operation.define("distribute_fpn_proposals").in("FpnRois", "RoisNum?")
                .out("MultiFpnRois*", "RestoreIndex", "MultiLevelRoIsNum*?").readsLod("FpnRois")
                .makesLod("MultiFpnRois")
                .required("min_level", Attribute.Int.class).required("max_level", Attribute.Int.class)
                .required("refer_level", Attribute.Int.class).required("refer_scale", Attribute.Int.class)
                .attr("pixel_offset", true);
        Given.rules(builder, ProposalOperations::inferDistributed,
                given -> ProposalLevels.distributed(given, ImageRows.starts(given, "RoisNum", "FpnRois")), "FpnRois",
                "RoisNum", LodSlot.of("FpnRois")).register(registry);
    }

    private static void inferDistributed(Inference inference) {
        Shapes.requireFloats(inference, "FpnRois");
        Shapes.require(inference, "FpnRois", -1, BoxCode.SIZE);
        if (inference.has("RoisNum")) {
            Shapes.requireInts(inference, "RoisNum");
            Shapes.require(inference, "RoisNum", -1);
        }
        Attrs attrs = inference.attrs();
        Shapes.atLeast(inference, "refer_scale", 1);
        long levels = attrs.getLong("max_level") - attrs.getLong("min_level") + 1;
        inference.require(levels > 0 && levels <= MOST_LEVELS, "there must be 1 to %d levels, but there are %d",
                MOST_LEVELS, levels);
        inference.require(inference.outputs("MultiFpnRois") == levels,
                "MultiFpnRois must have a variable for each of the %d levels, but has %d", levels,
                inference.outputs("MultiFpnRois"));
        int counted = inference.outputs("MultiLevelRoIsNum");
        inference.require(counted == 0 || counted == levels,
                "MultiLevelRoIsNum must have a variable for each of the %d levels, but has %d", levels, counted);
        for (int i = 0; i < levels; i++) {
            inference.set("MultiFpnRois", i, ArgType.dense(inference.dtype("FpnRois"), -1, BoxCode.SIZE));
            inference.set("MultiLevelRoIsNum", i, ArgType.dense(DType.INT32, -1));
        }
        inference.set("RestoreIndex", DType.INT32, -1, 1);
    }

    private static void collect(Operations registry) {
        Operation.Builder builder = Operation.define("collect_fpn_proposals")
                .in("MultiLevelRois*", "MultiLevelScores*", "MultiLevelRoIsNum*?").out("FpnRois", "RoisNum?")
                .readsLod("MultiLevelRois").makesLod("FpnRois")
                .required("post_nms_topN", Attribute.Int.class);
        Given.rules(builder, ProposalOperations::inferCollected, ProposalOperations::collected, "MultiLevelScores",
                "MultiLevelRois", "MultiLevelRoIsNum", LodSlot.of("MultiLevelRois")).register(registry);
    }

    private static void inferCollected(Inference inference) {
        Shapes.requireFloats(inference, "MultiLevelRois", "MultiLevelScores");
        Shapes.require(inference, "MultiLevelRois", -1, BoxCode.SIZE);
        Shapes.require(inference, "MultiLevelScores", -1, 1);
        int levels = inference.count("MultiLevelRois");
        int counted = inference.count("MultiLevelRoIsNum");
        inference.require(levels > 0 && levels == inference.count("MultiLevelScores")
                && (counted == 0 || counted == levels),
                "MultiLevelRois, MultiLevelScores and MultiLevelRoIsNum must hold one tensor of each level, but hold "
                        + "%d, %d and %d",
                levels, inference.count("MultiLevelScores"), counted);
        for (int i = 0; i < levels; i++) {
            long rows = inference.in("MultiLevelRois", i).dims()[0];
            long scores = inference.in("MultiLevelScores", i).dims()[0];
            inference.require(rows < 0 || scores < 0 || rows == scores,
                    "level %d must have a score for each of its %d boxes, but has %d", i, rows, scores);
        }
        if (counted > 0) {
            Shapes.requireInts(inference, "MultiLevelRoIsNum");
            Shapes.require(inference, "MultiLevelRoIsNum", Shapes.require(inference, "MultiLevelRoIsNum", -1));
        }
        inference.set("FpnRois", inference.dtype("MultiLevelRois"), Shapes.atLeast(inference, "post_nms_topN", 0),
                BoxCode.SIZE);
        inference.set("RoisNum", DType.INT32, -1);
    }

    private static ComputedOutputs collected(Given given) {
        int[][] counts = new int[given.count("MultiLevelRois")][];
        for (int level = 0; level < counts.length; level++) {
            int[] starts = ImageRows.starts(given, "MultiLevelRoIsNum", "MultiLevelRois", level);
            counts[level] = new int[starts.length - 1];
            for (int i = 0; i < counts[level].length; i++) {
                counts[level][i] = starts[i + 1] - starts[i];
            }
        }
        return ProposalLevels.collected(given, counts);
    }
}
