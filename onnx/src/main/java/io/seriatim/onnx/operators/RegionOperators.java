package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import java.util.List;

/** Images seen through grids, regions of images, and images that are made of patches. */
public final class RegionOperators {
    private RegionOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("GridSample", RegionOperators::sample);
        operators.one("AffineGrid", n -> n.op("affine_grid").in("Theta", n.input(0)).in("OutputShape", n.input(1))
                .attr("align_corners", n.flag("align_corners", false)).out("Output"));
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
