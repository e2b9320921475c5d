package io.seriatim.graph.ops.assignment;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Attributes, offsets and values of the labels of detectors that are refused, and random choices. */
class HostileAssignmentsTest {
    private static Tensor floats(long rows, double... values) {
        return Tensor.of(DType.FLOAT32, values, rows, rows == 0 ? 4 : values.length / rows);
    }

    private static Tensor ints(long... values) {
        return Tensor.of(DType.INT32, values, values.length, 1);
    }

    private static Tensor divided(Tensor tensor, long... lengths) {
        return tensor.withLod(Lod.ofLengths(lengths));
    }

    private static final Tensor BOXES = floats(2, 0, 0, 9, 9, 10, 10, 29, 29);
    private static final Tensor IMAGE = floats(1, 32, 32, 1);

    private static Map<String, Tensor> feeds() {
        return new HashMap<>(Map.of("anchors", floats(3, 0, 0, 9, 8, 11, 10, 30, 29, 1, 20, 5, 30), "boxes",
                divided(BOXES, 2), "crowd", divided(ints(0, 0), 2), "kinds", divided(ints(1, 2), 2), "info", IMAGE,
                "rois", divided(floats(2, 0, 0, 9, 8, 1, 20, 5, 30), 2), "labels", divided(ints(1, 0), 2), "segments",
                floats(3, 0, 0, 9, 0, 9, 9)
                        .withLod(Lod.of(new long[]{0, 2}, new long[]{0, 1, 1}, new long[]{0, 3}))));
    }

    private static OpDesc.Builder rpn() {
        return OpDesc.of("rpn_target_assign").in("Anchor", "anchors").in("GtBoxes", "boxes").in("IsCrowd", "crowd")
                .in("ImInfo", "info").out("LocationIndex", "location").out("ScoreIndex", "score")
                .out("TargetBBox", "target").out("TargetLabel", "label").out("BBoxInsideWeight", "weight")
                .attr("rpn_straddle_thresh", 0f);
    }

    private static OpDesc.Builder proposals() {
        return OpDesc.of("generate_proposal_labels").in("RpnRois", "rois").in("GtClasses", "kinds")
                .in("IsCrowd", "crowd").in("GtBoxes", "boxes").in("ImInfo", "info").out("Rois", "y")
                .out("LabelsInt32", "l").attr("batch_size_per_im", 4).attr("fg_fraction", 0.5f).attr("fg_thresh", 0.5f)
                .attr("bg_thresh_hi", 0.5f).attr("bg_thresh_lo", 0f)
                .attr("bbox_reg_weights", new float[]{1, 1, 1, 1}).attr("class_nums", 3);
    }

    private static OpDesc.Builder masks() {
        return OpDesc.of("generate_mask_labels").in("ImInfo", "info").in("GtClasses", "kinds").in("IsCrowd", "crowd")
                .in("GtSegms", "segments").in("Rois", "rois").in("LabelsInt32", "labels").out("MaskRois", "y")
                .out("RoiHasMaskInt32", "h").out("MaskInt32", "m").attr("num_classes", 3).attr("resolution", 2);
    }

    private static DynamicTest of(String name, OpDesc.Builder operation, UnaryOperator<Map<String, Tensor>> change,
            String... parts) {
        return DynamicTest.dynamicTest(name, () -> refused(operation.build(), change.apply(feeds()), parts));
    }

    private static UnaryOperator<Map<String, Tensor>> with(String name, Tensor tensor) {
        return feeds -> {
            feeds.put(name, tensor);
            return feeds;
        };
    }

    @TestFactory
    Stream<DynamicTest> attributes() {
        UnaryOperator<Map<String, Tensor>> same = UnaryOperator.identity();
        return Stream.of(
                of("no classes", proposals().attr("class_nums", 0), same, "generate_proposal_labels", "class_nums"),
                of("batch", proposals().attr("batch_size_per_im", -1), same, "batch_size_per_im", "-1"),
                of("weights", proposals().attr("bbox_reg_weights", new float[]{1, 0, 1, 1}), same,
                        "bbox_reg_weights"),
                of("one class", proposals().attr("class_nums", 1).attr("is_cls_agnostic", true), same, "class_nums"),
                of("cascade", proposals().attr("is_cascade_rcnn", true), same, "MaxOverlap"),
                of("resolution", masks().attr("resolution", 0), same, "generate_mask_labels", "resolution", "0"),
                of("large masks", masks().attr("resolution", 1 << 20), same, "resolution"),
                of("many masks", masks().attr("resolution", 4096).attr("num_classes", 1 << 10), same, "too large"),
                of("mask classes", masks().attr("num_classes", -3), same, "num_classes", "-3"));
    }

