package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Numbers of levels: PaddlePaddle 3 runs dequantize_linear in no program, and computes other numbers where it does. */
final class QuantizationForm {
    private QuantizationForm() {
    }

    static void register(Map<String, PaddleForms.Rule> rules) {
        rules.put("dequantize_linear", QuantizationForm::dequantize);
    }

    private static boolean dequantize(OpDesc op, Steps steps, PaddleForms.Reads reads) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        for (String slot : List.of("OutScale", "OutState", "OutAccum")) {
            if (op.output(slot).stream().anyMatch(reads::isRead)) {
                return false;
            }
        }
        String x = op.input("X").getFirst();
        String out = op.output("Y").getFirst();
        if (attrs.getBool("only_observer")) {
            steps.op("assign").in("X", x).into("Out", out);
            return true;
        }
        DType given = steps.tensor(x).dtype();
        DType dtype = given == DType.INT8 ? DType.FLOAT32 : given;
        String levels = steps.cast(x, dtype);
        String scale = steps.cast(op.input("Scale").getFirst(), dtype);
        int axis = attrs.getInt("quant_axis");
        int[] shape = new int[axis < 0 ? 1 : steps.tensor(x).dims().size()];
        Arrays.fill(shape, 1);
        if (axis >= 0) {
            shape[axis] = -1;
        }
        int most = (1 << (attrs.getInt("bit_length") - 1)) - 1;
        String product = steps.binary("elementwise_mul", levels, steps.reshape(scale, shape));
        String divisor = steps.op("fill_constant").attr("shape", new long[]{1}).attr("value", (float) most)
                .attr("str_value", String.valueOf(most)).attr("dtype", DataTypes.number(dtype)).out("Out");
        steps.op("elementwise_div").in("X", product).in("Y", divisor).attr("axis", -1).into("Out", out);
        return true;
    }
}
