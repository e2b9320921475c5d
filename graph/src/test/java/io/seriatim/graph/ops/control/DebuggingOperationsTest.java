package io.seriatim.graph.ops.control;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The output of print, how often it prints, and the failure of assert. */
@ResourceLock(Resources.SYSTEM_OUT)
class DebuggingOperationsTest {
    private static final Tensor X = Tensor.of(new float[]{-1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f}, 2, 3);

    private static OpDesc.Builder print() {
        return OpDesc.of("print").in("In", "x").out("Out", "y").attr("first_n", -1).attr("message", "hello")
                .attr("summarize", 2);
    }

    private static String printed(Program program, Tensor x, int times) {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            for (int i = 0; i < times; i++) {
                assertArrayEquals(x.toDoubleArray(),
                        SmallProgram.run(interpreter, program, Map.of("x", x), "y").toDoubleArray());
            }
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** As PaddlePaddle 2.6.2 prints the same. */
    @Test
    void printsAsPaddleDoes() {
        assertEquals("""
                Variable: x
                  - message: hello
                  - lod: {}
                  - place: Place(cpu)
                  - shape: [2, 3]
                  - layout: NCHW
                  - dtype: float32
                  - data: [-1.5 -0.5]
                """, printed(SmallProgram.program(print().build()), X, 1));
        assertEquals("  - message: hello\n  - place: Place(cpu)\n  - data: [1 0]\n",
                printed(SmallProgram.program(print().attr("print_tensor_name", false).attr("print_tensor_lod", false)
                        .attr("print_tensor_shape", false).attr("print_tensor_layout", false)
                        .attr("print_tensor_type", false)
                        .attr("summarize", -1).build()), Tensor.of(DType.BOOL, new long[]{1, 0}, 2), 1));
    }

    @Test
    void printsTheFirstTimesOfEachProgram() {
        OpDesc once = print().attr("first_n", 2).build();
        assertEquals(2, printed(SmallProgram.program(once), X, 3).split("Variable: x", -1).length - 1);
        assertEquals("", printed(SmallProgram.program(once), X, 1), "the same operation has printed its times");
        assertEquals(2,
                printed(SmallProgram.program(print().attr("first_n", 2).build()), X, 3).split("Variable: x", -1).length
                        - 1);
    }

    @Test
    void printsInItsPhase() {
        Program backward = SmallProgram.program(print().attr("print_phase", "BACKWARD").build());
        assertEquals("", printed(backward, X, 1));
        OpDesc forward = print().attr("print_phase", "FORWARD").build();
        List<OpDesc> gradient = Objects.requireNonNull(Operations.system().get("print").gradient()).make(forward,
                _ -> true);
        OpDesc expected = forward.with(Map.of("In", List.of("y@GRAD")), Map.of("Out", List.of("x@GRAD")))
                .with("is_forward", false);
        assertEquals(List.of(expected), gradient);
        assertEquals("", printed(
                SmallProgram.program(expected.with(Map.of("In", List.of("x")), Map.of("Out", List.of("y")))), X, 1));
    }

    @ParameterizedTest
    @CsvSource({"0.00364089012,0.00364089", "1000000,1e+06", "123456.7,123457", "1.5e-5,1.5e-05", "-0.0,-0", "0.1,0.1",
            "1e300,1e+300",
            "999999.9,1e+06", "NaN,nan", "-Infinity,-inf"})
    void numbersHaveSixDigits(double value, String expected) {
        assertEquals(expected, TensorSummary.number(value));
    }

    @Test
    void aFailedAssertionShowsItsData() {
        OpDesc op = OpDesc.of("assert").in("Cond", "c").in("Data", "a", "b").attr("summarize", 2L).build();
        Map<String, Tensor> feeds = Map.of("c", Tensor.of(DType.BOOL, new long[]{0}, 1), "a", X, "b",
                Tensor.of(new long[]{7}, 1));
        IllegalStateException failure = assertThrows(IllegalStateException.class,
                () -> Interpreter.of(Kernels.system()).run(SmallProgram.program(op), feeds, List.of()));
        assertEquals("""
                Operation 'assert': the condition 'c' must be true, but is false; its data:
                Variable: a
                  - shape: [2, 3]
                  - dtype: float32
                  - data: [-1.5 -0.5]
                Variable: b
                  - shape: [1]
                  - dtype: int64
                  - data: [7]""", failure.getMessage());
    }

    @Test
    void anAssertionThatHoldsSaysNothing() {
        OpDesc op = OpDesc.of("assert").in("Cond", "c").build();
        assertEquals(Map.of(), Interpreter.of(Kernels.system()).run(SmallProgram.program(op),
                Map.of("c", Tensor.of(DType.BOOL, new long[]{1}, 1)), List.of()));
        SmallProgram.refused(op, Map.of("c", Tensor.of(DType.BOOL, new long[]{1, 1}, 2)), "one value, but there are 2");
        SmallProgram.refused(op, Map.of("c", X), "must be bool, but is float32");
    }
}
