package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/** Images seen through grids, regions of images, and images that are made of patches. */
public final class RegionOperators {
    /** A region that is not empty, from one corner to the opposite one. */
    private static final double[] UNIT = {0, 0, 1, 1};

    private RegionOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("GridSample", RegionOperators::sample);
        operators.one("AffineGrid", RegionOperators::grid);
        operators.one("RoiAlign", RegionOperators::align);
        operators.one("NonMaxSuppression", n -> n.op("onnx_non_max_suppression").in("Boxes", n.input(0))
                .in("Scores", n.input(1)).maybe("Most", n.maybe(2)).maybe("Overlap", n.maybe(3))
                .maybe("Least", n.maybe(4)).attr("center", n.flag("center_point_box", false)).out("Out"));
        operators.one("Col2Im", RegionOperators::fold);
    }

    /** Two or three coordinates for each element of images of as many axes. */
    private static Ref grid(Node node) {
        Ref theta = node.input(0);
        int rank = node.announced(1, node.declaredRank()).length;
        boolean open = theta.rank() == 3 && (theta.dim(1) < 0 || theta.dim(2) < 0) && (rank == 4 || rank == 5);
        return node.op("affine_grid")
                .in("Theta", open ? node.block().reshape(theta, 0, rank - 2, rank - 1) : theta)
                .in("OutputShape", node.counted(1, rank)).attr("align_corners", node.flag("align_corners", false))
                .out("Output");
    }

    /** The regions of an operation of Paddle are in the order of their images, those of ONNX in any. */
    private static Ref align(Node node) {
        String coordinates = node.text("coordinate_transformation_mode",
                node.version() < 16 ? "output_half_pixel" : "half_pixel");
        if (!List.of("half_pixel", "output_half_pixel").contains(coordinates)) {
            throw node.error("the attribute 'coordinate_transformation_mode' is half_pixel or output_half_pixel, but "
                    + "is '%s'", coordinates);
        }
        String mode = node.text("mode", "avg").toLowerCase(Locale.ROOT);
        if (mode.equals("max")) {
            return node.op("onnx_roi_align_max").in("X", node.input(0)).in("Regions", node.input(1))
                    .in("Images", node.input(2)).attr("height", node.int32("output_height", 1))
                    .attr("width", node.int32("output_width", 1)).attr("samples", node.int32("sampling_ratio", 0))
                    .attr("scale", node.real("spatial_scale", 1))
                    .attr("half_pixel", coordinates.equals("half_pixel")).out("Out");
        }
        if (!mode.equals("avg")) {
            throw node.error("the attribute 'mode' is avg or max, but is '%s'", node.text("mode", ""));
        }
        Steps steps = new Steps(node.block());
        Ref x = node.input(0);
        DType computed = Steps.precise(x.dtype());
        Ref images = steps.cast(node.input(2), DType.INT64);
        List<Ref> order = steps.op("argsort").in("X", images).attr("axis", 0).outs("Out", "Indices");
        Ref numbers = steps.op("onnx_range").in("Start", node.block().integers(DType.INT64, 0))
                .in("Limit", steps.length(x, 0)).in("Delta", node.block().integers(DType.INT64, 1)).out("Out");
        Ref same = node.block().binary("equal", steps.unsqueeze(images, 1), steps.unsqueeze(numbers, 0));
        Ref counts = steps.op("reduce_sum").in("X", steps.cast(same, DType.INT64)).attr("dim", new int[]{0})
                .attr("keep_dim", false).out("Out");
        Ref regions = steps.op("gather").in("X", steps.cast(node.input(1), computed)).in("Index", order.get(1))
                .out("Out");
        boolean half = coordinates.equals("half_pixel");
        int samples = node.int32("sampling_ratio", 0);
        double scale = node.real("spatial_scale", 1);
        // Only such regions may have no samples.
        Ref empty = half && samples == 0 ? empty(steps, regions, scale) : null;
        Ref taken = empty == null
                ? regions
                : steps.where(steps.unsqueeze(empty, 1), steps.constant(Tensor.of(computed, UNIT, 1, 4)), regions);
        Ref aligned = steps.op("roi_align").in("X", steps.cast(x, computed)).in("ROIs", taken)
                .in("RoisNum", steps.cast(counts, DType.INT32)).attr("pooled_height", node.int32("output_height", 1))
                .attr("pooled_width", node.int32("output_width", 1))
                .attr("spatial_scale", scale)
                .attr("sampling_ratio", samples)
                .attr("aligned", half).out("Out");
        if (empty != null) {
            aligned = steps.where(steps.unsqueeze(empty, 1, 2, 3), steps.scalar(computed, 0), aligned);
        }
        Ref back = steps.op("argsort").in("X", order.get(1)).attr("axis", 0).outs("Out", "Indices").get(1);
        return steps.cast(steps.op("gather").in("X", aligned).in("Index", back).out("Out"), x.dtype());
    }

    /**
     * Whether a region is empty. Detectors pad their boxes with such regions; the mean of no samples is 0 in ONNX
     * Runtime, but not a number in Paddle, which does not even end for some regions whose end is before their
     * beginning. Each step is rounded as in the operation itself.
     */
    private static Ref empty(Steps steps, Ref regions, double scale) {
        Ref scaled = steps.mul(regions, steps.scalar(regions.dtype(), (float) scale));
        Ref moved = steps.sub(scaled, steps.scalar(regions.dtype(), 0.5));
        Ref extent = steps.sub(steps.slice(moved, 1, 2, 4), steps.slice(moved, 1, 0, 2));
        Ref none = steps.block().binary("less_equal", extent, steps.scalar(regions.dtype(), 0));
        return steps.op("reduce_any").in("X", none).attr("dim", new int[]{1}).attr("keep_dim", false).out("Out");
    }

    private static Ref fold(Node node) {
        long[] image = node.integers(1);
        long[] block = node.integers(2);
        long count = image != null ? image.length : node.announced(1, node.declaredRank() - 2).length;
        if (count < 1) {
            throw node.error("needs the number of axes of its images, but operand 2 is %s", node.input(1).type());
        }
        int axes = (int) count;
        long[] pads = numbers(node, "pads", 2 * axes, 0);
        long[] strides = numbers(node, "strides", axes, 1);
        long[] dilations = numbers(node, "dilations", axes, 1);
        if (image == null || block == null || axes != 2) {
            return node.op("onnx_col2im").in("X", node.input(0)).in("Image", node.counted(1, count))
                    .in("Block", node.counted(2, count))
                    .attr("pads", pads).attr("strides", strides).attr("dilations", dilations).out("Out");
        }
        if (block.length != axes) {
            throw node.error("images have %d axes, but their blocks %d", axes, block.length);
        }
        return node.op("fold").in("X", node.input(0)).attr("output_sizes", int32(node, image))
                .attr("kernel_sizes", int32(node, block)).attr("strides", int32(node, strides))
                .attr("paddings", int32(node, pads)).attr("dilations", int32(node, dilations)).out("Y");
    }

    private static long[] numbers(Node node, String name, int count, long byDefault) {
        long[] given = node.integers(name);
        if (given != null && given.length != count) {
            throw node.error("the attribute '%s' has %d numbers, but there are %d", name, count, given.length);
        }
        return given == null ? LongStream.generate(() -> byDefault).limit(count).toArray() : given;
    }

    private static int[] int32(Node node, long[] values) {
        for (long value : values) {
            if (value != (int) value) {
                throw node.error("has the number %d, which is out of range", value);
            }
        }
        return Arrays.stream(values).mapToInt(value -> (int) value).toArray();
    }

    private static Ref sample(Node node) {
        Ref x = node.input(0);
        Ref grid = node.input(1);
        String mode = switch (node.text("mode", node.version() < 20 ? "bilinear" : "linear")) {
            case "bilinear", "linear" -> "linear";
            case "bicubic", "cubic" -> "cubic";
            case "nearest" -> "nearest";
            default -> throw node.error("the attribute 'mode' is linear, nearest or cubic, but is '%s'",
                    node.text("mode", ""));
        };
        String padding = node.text("padding_mode", "zeros");
        if (!List.of("zeros", "border", "reflection").contains(padding)) {
            throw node.error("the attribute 'padding_mode' is zeros, border or reflection, but is '%s'", padding);
        }
        boolean corners = node.flag("align_corners", false);
        if (!mode.equals("linear") || !x.dtype().isFloating() || x.rank() < 4 || x.rank() > 5) {
            // Of two elements that are equally near, ONNX takes the even one, but grid_sampler the outer one.
            return node.op("onnx_grid_sample").in("X", x).in("Grid", grid).attr("mode", mode)
                    .attr("padding_mode", padding).attr("align_corners", corners).out("Out");
        }
        Steps steps = new Steps(node.block());
        DType computed = x.dtype() == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
        OpAppender op = node.op("grid_sampler").in("X", steps.cast(x, computed)).in("Grid", steps.cast(grid, computed));
        Ref sampled = op.attr("mode", "bilinear").attr("padding_mode", padding).attr("align_corners", corners)
                .out("Output");
        return steps.cast(sampled, x.dtype());
    }
}
