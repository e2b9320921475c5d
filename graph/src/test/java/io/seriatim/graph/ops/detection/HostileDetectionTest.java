package io.seriatim.graph.ops.detection;

import static io.seriatim.graph.ops.SmallProgram.refused;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Attributes, shapes and values of operations on boxes that are refused. */
class HostileDetectionTest {
    private static final float[] ONES = {1, 1, 1, 1};
    private static final float[] NAN = {1, Float.NaN, 1, 1};

    private static OneOperation yolo() {
        return new OneOperation("yolo_box").in("X", FLOAT32, 2, 14, 3, 3).in("ImgSize", INT32, 2, 2)
                .attr("anchors", new int[]{4, 5, 6, 7}).attr("class_num", 2).out("Boxes", "Scores");
    }

    private static OneOperation loss() {
        return new OneOperation("yolov3_loss").in("X", FLOAT32, 2, 14, 3, 3).in("GTBox", FLOAT32, 2, 5, 4)
                .in("GTLabel", INT32, 2, 5).attr("anchors", new int[]{4, 5, 6, 7, 8, 9})
                .attr("anchor_mask", new int[]{0, 2}).attr("class_num", 2)
                .out("Loss", "ObjectnessMask", "GTMatchMask");
    }

    private static OneOperation prior() {
        return new OneOperation("prior_box").in("Input", FLOAT32, 1, 2, 3, 4).in("Image", FLOAT32, 1, 3, 30, 40)
                .attr("min_sizes", new float[]{4}).attr("aspect_ratios", new float[]{2}).attr("variances", ONES)
                .out("Boxes", "Variances");
    }

    private static OneOperation density() {
        return new OneOperation("density_prior_box").in("Input", FLOAT32, 1, 2, 3, 4)
                .in("Image", FLOAT32, 1, 3, 30, 40).attr("fixed_sizes", new float[]{4})
                .attr("fixed_ratios", new float[]{2}).attr("densities", new int[]{2}).attr("variances", ONES)
                .out("Boxes", "Variances");
    }

    private static OneOperation anchors() {
        return new OneOperation("anchor_generator").in("Input", FLOAT32, 1, 2, 3, 4)
                .attr("anchor_sizes", new float[]{8}).attr("aspect_ratios", new float[]{1}).attr("variances", ONES)
                .out("Anchors", "Variances");
    }

    private static OneOperation coder() {
        return new OneOperation("box_coder").in("PriorBox", FLOAT32, 3, 4).in("TargetBox", FLOAT32, 2, 3, 4)
                .attr("code_type", "decode_center_size").out("OutputBox");
    }

    private static OneOperation suppression(String type) {
        return new OneOperation(type).in("BBoxes", FLOAT32, 2, 5, 4).in("Scores", FLOAT32, 2, 3, 5)
                .attr("score_threshold", 0.1f).attr("nms_top_k", 5).attr("keep_top_k", 5).out("Out", "Index");
    }

    private static OneOperation retinanet() {
        return suppression("retinanet_detection_output").in("Scores", FLOAT32, 2, 5, 3).in("Anchors", FLOAT32, 5, 4)
                .in("ImInfo", FLOAT32, 2, 3).attr("nms_threshold", 0.1f).attr("nms_eta", 1f);
    }

    private static OneOperation proposals(String type, String sizes) {
        return new OneOperation(type).in("Scores", FLOAT32, 2, 3, 4, 5).in("BboxDeltas", FLOAT32, 2, 12, 4, 5)
                .in(sizes, FLOAT32, 2, 3).in("Anchors", FLOAT32, 4, 5, 3, 4).in("Variances", FLOAT32, 4, 5, 3, 4)
                .attr("pre_nms_topN", 5).attr("post_nms_topN", 5).attr("nms_thresh", 0.5f).attr("min_size", 1f)
                .attr("eta", 1f).out("RpnRois", "RpnRoiProbs");
    }

    private static OneOperation levels() {
        return new OneOperation("distribute_fpn_proposals").in("FpnRois", FLOAT32, 7, 4).in("RoisNum", INT32, 2)
                .attr("min_level", 2).attr("max_level", 2).attr("refer_level", 2).attr("refer_scale", 16)
                .out("MultiFpnRois", "RestoreIndex");
    }

    private static OneOperation collected() {
        return new OneOperation("collect_fpn_proposals").in("MultiLevelRois", FLOAT32, 7, 4)
                .in("MultiLevelScores", FLOAT32, 7, 1).attr("post_nms_topN", 3).out("FpnRois");
    }

