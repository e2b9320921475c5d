package io.seriatim.graph.ops.loss;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.ops.OneOperation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Softmax and losses. */
class LossOperationsTest {
    private static final DType F = DType.FLOAT32;
    private static final DType L = DType.INT64;

    private static OneOperation crossed(DType label, long... dims) {
        return new OneOperation("softmax_with_cross_entropy").in("Logits", F, 4, 3).in("Label", label, dims).out("Loss",
                "Softmax");
    }

    @Test
    void softmax() {
        new OneOperation("softmax").in("X", F, 2, 3).out("Out").attr("axis", 2).isRefused("axis 2");
        new OneOperation("softmax").in("X", F).out("Out").attr("axis", 1).isRefused("axis 1");
        new OneOperation("log_softmax").in("X", L, 2, 3).out("Out").isRefused("floating-point", "cast");
    }

    @Test
    void crossEntropy() {
        crossed(L, 5, 1).isRefused("Label must have the shape [4, 1], but has [5, 1]");
        crossed(L, 4, 3).isRefused("[4, 1]");
        crossed(F, 4, 1).isRefused("class numbers");
        crossed(L, 4, 3).attr("soft_label", true).isRefused("probabilities of type float32");
        crossed(F, 4, 2).attr("soft_label", true).isRefused("[4, 3]");
        crossed(L, 4, 1).attr("axis", 2).isRefused("axis 2");
        new OneOperation("cross_entropy2").in("X", F, 4, 3).in("Label", L, 5, 1).out("Y", "MatchX", "XShape")
                .isRefused("[4, 1]", "[5, 1]");
        new OneOperation("cross_entropy2").in("X", F).in("Label", L).out("Y", "MatchX", "XShape")
                .isRefused("at least one dimension");
        new OneOperation("cross_entropy2").in("X", F, 4, 3).in("Label", F, 4, 1).out("Y").isRefused("class numbers");
    }

    @Test
    void labelsMayLackTheAxisOfTheClasses() {
        assertEquals(ArgType.dense(F, 4, 1), crossed(L, 4).inferred("Loss"));
        assertEquals(ArgType.dense(F, 4),
                new OneOperation("cross_entropy2").in("X", F, 4, 3).in("Label", L, 4).out("Y").inferred("Y"));
    }

    @Test
    void losses() {
        for (String type : new String[]{"bce_loss", "sigmoid_cross_entropy_with_logits"}) {
            new OneOperation(type).in("X", F, 2, 3).in("Label", F, 2, 4).out("Out").isRefused("one shape",
                    "[2, 3] and [2, 4]");
            new OneOperation(type).in("X", F, 2, 3).in("Label", L, 2, 3).out("Out").isRefused("one floating-point type",
                    "int64");
        }
        new OneOperation("sigmoid_cross_entropy_with_logits").in("X", F, 2, 3).in("Label", F, 2, 3)
                .in("pos_weight", F, 4).out("Out")
                .isRefused("broadcast");
        new OneOperation("sigmoid_cross_entropy_with_logits").in("X", F, 3).in("Label", F, 3).in("pos_weight", F, 2, 3)
                .out("Out")
                .isRefused("pos_weight", "[2, 3]");
        assertEquals(ArgType.dense(F, -1, 3),
                new OneOperation("sigmoid_cross_entropy_with_logits").in("X", F, -1, 3).in("Label", F, -1, 3)
                        .in("pos_weight", F, 3).out("Out").inferred("Out"));
        new OneOperation("huber_loss").in("X", F, 4).in("Y", F, 4, 1).out("Out", "Residual").attr("delta", 1f)
                .isRefused("one shape");
        new OneOperation("huber_loss").in("X", F, 4).in("Y", F, 4).out("Out", "Residual").isRefused("'delta'");
        new OneOperation("huber_loss").in("X", F, 4).in("Y", F, 4).out("Out", "Residual").attr("delta", -1f)
                .isRefused("delta", "-1");
    }

    @Test
    void accuracy() {
        OneOperation wrong = new OneOperation("accuracy").in("Out", F, 4, 2).in("Indices", L, 4, 2).in("Label", L, 5,
                1);
        wrong.out("Accuracy", "Correct", "Total").isRefused("4 and 5");
        new OneOperation("accuracy").in("Out", F, 4, 2).in("Indices", L, 4, 2).in("Label", L, 4).out("Accuracy")
                .isRefused("[n, 1]");
        new OneOperation("accuracy").in("Out", F, 4, 2).in("Indices", F, 4, 2).in("Label", L, 4, 1).out("Accuracy")
                .isRefused("whole numbers");
    }

    @ParameterizedTest
    @ValueSource(strings = {"softmax_with_cross_entropy", "cross_entropy2"})
    void aLabelThatIsNoClassIsRefused(String type) {
        boolean crossed = type.startsWith("softmax");
        Program program = new Program();
        program.global()
                .add(OpDesc.of(type).in(crossed ? "Logits" : "X", "x").in("Label", "label")
                        .out(crossed ? "Loss" : "Y", "loss")
                        .out(crossed ? "Softmax" : "MatchX", "other").build());
        for (long label : new long[]{3, -1}) {
            Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[]{0.25f, 0.25f, 0.5f}, 1, 3), "label",
                    Tensor.of(new long[]{label}, 1, 1));
            for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                Interpreter interpreter = Interpreter.of(kernels);
                RuntimeException refused = assertThrows(RuntimeException.class,
                        () -> interpreter.run(program, feeds, List.of("loss")));
                String message = String.valueOf(refused.getMessage());
                assertTrue(message.contains(type) && message.contains(Long.toString(label)), message);
            }
        }
    }
}
