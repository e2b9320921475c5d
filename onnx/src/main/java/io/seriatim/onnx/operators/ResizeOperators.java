package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Images of another size. */
public final class ResizeOperators {
    private ResizeOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("Resize", ResizeOperators::resize);
        operators.one("Upsample", ResizeOperators::upsample);
    }

    private static Ref upsample(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        Ref scales;
        List<Float> given = node.reals("scales");
        if (node.version() >= 9) {
            scales = node.input(1);
        } else if (given != null) {
            scales = block.model().constant("scales",
                    Tensor.of(DType.FLOAT32, given.stream().mapToDouble(Float::doubleValue).toArray(), given.size()));
        } else {
            double height = node.real("height_scale", 1);
            double width = node.real("width_scale", 1);
            scales = block.model().constant("scales",
                    Tensor.of(DType.FLOAT32, new double[]{1, 1, height, width}, 4));
        }
        return node.op("onnx_resize").in("X", x).in("Scales", scales)
                .attr("mode", mode(node)).attr("coordinates", "asymmetric").attr("nearest", "floor")
                .attr("axes", IntStream.range(0, x.rank()).toArray()).out("Out");
    }

    private static String mode(Node node) {
        String mode = node.text("mode", "nearest");
        return switch (mode) {
            case "nearest", "linear", "cubic" -> mode;
            case "bilinear" -> "linear";
            default -> throw node.error("the attribute 'mode' is nearest, linear or cubic, but is '%s'", mode);
        };
    }

    /** An operand that is given and not empty. */
    private static @Nullable Ref given(Node node, int index) {
        Ref operand = node.maybe(index);
        return operand == null || (operand.rank() == 1 && operand.dim(0) == 0) ? null : operand;
    }

    private static Ref resize(Node node) {
        Ref x = node.input(0);
        boolean first = node.version() < 11;
        Ref scales = given(node, first ? 1 : 2);
        Ref sizes = first ? null : given(node, 3);
        if ((scales == null) == (sizes == null)) {
            throw node.error("needs either scales or sizes");
        }
        long[] axes = node.integers("axes");
        int[] counted = axes == null
                ? IntStream.range(0, x.rank()).toArray()
                : Arrays.stream(axes).mapToInt(axis -> node.axis(axis, x.rank())).toArray();
        String coordinates = first ? "asymmetric" : node.text("coordinate_transformation_mode", "half_pixel");
        if (!List.of("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                "tf_crop_and_resize", "tf_half_pixel_for_nn").contains(coordinates)) {
            throw node.error("the attribute 'coordinate_transformation_mode' is '%s', which is not known", coordinates);
        }
        OpAppender op = node.op("onnx_resize").in("X", x).maybe("Scales", scales).maybe("Sizes", sizes);
        if (coordinates.equals("tf_crop_and_resize")) {
            op.in("Roi", node.input(1));
        }
        return op.attr("mode", mode(node)).attr("coordinates", coordinates)
                .attr("nearest", first ? "floor" : node.text("nearest_mode", "round_prefer_floor"))
                .attr("cubic_coeff_a", node.real("cubic_coeff_a", -0.75f))
                .attr("exclude_outside", node.flag("exclude_outside", false))
                .attr("extrapolation_value", node.real("extrapolation_value", 0))
                .attr("antialias", node.flag("antialias", false))
                .attr("policy", node.text("keep_aspect_ratio_policy", "stretch")).attr("axes", counted).out("Out");
    }
}