    private static DynamicTest of(OneOperation operation, String... parts) {
        return DynamicTest.dynamicTest(String.join(" ", parts), () -> operation.isRefused(parts));
    }

    @TestFactory
    Stream<DynamicTest> predictions() {
        return Stream.of(of(yolo().attr("anchors", new int[0]), "anchors", "[]"),
                of(yolo().attr("anchors", new int[]{1, 2, 3}), "anchors", "[1, 2, 3]"),
                of(yolo().attr("anchors", new int[]{4, 0, 6, 7}), "anchors", "[4, 0, 6, 7]"),
                of(yolo().attr("class_num", 0), "class_num", "0"),
                of(yolo().attr("class_num", Integer.MAX_VALUE), "X", "[2, 14, 3, 3]"),
                of(yolo().attr("downsample_ratio", -1), "downsample_ratio", "-1"),
                of(yolo().attr("iou_aware", true), "X", "16"),
                of(yolo().in("X", FLOAT32, 2, 14, 3), "X", "[2, 14, 3]"),
                of(yolo().in("X", FLOAT32, 2, -1, 3, 3), "channels"),
                of(yolo().in("X", INT32, 2, 14, 3, 3), "X", "int32"),
                of(yolo().in("ImgSize", INT64, 2, 2), "ImgSize", "int64"),
                of(yolo().in("ImgSize", INT32, 1, 2), "ImgSize", "[1, 2]"),
                of(loss().attr("anchor_mask", new int[]{0, 3}), "anchor_mask", "[0, 3]"),
                of(loss().attr("anchor_mask", new int[0]), "anchor_mask", "[]"),
                of(loss().attr("scale_x_y", Float.NaN), "scale_x_y", "NaN"),
                of(loss().in("X", FLOAT32, 2, 14, 3, 4), "X", "[2, 14, 3, 4]"),
                of(loss().in("GTBox", FLOAT32, 2, 5, 5), "GTBox", "[2, 5, 5]"),
                of(loss().in("GTLabel", INT32, 2, 4), "GTLabel", "[2, 4]"),
                of(loss().in("GTScore", FLOAT32, 2), "GTScore", "[2]"),
                of(loss().in("GTScore", FLOAT64, 2, 5), "GTScore", "float64"));
    }

    @TestFactory
    Stream<DynamicTest> boxesOfPoints() {
        return Stream.of(of(prior().attr("min_sizes", new float[]{0}), "min_sizes", "[0.0]"),
                of(prior().attr("max_sizes", new float[]{5, 6}), "max_sizes", "2"),
                of(prior().attr("max_sizes", new float[]{3}), "max_sizes", "3.0"),
                of(prior().attr("aspect_ratios", new float[]{-2}), "aspect_ratios", "[-2.0]"),
                of(prior().attr("variances", new float[]{1}), "variances", "[1.0]"),
                of(prior().attr("variances", NAN), "variances", "NaN"),
                of(prior().attr("offset", Float.POSITIVE_INFINITY), "offset", "Infinity"),
                of(prior().attr("step_w", Float.NaN), "step_w", "NaN"),
                of(prior().in("Image", FLOAT32, 1, 3, 30), "Image", "[1, 3, 30]"),
                of(prior().in("Image", FLOAT32, 1, 3, 0, 4), "Image", "[1, 3, 0, 4]"),
                of(prior().in("Input", FLOAT32, 1, 2, 1L << 20, 1L << 20), "too many"),
                of(prior().in("Input", FLOAT32, 1, 2, 1L << 40, 1L << 22), "do not fit"),
                of(density().attr("densities", new int[]{0}), "densities", "[0]"),
                of(density().attr("densities", new int[]{1, 2}), "fixed_sizes", "2"),
                of(density().attr("densities", new int[]{Integer.MAX_VALUE}), "do not fit"),
                of(density().attr("densities", new int[]{100_000}), "too many"),
                of(density().attr("fixed_ratios", new float[]{Float.NaN}), "fixed_ratios", "NaN"),
                of(anchors().attr("stride", new float[]{4}), "stride", "[4.0]"),
                of(anchors().attr("stride", new float[]{4, 0}), "stride", "0.0"),
                of(anchors().attr("anchor_sizes", new float[]{-1}), "anchor_sizes", "-1.0"),
                of(anchors().in("Input", FLOAT32, 1, 2, 3), "Input", "[1, 2, 3]"));
    }

