package io.seriatim.graph.ops.control;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Operations that show what is computed, or stop the run when it is wrong. */
public final class DebuggingOperations {
    private static final TimesPrinted TIMES = new TimesPrinted();

    private DebuggingOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("print").in("In").out("Out").effect(Effect.HOST).required("first_n", Attribute.Int.class)
                .required("message", Attribute.Text.class).required("summarize", Attribute.Int.class)
                .attr("print_tensor_name", true)
                .attr("print_tensor_type", true).attr("print_tensor_shape", true).attr("print_tensor_layout", true)
                .attr("print_tensor_lod", true).attr("print_phase", "BOTH").attr("is_forward", true)
                .infer(inference -> inference.same("In", "Out")).lower(DebuggingOperations::print)
                .grad(DebuggingOperations::printGradient)
                .register(registry);
        Operation.define("assert").in("Cond", "Data*?").effect(Effect.HOST).attr("summarize", -1L).infer(inference -> {
            inference.require(inference.dtype("Cond") == DType.BOOL, "the condition must be bool, but is %s",
                    inference.dtype("Cond"));
            long size = Inference.size(inference.dims("Cond"));
            inference.require(size == 1 || size < 0, "the condition must be one value, but there are %d", size);
        }).lower(DebuggingOperations::assertion).register(registry);
        NumberChecks.register(registry);
    }

    private static void print(Lowering l) {
        String phase = l.attrs().getText("print_phase");
        boolean forward = l.attrs().getBool("is_forward");
        if (phase.equals("BOTH") || phase.equals(forward ? "FORWARD" : "BACKWARD")) {
            OpDesc op = l.op();
            Attrs attrs = l.attrs();
            l.callWithComplex("print", (in, _) -> print(op, attrs, Objects.requireNonNull(in.getFirst())),
                    List.of(l.in("In")),
                    List.of());
        }
        l.out("Out", l.in("In"));
    }

    private static void print(OpDesc op, Attrs attrs, Tensor tensor) {
        int first = attrs.getInt("first_n");
        if (first > 0 && TIMES.next(op) > first) {
            return;
        }
        StringBuilder text = new StringBuilder();
        line(text, attrs.getBool("print_tensor_name"), "Variable: ", Printable.of(op.input("In").getFirst()));
        line(text, !attrs.getText("message").isEmpty(), "  - message: ", Printable.of(attrs.getText("message")));
        line(text, attrs.getBool("print_tensor_lod"), "  - lod: ", "{}");
        line(text, true, "  - place: ", "Place(cpu)");
        line(text, attrs.getBool("print_tensor_shape"), "  - shape: ", TensorSummary.shape(tensor));
        line(text, attrs.getBool("print_tensor_layout"), "  - layout: ", "NCHW");
        line(text, attrs.getBool("print_tensor_type"), "  - dtype: ", tensor.dtype().toString());
        line(text, true, "  - data: ", TensorSummary.data(tensor, attrs.getInt("summarize")));
        System.out.print(text);
        System.out.flush();
    }

    private static void line(StringBuilder text, boolean wanted, String label, String value) {
        if (wanted) {
            text.append(label).append(value).append('\n');
        }
    }

    /** It prints the gradient. */
    private static List<OpDesc> printGradient(OpDesc forward, Predicate<String> wanted) {
        List<String> in = forward.output("Out").stream().map(GradientRule::gradient).toList();
        List<String> out = forward.input("In").stream().filter(wanted).map(GradientRule::gradient).toList();
        return List.of(forward.with(Map.of("In", in), Map.of("Out", out)).with("is_forward", !isForward(forward)));
    }

    private static boolean isForward(OpDesc op) {
        return !(op.attribute("is_forward") instanceof Attribute.Bool(boolean forward)) || forward;
    }

    private static void assertion(Lowering l) {
        OpDesc op = l.op();
        long most = l.attrs().getLong("summarize");
        List<@Nullable Operand> operands = new ArrayList<>(List.of(l.in("Cond")));
        operands.addAll(l.ins("Data"));
        l.call("assert", (in, _) -> {
            if (Objects.requireNonNull(in.getFirst()).toLongArray()[0] == 0) {
                throw new IllegalStateException(failure(op, most, in));
            }
        }, operands, List.of());
    }

    private static String failure(OpDesc op, long most, List<@Nullable Tensor> in) {
        StringBuilder text = new StringBuilder("Operation 'assert': the condition '")
                .append(op.input("Cond").getFirst())
                .append("' must be true, but is false");
        for (int i = 1; i < in.size(); i++) {
            text.append(i == 1 ? "; its data:\n" : "")
                    .append(TensorSummary.of(op.input("Data").get(i - 1), Objects.requireNonNull(in.get(i)), most));
        }
        return text.toString().strip();
    }
}
