package io.seriatim.graph.quantization;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.List;

/** Writes the fused operation fc as the product, sum and activation that it stands for. */
final class FullyConnected {
    private FullyConnected() {
    }

    /** Replaces each fc of a block whose weights are a plain matrix. */
    static void expand(Block block) {
        List<OpDesc> ops = new ArrayList<>();
        for (OpDesc op : block.ops()) {
            if (isPlain(op)) {
                expand(block, op, ops);
            } else {
                ops.add(op);
            }
        }
        block.setOps(ops);
    }

    private static boolean isPlain(OpDesc op) {
        return op.type().equals("fc") && op.input("Input").size() == 1 && op.input("W").size() == 1
                && op.input("Bias").size() <= 1 && op.output("Out").size() == 1
                && (activation(op).isEmpty() || activation(op).equals("relu"))
                && !(op.attribute("padding_weights") instanceof Attribute.Bool(boolean padded) && padded)
                && !(op.attribute("use_quantizer") instanceof Attribute.Bool(boolean quantizer) && quantizer);
    }

    private static String activation(OpDesc op) {
        return op.attribute("activation_type") instanceof Attribute.Text(String name) ? name : "";
    }

    private static void expand(Block block, OpDesc op, List<OpDesc> ops) {
        String out = op.output("Out").getFirst();
        int leading = op.attribute("in_num_col_dims") instanceof Attribute.Int(int number) ? number : 1;
        boolean activated = !activation(op).isEmpty();
        boolean biased = !op.input("Bias").isEmpty();
        String sum = activated ? variable(block, out, ".sum") : out;
        String product = biased ? variable(block, out, ".product") : sum;
        ops.add(OpDesc.of("mul").in("X", op.input("Input")).in("Y", op.input("W")).out("Out", product)
                .attr("x_num_col_dims", leading).attr("y_num_col_dims", 1).build().builtWith(op));
        if (biased) {
            ops.add(OpDesc.of("elementwise_add").in("X", product).in("Y", op.input("Bias")).out("Out", sum)
                    .attr("axis", -1).build().builtWith(op));
        }
        if (activated) {
            ops.add(OpDesc.of("relu").in("X", sum).out("Out", out).build().builtWith(op));
        }
    }

    private static String variable(Block block, String like, String end) {
        String name = Names.free(block, like + end);
        VarDesc desc = block.get(like);
        block.put(new VarDesc(name, desc.type(), false, null, null, null));
        return name;
    }
}