    @TestFactory
    Stream<DynamicTest> boxes() {
        return Stream.of(of(coder().attr("axis", 2), "axis", "2"),
                of(coder().attr("axis", 1), "TargetBox", "[2, 3, 4]"),
                of(coder().attr("code_type", "center"), "code_type", "center"),
                of(coder().attr("variance", new float[]{1, 2}), "variance", "[1.0, 2.0]"),
                of(coder().attr("variance", ONES).in("PriorBoxVar", FLOAT32, 3, 4), "variance", "PriorBoxVar"),
                of(coder().in("PriorBoxVar", FLOAT32, 2, 4), "PriorBoxVar", "[2, 4]"),
                of(coder().in("PriorBox", FLOAT32, 3, 5), "PriorBox", "[3, 5]"),
                of(coder().attr("code_type", "encode_center_size"), "TargetBox", "[2, 3, 4]"),
                of(new OneOperation("iou_similarity").in("X", FLOAT32, 3, 4).in("Y", FLOAT32, 3, 5).out("Out"), "Y",
                        "[3, 5]"),
                of(new OneOperation("box_clip").in("Input", FLOAT32, 3, 4).in("ImInfo", FLOAT32, 2, 3).out("Output"),
                        "ImInfo", "2"),
                of(new OneOperation("box_clip").in("Input", FLOAT32, 3, 5).in("ImInfo", FLOAT32, 1, 3).out("Output"),
                        "Input", "[3, 5]"),
                of(new OneOperation("polygon_box_transform").in("Input", FLOAT32, 1, 3, 2, 2).out("Output"), "Input",
                        "3"),
                of(new OneOperation("box_decoder_and_assign").in("PriorBox", FLOAT32, 3, 4)
                        .in("PriorBoxVar", FLOAT32, 4).in("TargetBox", FLOAT32, 3, 8).in("BoxScore", FLOAT32, 3, 3)
                        .out("DecodeBox", "OutputAssignBox"), "TargetBox", "[3, 8]"),
                of(new OneOperation("bipartite_match").in("DistMat", FLOAT32, 3, 4).attr("match_type", "best")
                        .out("ColToRowMatchIndices", "ColToRowMatchDist"), "match_type", "best"),
                of(new OneOperation("bipartite_match").in("DistMat", FLOAT32, 3)
                        .out("ColToRowMatchIndices", "ColToRowMatchDist"), "DistMat", "[3]"));
    }

    @TestFactory
    Stream<DynamicTest> suppressions() {
        Stream<DynamicTest> each = Stream
                .of("multiclass_nms", "multiclass_nms2", "multiclass_nms3", "locality_aware_nms", "matrix_nms")
                .flatMap(type -> Stream.of(of(suppression(type).in("BBoxes", FLOAT32, 2, 5, 5), type, "BBoxes", "5"),
                        of(suppression(type).in("BBoxes", FLOAT32, 2, 6, 4), type, "BBoxes", "[2, 6, 4]"),
                        of(suppression(type).in("BBoxes", FLOAT64, 2, 5, 4), type, "BBoxes", "float64"),
                        of(suppression(type).in("Scores", FLOAT32, 2, 3, 5, 1), type, "Scores", "[2, 3, 5, 1]")));
        return Stream.concat(each,
                Stream.of(of(suppression("multiclass_nms3").in("RoisNum", FLOAT32, 2), "RoisNum", "float32"),
                        of(suppression("multiclass_nms3").in("RoisNum", INT32, 2, 1), "RoisNum", "[2, 1]"),
                        of(new OneOperation("nms").in("Boxes", FLOAT32, 3, 5).out("KeepBoxesIdxs"), "Boxes", "[3, 5]"),
                        of(retinanet().in("Anchors", FLOAT32, 4, 4), "level 0", "4"),
                        of(retinanet().in("ImInfo", FLOAT32, 2, 2), "ImInfo", "[2, 2]"),
                        of(retinanet().in("Scores", FLOAT32, 2, 4, 3), "level 0", "4")));
    }

