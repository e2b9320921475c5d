package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;

/** Boxes of given sizes about each point of a feature map. They depend on shapes and attributes only. */
public final class PriorOperations {
    private static final int SIZE = BoxCode.SIZE;

    private PriorOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("prior_box").in("Input", "Image").out("Boxes", "Variances").shapesOnly("Input", "Image")
                .required("min_sizes", Attribute.Reals.class).attr("max_sizes", new float[0])
                .attr("aspect_ratios", new float[0]).attr("variances", new float[0]).attr("flip", true)
                .attr("clip", true).attr("step_w", 0f).attr("step_h", 0f).attr("offset", 0.5f)
                .attr("min_max_aspect_ratios_order", false).infer(PriorOperations::inferPrior)
                .lower(l -> write(l, "Boxes", PriorBoxes.of(l))).register(registry);
        Operation.define("density_prior_box").in("Input", "Image").out("Boxes", "Variances")
                .shapesOnly("Input", "Image").required("variances", Attribute.Reals.class).attr("clip", true)
                .attr("flatten_to_2d", false).attr("step_w", 0f).attr("step_h", 0f).attr("offset", 0.5f)
                .attr("fixed_sizes", new float[0]).attr("fixed_ratios", new float[0])
                .attr("densities", new int[0]).infer(PriorOperations::inferDensity)
                .lower(l -> write(l, "Boxes", DensityBoxes.of(l))).register(registry);
        Operation.define("anchor_generator").in("Input").out("Anchors", "Variances").shapesOnly("Input")
                .required("anchor_sizes", Attribute.Reals.class).required("aspect_ratios", Attribute.Reals.class)
                .required("variances", Attribute.Reals.class).attr("stride", new float[]{16, 16}).attr("offset", 0.5f)
                .infer(PriorOperations::inferAnchors).lower(l -> write(l, "Anchors", Anchors.of(l)))
                .register(registry);
    }

    /** The boxes about each point. */
    sealed interface PointBoxes permits PriorBoxes, DensityBoxes, Anchors {
        /** How many boxes a point has. */
        int count();

        /** Writes the four numbers of each box of a point to an array from an index on. */
        void write(int row, int column, double[] to, int at);
    }

    private static void write(Lowering l, String slot, PointBoxes boxes) {
        long[] input = l.in("Input").shape().dims();
        int rows = Math.toIntExact(input[2]);
        int columns = Math.toIntExact(input[3]);
        int ofPoint = boxes.count() * SIZE;
        double[] values = new double[WorkingMemory.length((long) rows * columns, ofPoint)];
        double[] variances = new double[values.length];
        double[] given = l.attrs().getDoubles("variances");
        Arrays.setAll(variances, i -> given[i % SIZE]);
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                boxes.write(row, column, values, (row * columns + column) * ofPoint);
            }
        }
        DType dtype = l.in("Input").dtype();
        l.out(slot, l.constant(Tensor.of(dtype, values, l.outType(slot, 0).dims())));
        l.out("Variances", l.constant(Tensor.of(dtype, variances, l.outType("Variances", 0).dims())));
    }

    private static void inferPrior(Inference inference) {
        double[] least = sizes(inference, "min_sizes");
        double[] most = sizes(inference, "max_sizes");
        inference.require(most.length == 0 || most.length == least.length,
                "max_sizes must hold as many numbers as min_sizes, %d, but holds %d", least.length, most.length);
        for (int i = 0; i < most.length; i++) {
            inference.require(most[i] > least[i], "number %d of max_sizes must be more than %s, but is %s", i,
                    least[i], most[i]);
        }
        sizes(inference, "aspect_ratios");
        int ratios = PriorBoxes.ratios(inference.attrs()).length;
        infer(inference, "Boxes", Math.addExact(Math.multiplyExact(ratios, least.length), most.length), false);
    }

    private static void inferDensity(Inference inference) {
        Attrs attrs = inference.attrs();
        int sizes = sizes(inference, "fixed_sizes").length;
        int ratios = sizes(inference, "fixed_ratios").length;
        int[] densities = attrs.getInts("densities");
        inference.require(sizes == densities.length,
                "fixed_sizes must hold a number for each of the %d densities, but holds %d", densities.length, sizes);
        long count = 0;
        for (int density : densities) {
            inference.require(density > 0, "the densities must be 1 or more, but are %s", Numbers.text(densities));
            count = Math.addExact(count, Math.multiplyExact((long) ratios, (long) density * density));
        }
        infer(inference, "Boxes", count, attrs.getBool("flatten_to_2d"));
    }

    private static void inferAnchors(Inference inference) {
        int sizes = sizes(inference, "anchor_sizes").length;
        int ratios = sizes(inference, "aspect_ratios").length;
        inference.require(sizes(inference, "stride").length == 2, "stride must hold two numbers, but is %s",
                Numbers.text(inference.attrs().getDoubles("stride")));
        infer(inference, "Anchors", Math.multiplyExact((long) sizes, ratios), false);
    }

    /** The positive numbers of an attribute. */
    private static double[] sizes(Inference inference, String attribute) {
        double[] sizes = Shapes.requireAllFinite(inference, attribute);
        inference.require(Arrays.stream(sizes).allMatch(size -> size > 0),
                "the numbers of the attribute '%s' must be positive, but are %s", attribute, Numbers.text(sizes));
        return sizes;
    }

    private static void infer(Inference inference, String slot, long ofPoint, boolean flat) {
        Shapes.requireFloats(inference, "Input");
        long[] input = Shapes.require(inference, "Input", -1, -1, -1, -1);
        if (inference.has("Image")) {
            long[] image = Shapes.require(inference, "Image", -1, -1, -1, -1);
            inference.require(image[2] != 0 && image[3] != 0, "Image must have a height and a width, but is %s",
                    Numbers.text(image));
            Shapes.requireFinite(inference, "step_w", "step_h");
        }
        Shapes.requireFinite(inference, "offset");
        inference.require(Shapes.requireAllFinite(inference, "variances").length == SIZE,
                "variances must hold four numbers, but is %s",
                Numbers.text(inference.attrs().getDoubles("variances")));
        long points = Inference.size(input[2], input[3]);
        long numbers = Math.multiplyExact(Math.multiplyExact(Math.max(points, 0), ofPoint), SIZE);
        inference.require(numbers <= Integer.MAX_VALUE - 8, "%d boxes at each of %d points are too many", ofPoint,
                points);
        DType dtype = inference.dtype("Input");
        for (String output : List.of(slot, "Variances")) {
            if (flat) {
                // While a program is built, PaddlePaddle leaves their number open.
                inference.set(output, dtype, inference.isForRun() ? numbers / SIZE : -1, SIZE);
            } else {
                inference.set(output, dtype, input[2], input[3], ofPoint, SIZE);
            }
        }
    }
}
