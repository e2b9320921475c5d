package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.op.Problem;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A program that runs has no problems; those of one that does not are named. */
class ProgramCheckTest {
    /** All golden programs run elsewhere: nothing may stand against them. */
    @Test
    void programsThatRunHaveNoProblems() {
        Map<String, List<Problem>> wrong = new TreeMap<>();
        GoldenOperations.all().forEach((name, golden) -> check(name, golden.program(), wrong));
        assertEquals(Map.of(), wrong);
    }

    @TestFactory
    Stream<DynamicTest> networksThatRunHaveNoProblems() {
        return Stream.of("/golden/programs.npz", "/golden/exports.npz")
                .map(file -> DynamicTest.dynamicTest(file, () -> {
                    Map<String, Tensor> entries = GoldenOperations.entries(file);
                    Map<String, List<Problem>> wrong = new TreeMap<>();
                    List<String> programs = entries.keySet().stream()
                            .filter(key -> key.matches(".*/(main|startup|infer_test|inference|pdmodel|program)"))
                            .toList();
                    programs.forEach(key -> check(key, GoldenOperations.program(entries, key), wrong));
                    assertEquals(Map.of(), wrong);
                    assertTrue(programs.size() >= 5, programs::toString);
                }));
    }

    @Test
    void eachTypeIsReportedOnceWithItsFirstOperation() {
        Program program = new Program();
        for (String name : List.of("x", "y")) {
            program.global().put(VarDesc.of(name, VarType.dense(DType.FLOAT32, -1, name.equals("x") ? 3 : 4)));
        }
        for (int i = 0; i < 2; i++) {
            program.global().add(OpDesc.of("elementwise_add").in("X", "x").in("Y", "y").out("Out", "x").build())
                    .add(OpDesc.of("relu").in("X", "x").out("Out", "x").attr("op_device", "nowhere").build())
                    .add(OpDesc.of("strange").in("X", "x").out("Out", "x").build());
        }
        List<Problem> problems = ProgramCheck.of(program).problems();
        assertEquals(List.of(Problem.Kind.UNKNOWN, Problem.Kind.MISFIT, Problem.Kind.PLACE),
                problems.stream().map(Problem::kind).toList());
        assertEquals(List.of("operation 2 of block 0, 2 in all", "operation 0 of block 0, 2 in all",
                "operation 1 of block 0, 2 in all"), problems.stream().map(Problem::place).toList());
        assertTrue(problems.get(1).reason().contains("[-1, 3] and [-1, 4] do not broadcast"),
                problems.get(1).reason());
        assertTrue(problems.get(2).reason().contains("nowhere"), problems.get(2).reason());
    }

    private static void check(String name, Program program, Map<String, List<Problem>> wrong) {
        ProgramCheck check = ProgramCheck.of(program);
        if (!check.runs()) {
            wrong.put(name, check.problems());
        }
    }
}
