package io.seriatim.graph.dialect;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The old operation matmul, whose vectors and unlike batches PaddlePaddle 3 refuses. */
final class ProductForm {
    private ProductForm() {
    }

    static void register(Map<String, PaddleForms.Rule> rules) {
        rules.put("matmul", (op, steps, _) -> matmul(op, steps));
    }

    private static boolean matmul(OpDesc op, Steps steps) {
        Attrs attrs = new Attrs(op, Operations.system().get(op.type()));
        String x = op.input("X").getFirst();
        String y = op.input("Y").getFirst();
        String out = op.output("Out").getFirst();
        List<Long> left = steps.tensor(x).dims();
        List<Long> right = steps.tensor(y).dims();
        VarType.@Nullable TensorType result = steps.known(out);
        if (result == null || (left.size() >= 2 && right.size() >= 2
                && (left.size() == right.size() || left.size() == 2 || right.size() == 2))) {
            return false;
        }
        String a = left.size() == 1 ? steps.reshape(x, 1, -1) : x;
        String b = right.size() == 1 ? steps.reshape(y, -1, 1) : y;
        if (left.size() > 2 && right.size() > 2) {
            List<Long> dims = new ArrayList<>(left.subList(0, left.size() - 2));
            dims.addAll(right.subList(right.size() - 2, right.size()));
            if (open(dims) > 1) {
                return false;
            }
            b = steps.reshape(y, ints(dims));
        }
        boolean vector = left.size() == 1 || right.size() == 1;
        if (vector && open(result.dims()) > 1) {
            return false;
        }
        Steps.Step product = steps.op("matmul_v2").in("X", a).in("Y", b)
                .attr("trans_x", attrs.getBool("transpose_X")).attr("trans_y", attrs.getBool("transpose_Y"));
        float alpha = attrs.getFloat("alpha");
        if (!vector && alpha == 1) {
            product.into("Out", out);
            return true;
        }
        String made = product.out("Out");
        if (alpha != 1) {
            made = steps.linear(made, alpha, 0).out("Out");
        }
        steps.op("reshape2").in("X", made).attr("shape", ints(result.dims())).into("Out", out);
        return true;
    }

    private static long open(List<Long> dims) {
        return dims.stream().filter(dim -> dim < 0).count();
    }

    private static int[] ints(List<Long> dims) {
        return dims.stream().mapToInt(Math::toIntExact).toArray();
    }
}
