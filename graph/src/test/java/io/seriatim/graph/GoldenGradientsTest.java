package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.autodiff.Backward;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The operations that gradients, and gradients of gradients, add, and the names of their variables, compared with those
 * of the real Paddle.
 */
class GoldenGradientsTest {
    /** The incoming gradients of second gradients are fed under such names, those of third gradients with a 3. */
    private static final String SECOND = "d2_";
    private static final String THIRD = "d3_";

    @TestFactory
    Stream<DynamicTest> areThoseOfPaddle() {
        List<GoldenOperations> cases = GoldenOperations.all().values().stream()
                .filter(each -> each.in().keySet().stream().anyMatch(name -> name.startsWith(SECOND))).toList();
        assertTrue(cases.size() > 30, () -> "only " + cases.size() + " cases have second gradients");
        return cases.stream().map(each -> DynamicTest.dynamicTest(each.name(), () -> compare(each)));
    }

    /** Of every operation that has one. */
    @TestFactory
    Stream<DynamicTest> firstAreThoseOfPaddle() {
        return GoldenOperations.all().values().stream().filter(each -> !listed(each, "gradients").isEmpty())
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> {
                    Program program = forward(each);
                    differentiate(program, listed(each, "targets"), listed(each, "target_gradients"),
                            listed(each, "inputs"));
                    String expected = text(each.program());
                    String found = text(program);
                    assertEquals(expected.substring(0, Math.min(expected.length(), found.length())), found);
                    for (int i = 0; i < program.global().ops().size(); i++) {
                        sameAttributes(each.program().global().ops().get(i), program.global().ops().get(i));
                    }
                }));
    }

    /** An attribute that one of the two leaves out has its default. */
    private static void sameAttributes(OpDesc expected, OpDesc found) {
        for (Attribute.Named each : found.attributes()) {
            Attribute value = expected.attribute(each.name());
            if (value != null && !each.name().startsWith("op_")) {
                assertEquals(value, each.value(), () -> found.type() + " " + each.name());
            }
        }
    }

    private static List<String> listed(GoldenOperations golden, String key) {
        Matcher matcher = Pattern.compile("\"" + key + "\": \\[([^\\]]*)]").matcher(golden.meta());
        String list = matcher.find() ? matcher.group(1) : "";
        return Stream.of(list.split(",")).map(name -> name.strip().replace("\"", "")).filter(name -> !name.isEmpty())
                .toList();
    }

    private static Program forward(GoldenOperations golden) {
        Program program = golden.program().copy();
        Block block = program.global();
        block.setOps(block.ops().stream().takeWhile(op -> (Roles.of(op) & Roles.BACKWARD) == 0).toList());
        List<VarDesc> made = block.vars().stream().filter(desc -> desc.name().contains(GradientRule.SUFFIX)).toList();
        made.forEach(desc -> block.remove(desc.name()));
        return program;
    }

    private static void compare(GoldenOperations golden) {
        Program program = forward(golden);
        List<String> inputs = Stream.of("x", "y").filter(name -> golden.in().containsKey(SECOND + name)).toList();
        differentiate(program, List.of("out"), List.of("d_out"), inputs);
        List<String> of = new ArrayList<>(inputs);
        of.add("d_out");
        Map<String, String> second = differentiate(program, inputs.stream().map(GradientRule::gradient).toList(),
                inputs.stream().map(name -> SECOND + name).toList(), of);
        if (golden.in().keySet().stream().anyMatch(name -> name.startsWith(THIRD))) {
            inputs.forEach(name -> of.add(SECOND + name));
            differentiate(program, List.copyOf(second.values()),
                    second.keySet().stream().map(name -> THIRD + name).toList(), of);
        }
        assertEquals(text(golden.program()), text(program));
    }

    /** The gradients by what they are gradients of, where there are any. */
    private static Map<String, String> differentiate(Program program, List<String> targets, List<String> given,
            List<String> inputs) {
        Block block = program.global();
        inputs.forEach(name -> block.put(block.get(name).stopping(false)));
        List<@Nullable String> gradients = Backward.gradients(program, targets, new ArrayList<>(given), inputs,
                Set.of());
        Map<String, String> found = new LinkedHashMap<>();
        for (int i = 0; i < inputs.size(); i++) {
            String gradient = gradients.get(i);
            if (gradient != null) {
                found.put(inputs.get(i), gradient);
            }
        }
        return found;
    }

    private static String text(Program program) {
        return program.global().ops().stream()
                .map(op -> op.type() + " " + new TreeMap<>(op.inputs()) + " -> " + new TreeMap<>(op.outputs()))
                .collect(Collectors.joining("\n"));
    }
}