    @TestFactory
    Stream<DynamicTest> regions() {
        return Stream.concat(
                Stream.of("ImInfo", "ImShape").flatMap(sizes -> {
                    String type = sizes.equals("ImInfo") ? "generate_proposals" : "generate_proposals_v2";
                    return Stream.of(
                            of(proposals(type, sizes).in("BboxDeltas", FLOAT32, 2, 11, 4, 5), type, "BboxDeltas"),
                            of(proposals(type, sizes).in("Anchors", FLOAT32, 4, 5, 2, 4), type, "Anchors", "60"),
                            of(proposals(type, sizes).in("Variances", FLOAT32, 3), type, "Variances", "3"),
                            of(proposals(type, sizes).in(sizes, FLOAT32, 2, 1), type, sizes, "1"),
                            of(proposals(type, sizes).in(sizes, FLOAT32, 1, 3), type, sizes, "[1, 3]"));
                }),
                Stream.of(of(levels().attr("max_level", 1), "0"),
                        of(levels().attr("max_level", 3), "MultiFpnRois", "2"),
                        of(levels().attr("max_level", Integer.MAX_VALUE).attr("min_level", Integer.MIN_VALUE),
                                "levels"),
                        of(levels().attr("refer_scale", 0), "refer_scale", "0"),
                        of(levels().in("FpnRois", FLOAT32, 7, 5), "FpnRois", "[7, 5]"),
                        of(collected().attr("post_nms_topN", -1), "post_nms_topN", "-1"),
                        of(collected().in("MultiLevelScores", FLOAT32, 6, 1), "level 0", "6"),
                        of(collected().in("MultiLevelRoIsNum", INT32, 2, 2), "MultiLevelRoIsNum", "[2, 2]")));
    }

    private static OpDesc.Builder rows() {
        return OpDesc.of("multiclass_nms3").in("BBoxes", "b").in("Scores", "s").out("Out", "o").out("Index", "i")
                .attr("score_threshold", 0f).attr("nms_top_k", 5).attr("keep_top_k", 5);
    }

    @Test
    void numbersOfRowsThatDoNotFitAreRefused() {
        Tensor boxes = Tensor.of(new float[24], 3, 2, 4);
        Tensor scores = Tensor.of(new float[6], 3, 2);
        for (long[] counts : List.of(new long[]{4}, new long[]{2, -1}, new long[]{Integer.MAX_VALUE, Integer.MAX_VALUE},
                new long[]{1L << 62, 1L << 62, 1L << 62})) {
            refused(rows().in("RoisNum", "n").build(),
                    Map.of("b", boxes, "s", scores, "n", Tensor.of(counts, counts.length)), "multiclass_nms3",
                    "RoisNum");
        }
        refused(rows().build(), Map.of("b", boxes, "s", scores), "multiclass_nms3", "BBoxes", "LoD");
        refused(rows().build(),
                Map.of("b", boxes.withLod(Lod.of(new long[]{0, 1}, new long[]{0, 3})), "s", scores),
                "multiclass_nms3", "BBoxes", "one level");
    }

    @Test
    void trueBoxesOutsideTheImageAreRefused() {
        OpDesc loss = OpDesc.of("yolov3_loss").in("X", "x").in("GTBox", "b").in("GTLabel", "l").out("Loss", "y")
                .out("ObjectnessMask", "o").out("GTMatchMask", "m").attr("anchors", new int[]{8, 8})
                .attr("anchor_mask", new int[]{0}).build();
        Tensor x = Tensor.of(new float[24], 1, 6, 2, 2);
        Tensor label = Tensor.of(INT32, new long[1], 1, 1);
        for (float[] box : List.of(new float[]{1, 0.5f, 0.1f, 0.1f}, new float[]{0.5f, -1, 0.1f, 0.1f},
                new float[]{Float.NaN, 0, 1, 1}, new float[]{0, Float.POSITIVE_INFINITY, 1, 1})) {
            refused(loss, Map.of("x", x, "b", Tensor.of(box, 1, 1, 4), "l", label), "yolov3_loss", "GTBox", "number 0");
        }
    }

    @Test
    void matchesOfOtherAnchorsAreRefused() {
        OpDesc gradient = OpDesc.of("yolov3_loss_grad").in("X", "x").in("GTBox", "b").in("GTLabel", "l")
                .in("Loss@GRAD", "d").in("ObjectnessMask", "o").in("GTMatchMask", "m").out("X@GRAD", "dx")
                .attr("anchors", new int[]{8, 8}).attr("anchor_mask", new int[]{0}).build();
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[24], 1, 6, 2, 2), "b",
                Tensor.of(new float[]{0.5f, 0.5f, 0.1f, 0.1f}, 1, 1, 4), "l", Tensor.of(INT32, new long[1], 1, 1), "d",
                Tensor.of(new float[1], 1), "o", Tensor.of(new float[4], 1, 1, 2, 2), "m",
                Tensor.of(INT32, new long[]{1}, 1, 1));
        refused(gradient, feeds, "yolov3_loss_grad", "GTMatchMask", "1");
    }
}
