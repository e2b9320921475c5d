package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Losses of classes, as elementary operations, so that models with them can be trained and saved. */
public final class LossOperators {
    private LossOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("NegativeLogLikelihoodLoss", node -> likelihood(node, node.input(0)));
        operators.all("SoftmaxCrossEntropyLoss", node -> {
            Ref logarithms = node.op("log_softmax").in("X", node.input(0)).attr("axis", 1).out("Out");
            return List.of(likelihood(node, logarithms), logarithms);
        });
    }

    /** The classes' logarithms are along axis 1. */
    private static Ref likelihood(Node node, Ref x) {
        BlockBuilder block = node.block();
        String reduction = node.text("reduction", "mean");
        if (!List.of("none", "mean", "sum").contains(reduction)) {
            throw node.error("attribute 'reduction' must be none, mean or sum, but is '%s'", reduction);
        }
        Ref target = node.input(1);
        Ref kept = node.hasAttribute("ignore_index")
                ? ElementwiseOperators.apply(block, "not_equal", target,
                        block.model().constant("ignored", Tensor.of(target.dtype(),
                                new long[]{node.integer("ignore_index", 0)})))
                : null;
        Ref classes = kept == null
                ? target
                : ElementwiseOperators.choose(block, kept, target, block.scalar(target.dtype(), 0));
        Ref weights = weights(node, x.dtype(), classes, kept);
        Ref found = block.op("take_along_axis").in("Input", x).in("Index", block.unsqueeze(classes, 1))
                .attr("Axis", 1).out("Result");
        Ref loss = ElementwiseOperators.apply(block, "elementwise_mul", block.squeeze(found, 1),
                block.scalar(x.dtype(), -1));
        if (weights != null) {
            loss = ElementwiseOperators.apply(block, "elementwise_mul", loss, weights);
        }
        return switch (reduction) {
            case "none" -> loss;
            case "sum" -> all(block, "reduce_sum", loss);
            default -> weights == null
                    ? all(block, "reduce_mean", loss)
                    : ElementwiseOperators.apply(block, "elementwise_div", all(block, "reduce_sum", loss),
                            all(block, "reduce_sum", weights));
        };
    }

    /** One for each target; null if all are 1. */
    private static @Nullable Ref weights(Node node, DType dtype, Ref classes, @Nullable Ref kept) {
        BlockBuilder block = node.block();
        Ref mask = kept == null ? null : block.cast(kept, dtype);
        Ref given = node.maybe(2);
        if (given == null) {
            return mask;
        }
        Ref rows = block.op("lookup_table_v2").in("W", block.unsqueeze(given, 1)).in("Ids", classes).out("Out");
        Ref each = block.squeeze(rows, classes.rank());
        return mask == null ? each : ElementwiseOperators.apply(block, "elementwise_mul", each, mask);
    }

    private static Ref all(BlockBuilder block, String operation, Ref x) {
        return block.op(operation).in("X", x).attr("reduce_all", true).attr("keep_dim", false).out("Out");
    }
}
