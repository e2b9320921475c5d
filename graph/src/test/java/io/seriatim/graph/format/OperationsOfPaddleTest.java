package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which operations PaddlePaddle has. */
class OperationsOfPaddleTest {
    private static Program program(OpDesc... ops) {
        Program program = new Program();
        for (OpDesc op : ops) {
            program.global().add(op);
        }
        return program;
    }

    private static OpDesc.Builder fmax() {
        return OpDesc.of("elementwise_fmax").in("X", "a").in("Y", "b").out("Out", "c");
    }

    @Test
    void namesAllThatPaddleDoesNotHave() {
        Program program = program(fmax().attr("axis", 1).build(),
                OpDesc.of("bitwise_left_shift").in("X", "a").out("Out", "d").build(),
                OpDesc.of("relu").in("X", "a").out("Out", "e").build(),
                OpDesc.of("bitwise_left_shift").in("X", "a").out("Out", "f").build(),
                OpDesc.of("relu").in("X", "a").in("Extra", "b").out("Out", "g").build(),
                OpDesc.of("relu").in("X", "a").out("Out", "i").out("Mask", "h").build());
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> OperationsOfPaddle.expressed(program));
        assertEquals("PaddlePaddle 2 has no counterpart of 4 kinds of operations of the model: 'elementwise_fmax' with "
                + "attribute axis (of 'c'), 'bitwise_left_shift' (of 'd'), 'relu' with input Extra (of 'g'"
                + "), 'relu' with output Mask (of 'h'). Other formats may have counterparts: try .onnx or .json",
                e.getMessage());
    }

    @Test
    void leavesOutAttributesThatMeanNothing() {
        Program program = program(fmax().attr("axis", -1).attr("op_device", "cpu").build(),
                OpDesc.of("relu").in("X", "a").out("Out", "e").attr("of_another_version", 3).build());
        List<OpDesc> ops = OperationsOfPaddle.expressed(program).global().ops();
        assertNull(ops.get(0).attribute("axis"));
        assertEquals(new Attribute.Text("cpu"), ops.get(0).attribute("op_device"));
        assertEquals(new Attribute.Int(3), ops.get(1).attribute("of_another_version"));
        assertEquals(new Attribute.Int(-1), program.global().ops().getFirst().attribute("axis"), "not changed");
    }

    /** PaddlePaddle 2.6.2 declares them; a program with them kills the process, or stops. */
    @ParameterizedTest
    @ValueSource(strings = {"nanmedian", "rrelu"})
    void namesWhatHasNoKernelInPrograms(String type) {
        Program program = program(OpDesc.of(type).in("X", "a").out("Out", "b").build());
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> OperationsOfPaddle.expressed(program));
        assertEquals("PaddlePaddle 2 has no counterpart of an operation of the model: '" + type + "', whose kernel "
                + "does not run in programs, (of 'b'). Other formats may have counterparts: try .onnx or .json",
                e.getMessage());
    }

    @Test
    void namesSpectraWithBothSides() {
        Program program = program(OpDesc.of("stft").in("X", "a").in("Window", "w").out("Out", "b")
                .attr("onesided", false).build());
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> OperationsOfPaddle.expressed(program));
        assertTrue(String.valueOf(e.getMessage()).contains("'stft' with onesided = false"), e.getMessage());
    }

    /** Programs that Paddle wrote are as they were. */
    @TestFactory
    Stream<DynamicTest> hasAllOperationsOfPaddlesFiles() {
        Map<String, Tensor> exports = GoldenFiles.entries("exports");
        return GoldenFiles.names(exports, "inference").stream()
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Program program = GoldenFiles.program(exports, name + "/inference");
                    assertEquals(program.toString(), OperationsOfPaddle.expressed(program).toString());
                }));
    }
}
