package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The boxes that a network of the YOLO family predicts, and the loss that it is trained with. */
public final class YoloOperations {
    /** A prediction has a box, whether there is an object, and a score for each class. */
    private static final int WITHOUT_CLASSES = 5;

    private YoloOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("yolo_box").in("X", "ImgSize").out("Boxes", "Scores").attr("anchors", new int[0])
                .attr("class_num", 1).attr("conf_thresh", 0.01f).attr("downsample_ratio", 32).attr("clip_bbox", true)
                .attr("scale_x_y", 1f).attr("iou_aware", false).attr("iou_aware_factor", 0.5f)
                .infer(YoloOperations::inferBox).lower(YoloOperations::box).register(registry);
        Operation.Builder loss = Operation.define("yolov3_loss").in("X", "GTBox", "GTLabel", "GTScore?")
                .out("Loss", "ObjectnessMask~", "GTMatchMask~").attr("anchors", new int[0])
                .attr("anchor_mask", new int[0]).attr("class_num", 1).attr("ignore_thresh", 0.7f)
                .attr("downsample_ratio", 32).attr("use_label_smooth", true).attr("scale_x_y", 1f)
                .infer(YoloOperations::inferLoss).lower(YoloOperations::loss);
        // PaddlePaddle names gradients of true boxes and their weights, but does not compute them.
        String given = "(X, GTBox, GTLabel, GTScore, Loss@GRAD, ObjectnessMask, GTMatchMask";
        String signature = "yolov3_loss_grad" + given
                + ") -> X@GRAD, GTBox@GRAD, GTLabel@GRAD, GTScore@GRAD";
        String again = "yolov3_loss_grad_grad" + given + ", X@GRAD@GRAD) -> X@GRAD, DDLoss=Loss@GRAD@GRAD";
        Operation.Builder gradient = loss.gradOperation(signature, null).lower(YoloOperations::lossGradient);
        gradient.gradOperation(again, null).lower(YoloOperations::secondLossGradient).register(registry);
        gradient.grad(again).register(registry);
        loss.grad(signature).register(registry);
    }

    private static int anchors(Inference inference) {
        int[] anchors = inference.attrs().getInts("anchors");
        inference.require(anchors.length > 0 && anchors.length % 2 == 0 && Arrays.stream(anchors).allMatch(a -> a > 0),
                "anchors must hold a width and a height of each anchor, but is %s", Numbers.text(anchors));
        return anchors.length / 2;
    }

    private static void inferBox(Inference inference) {
        Shapes.requireFloats(inference, "X");
        int anchors = anchors(inference);
        int classes = Shapes.atLeast(inference, "class_num", 1);
        Shapes.atLeast(inference, "downsample_ratio", 1);
        long channels = (long) anchors * (WITHOUT_CLASSES + (long) classes);
        if (inference.attrs().getBool("iou_aware")) {
            channels += anchors;
            double factor = inference.attrs().getFloat("iou_aware_factor");
            inference.require(factor >= 0 && factor <= 1, "iou_aware_factor must be from 0 to 1, but is %s", factor);
        }
        long[] x = Shapes.require(inference, "X", -1, channels, -1, -1);
        inference.require(x[1] >= 0, "X must have %d channels, but their number is not known", channels);
        inference.require(inference.dtype("ImgSize") == DType.INT32, "ImgSize must hold int32, but holds %s",
                inference.dtype("ImgSize"));
        Shapes.require(inference, "ImgSize", x[0], 2);
        long boxes = x[2] < 0 || x[3] < 0 ? -1 : x[2] * x[3] * anchors;
        inference.set("Boxes", inference.dtype("X"), x[0], boxes, BoxCode.SIZE);
        inference.set("Scores", inference.dtype("X"), x[0], boxes, classes);
    }

    private static void box(Lowering l) {
        Operand x = l.in("X");
        YoloBoxes boxes = new YoloBoxes(l.attrs(), x.shape().dims(), Precision.of(x.dtype()));
        Operand found = l.temporary(l.outType("Boxes", 0).spec());
        Operand scores = l.temporary(l.outType("Scores", 0).spec());
        l.call("yolo_box", (in, out) -> {
            YoloBoxes.Found all = boxes.find(array(in, 0), Objects.requireNonNull(in.get(1)).toLongArray());
            Elements.write(all.boxes, Objects.requireNonNull(out.get(0)));
            Elements.write(all.scores, Objects.requireNonNull(out.get(1)));
        }, List.of(x, l.in("ImgSize")), List.of(found, scores));
        l.out("Boxes", found);
        l.out("Scores", scores);
    }

    private static double[] array(List<@Nullable Tensor> tensors, int index) {
        return Objects.requireNonNull(tensors.get(index)).toDoubleArray();
    }

    private static void inferLoss(Inference inference) {
        checkLoss(inference);
        long[] x = inference.dims("X");
        long boxes = inference.dims("GTBox")[1];
        DType dtype = inference.dtype("X");
        inference.set("Loss", dtype, x[0]);
        inference.set("ObjectnessMask", dtype, x[0], inference.attrs().getInts("anchor_mask").length, x[2], x[3]);
        // While a program is built, PaddlePaddle takes it for floats.
        inference.set("GTMatchMask", inference.isForRun() ? DType.INT32 : dtype, x[0], boxes);
    }

    private static void checkLoss(Inference inference) {
        Shapes.requireFloats(inference, "X", "GTBox", "GTScore");
        Attrs attrs = inference.attrs();
        int anchors = anchors(inference);
        int[] mask = attrs.getInts("anchor_mask");
        inference.require(mask.length > 0 && Arrays.stream(mask).allMatch(m -> m >= 0 && m < anchors),
                "anchor_mask must hold some of the anchors 0 to %d, but is %s", anchors - 1, Numbers.text(mask));
        int classes = Shapes.atLeast(inference, "class_num", 1);
        Shapes.atLeast(inference, "downsample_ratio", 1);
        Shapes.requireFinite(inference, "scale_x_y", "ignore_thresh");
        long channels = mask.length * (WITHOUT_CLASSES + (long) classes);
        long[] x = Shapes.require(inference, "X", -1, channels, -1, -1);
        inference.require(x[2] < 0 || x[3] < 0 || x[2] == x[3], "X must be as high as it is wide, but is %s",
                Numbers.text(x));
        long[] boxes = Shapes.require(inference, "GTBox", x[0], -1, BoxCode.SIZE);
        Shapes.require(inference, "GTLabel", x[0], boxes[1]);
        inference.require(inference.dtype("GTLabel") == DType.INT32, "GTLabel must hold int32, but holds %s",
                inference.dtype("GTLabel"));
        if (inference.has("GTScore")) {
            Shapes.require(inference, "GTScore", x[0], boxes[1]);
        }
    }

    private static void loss(Lowering l) {
        YoloLoss loss = loss(l.attrs(), l.in("X"), l.in("GTBox"));
        Operand losses = l.temporary(l.outType("Loss", 0).spec());
        Operand objects = l.temporary(l.outType("ObjectnessMask", 0).spec());
        Operand matches = l.temporary(l.outType("GTMatchMask", 0).spec());
        l.call("yolov3_loss", (in, out) -> {
            YoloLoss.Result result = loss.forward(truth(in));
            Elements.write(result.losses, Objects.requireNonNull(out.get(0)));
            Elements.write(result.objects, Objects.requireNonNull(out.get(1)));
            Elements.write(result.matches, Objects.requireNonNull(out.get(2)));
        }, Arrays.asList(l.in("X"), l.in("GTBox"), l.in("GTLabel"), l.optional("GTScore")),
                List.of(losses, objects, matches));
        l.out("Loss", losses);
        l.out("ObjectnessMask", objects);
        l.out("GTMatchMask", matches);
    }

    private static YoloLoss loss(Attrs attrs, Operand x, Operand boxes) {
        return new YoloLoss(attrs, x.shape().dims(), Math.toIntExact(boxes.dim(1)), Precision.of(x.dtype()));
    }

    private static YoloLoss.Truth truth(List<@Nullable Tensor> in) {
        double[] boxes = array(in, 1);
        double[] scores = new double[boxes.length / BoxCode.SIZE];
        Arrays.fill(scores, 1);
        return new YoloLoss.Truth(array(in, 0), boxes, Objects.requireNonNull(in.get(2)).toLongArray(),
                in.get(3) == null ? scores : array(in, 3));
    }

    private static List<@Nullable Operand> gradientInputs(Lowering l) {
        return Arrays.asList(l.in("X"), l.in("GTBox"), l.in("GTLabel"), l.optional("GTScore"), l.in("Loss@GRAD"),
                l.in("ObjectnessMask"), l.in("GTMatchMask"));
    }

    private static double[] backward(YoloLoss loss, List<@Nullable Tensor> in, double[] gradients, boolean again) {
        return loss.backward(truth(in), gradients, array(in, 5), Objects.requireNonNull(in.get(6)).toLongArray(),
                again);
    }

    private static void lossGradient(Lowering l) {
        for (String slot : List.of("GTBox@GRAD", "GTScore@GRAD")) {
            if (l.wants(slot)) {
                throw new IllegalArgumentException("Operation 'yolov3_loss' has no gradient " + slot
                        + ": set stop_gradient for the variable");
            }
        }
        YoloLoss loss = loss(l.attrs(), l.in("X"), l.in("GTBox"));
        Operand gradient = l.temporary(l.outType("X@GRAD", 0).spec());
        l.call("yolov3_loss_grad",
                (in, out) -> Elements.write(backward(loss, in, array(in, 4), false),
                        Objects.requireNonNull(out.getFirst())),
                gradientInputs(l), List.of(gradient));
        l.out("X@GRAD", gradient);
    }

    private static void secondLossGradient(Lowering l) {
        YoloLoss loss = loss(l.attrs(), l.in("X"), l.in("GTBox"));
        List<@Nullable Operand> inputs = new ArrayList<>(gradientInputs(l));
        inputs.add(l.in("X@GRAD@GRAD"));
        Operand gradient = l.temporary(l.in("X").spec());
        Operand losses = l.temporary(l.in("Loss@GRAD").spec());
        l.call("yolov3_loss_grad_grad", (in, out) -> {
            double[] direction = array(in, 7);
            double[] gradients = array(in, 4);
            double[] curved = backward(loss, in, gradients, true);
            Arrays.setAll(curved, i -> curved[i] * direction[i]);
            Elements.write(curved, Objects.requireNonNull(out.get(0)));
            Arrays.fill(gradients, 1);
            Elements.write(loss.sums(backward(loss, in, gradients, false), direction),
                    Objects.requireNonNull(out.get(1)));
        }, inputs, List.of(gradient, losses));
        l.out("X@GRAD", gradient);
        l.out("DDLoss", losses);
    }
}