    @TestFactory
    Stream<DynamicTest> values() {
        return Stream.of(of("anchors", rpn(), with("anchors", floats(2, 1, 2, 3, 4, 5, 6)), "Anchor", "[boxes, 4]"),
                of("no offsets", rpn(), with("boxes", BOXES), "rpn_target_assign", "GtBoxes", "LoD"),
                of("offsets", rpn(), with("boxes", divided(BOXES, 1, 1)), "IsCrowd", "2 images"),
                of("crowd", rpn(), with("crowd", divided(ints(0, 0, 0), 3)), "as many rows"),
                of("images", rpn(), with("info", floats(2, 32, 32, 1, 32, 32, 1)), "ImInfo"),
                of("sizes", rpn(), with("info", floats(1, 32, 32)), "ImInfo must be [images, 3]"),
                of("class", proposals(), with("kinds", divided(ints(1, 3), 2)), "GtClasses", "from 0 to 2", "3"),
                of("negative class", proposals(), with("kinds", divided(ints(-1, 1), 2)), "GtClasses", "-1"),
                of("regions", proposals(), with("rois", floats(2, 0, 0, 9, 8, 1, 20, 5, 30)), "RpnRois", "LoD"),
                of("label", masks(), with("labels", divided(ints(3, 0), 2)), "LabelsInt32", "num_classes, 3"),
                of("levels", masks(), with("segments", divided(floats(3, 0, 0, 9, 0, 9, 9), 3)), "GtSegms",
                        "objects, polygons and points"),
                of("no points", masks(),
                        with("segments",
                                floats(3, 0, 0, 9, 0, 9, 9).withLod(
                                        Lod.of(new long[]{0, 2}, new long[]{0, 1, 2}, new long[]{0, 0, 3}))),
                        "polygon 0", "no points"),
                of("no outlines", masks(), with("crowd", divided(ints(1, 1), 2)), "label 1", "no objects"));
    }

    @Test
    void minedExamplesAndPrecisionRefuseWrongAttributes() {
        Map<String, Tensor> feeds = Map.of("x", floats(1, 1, 2), "m", Tensor.of(DType.INT32, new long[]{0, -1}, 1, 2),
                "d", divided(floats(1, 1, 0.5, 0, 0, 1, 1), 1), "l", divided(floats(1, 1, 0, 0, 1, 1), 1));
        OpDesc.Builder mine = OpDesc.of("mine_hard_examples").in("ClsLoss", "x").in("MatchIndices", "m")
                .in("MatchDist", "x").out("NegIndices", "y").out("UpdatedMatchIndices", "z");
        refused(mine.attr("mining_type", "all").build(), feeds, "mine_hard_examples", "'all'");
        refused(mine.attr("mining_type", "hard_example").build(), feeds, "sample_size", "0");
        refused(mine.attr("mining_type", "max_negative").attr("neg_pos_ratio", 0f).build(), feeds, "neg_pos_ratio");
        OpDesc.Builder map = OpDesc.of("detection_map").in("DetectRes", "d").in("Label", "l").out("MAP", "y")
                .out("AccumPosCount", "c").out("AccumTruePos", "t").out("AccumFalsePos", "f");
        refused(map.attr("class_num", 0).build(), feeds, "detection_map", "class_num", "0");
        refused(map.attr("class_num", 2).attr("ap_type", "none").build(), feeds, "ap_type", "'none'");
    }

    /** Coordinates of a polygon far outside do not make the walk along its edges long. */
    @Test
    void hugePolygonsAreMarkedAtOnce() {
        boolean[] mask = new boolean[4];
        PolygonMask.mark(new float[]{-1e30f, -1e30f, 1e30f, -1e30f, 1e30f, 1e30f, -1e30f, 1e30f}, 2, mask);
        assertArrayEquals(new boolean[]{true, true, true, true}, mask);
    }

    @Test
    void randomChoicesAreRepeated() {
        Map<String, Tensor> feeds = feeds();
        OpDesc op = rpn().attr("rpn_batch_size_per_im", 2).attr("rpn_fg_fraction", 0.5f).build();
        long[] first = SmallProgram.run(op, feeds, "score").toLongArray();
        assertEquals(2, first.length);
        assertArrayEquals(first, SmallProgram.run(op, feeds, "score").toLongArray());
    }
}
