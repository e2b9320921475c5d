package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PlanViewTest {
    private static final Pattern TAG = Pattern.compile("<(/?)([a-z]+)(?: [a-zA-Z-]+=\"[^\"<>]*\")*(/?)>");

    private static PlanView view(Executor.Builder builder, Network network, long batch, String output) {
        try (Executor executor = builder.build()) {
            return PlanView.of(executor, network.main(), batch, List.of(network.outputs().get(output).name()));
        }
    }

    private static Network mlp() {
        return Network.define(1,
                g -> Outputs.of("y", g.linear(g.linear(g.data("x", DType.FLOAT32, -1, 6), 8).tanh(), 3).softmax(1)));
    }

    private static Network regression() {
        return Network.define(1, g -> {
            Value label = g.data("label", DType.FLOAT32, -1, 1);
            return Outputs.of("loss", g.linear(g.data("x", DType.FLOAT32, -1, 16), 1).minus(label).square().mean());
        });
    }

    /** Returns the cells of the row with the given first cell. Columns are separated by at least two spaces. */
    private static List<String> row(String text, String section, String first) {
        String from = text.substring(text.indexOf("\n" + section));
        return from.lines().map(line -> Arrays.asList(line.strip().split(" {2,}", -1)))
                .filter(cells -> cells.contains(first)).findFirst()
                .orElseThrow(() -> new AssertionError(first + " is not in " + from));
    }

    /** Asserts that all elements are closed and properly nested, and that text contains no angle brackets. */
    private static void assertWellFormed(String svg) {
        Deque<String> open = new ArrayDeque<>();
        Matcher tags = TAG.matcher(svg);
        while (tags.find()) {
            if (tags.group(1).isEmpty() && tags.group(3).isEmpty()) {
                open.push(tags.group(2));
            } else if (!tags.group(1).isEmpty()) {
                assertEquals(open.pop(), tags.group(2), () -> "at " + tags.start() + " of " + svg);
            }
        }
        assertTrue(open.isEmpty(), () -> open + " do not end in " + svg);
        String rest = tags.replaceAll("");
        assertFalse(rest.contains("<") || rest.contains(">"), rest);
    }

    @Test
    void eachStepHasASection() {
        String text = view(Executor.builder(), mlp(), 4, "y").text();
        for (String section : List.of("1 variables: ", "2 kernels: 3 tasks", "  transfers: none",
                "3 dependencies: 2 found, 2 kept, 0 more",
                "4 streams and events: none", "5 lifetimes: ", "6 memory: ")) {
            assertTrue(text.contains("\n" + section), () -> section + " is not in " + text);
        }
        assertEquals(List.of("fed", "no", "float32 [4, 6]"), row(text, "1", "x").subList(2, 5));
        assertEquals(List.of("outside", "yes", "float32 [6, 8]"), row(text, "1", "linear_0.w_0").subList(2, 5));
        assertTrue(row(text, "2", "matmul_v2+elementwise_add+tanh").getLast().startsWith("matmul ("), text);
        // The results of the products are 4 * 8 and 4 * 3 floats; the second is placed after the first.
        assertTrue(
                text.contains("\n6 memory: 192 bytes in all, 176 without sharing, largest live set 176, in place 0\n"),
                text);
        assertTrue(text.contains("\n  arena of cpu: 192 bytes\n"), text);
    }

    @Test
    void withoutFusionEachOperationIsATask() {
        String text = view(Executor.builder().fusion(false), mlp(), 4, "y").text();
        assertTrue(text.contains("\n2 kernels: 6 tasks\n") && !text.contains("matmul_v2+"), text);
    }

    @Test
    void theResultOfARegressionOnADeviceIsCopiedToTheHostAndEachValueHasItsLastUser() {
        Network network = regression();
        PlanView view = view(Executor.builder().place(Place.sim(0)).fusion(false), network, 8, "loss");
        String text = view.text();
        List<Task> tasks = view.plan().tasks();
        assertEquals("memcpy_d2h", tasks.getLast().name(), text);
        assertEquals(List.of("memcpy_h2d", "memcpy_h2d", "matmul_v2", "elementwise_add", "elementwise_sub", "square",
                "reduce_mean",
                "memcpy_d2h"), tasks.stream().map(Task::name).toList());
        Map<String, String> last = Map.of("x", "memcpy_h2d", "x_device_cpu_sim:0", "matmul_v2", "linear_0.w_0",
                "matmul_v2", "linear_0.b_0",
                "elementwise_add", "linear_1.tmp_0", "elementwise_add", "label_device_cpu_sim:0", "elementwise_sub",
                "linear_1.tmp_1",
                "elementwise_sub", "mean_0.tmp_0", "memcpy_d2h");
        last.forEach((name, operation) -> assertEquals(operation, row(text, "5", name).get(4), name));
        assertTrue(text.contains("\n  transfers: 3\n"), text);
        // The kernels wait for both copies, and the copy back waits for the kernels. The host has no task that waits.
        assertTrue(text.contains("\n4 streams and events: 3 streams, 3 events\n"), text);
        assertEquals(List.of("7", "memcpy_d2h", "2", "6", "no"), row(text, "4", "memcpy_d2h"));
        String svg = view.svg();
        assertEquals(3, svg.split(": data, event", -1).length - 1, svg);
        assertWellFormed(svg);
    }

    @Test
    void edgesForTheSakeOfMemoryAreMarked() {
        // Independent chains in parallel would need much more memory than in program order, so some tasks must wait.
        Network network = Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, 512, 1024);
            Value sum = x.flip(0).flip(1).mean();
            for (int i = 0; i < 7; i++) {
                sum = sum.plus(x.flip(0).flip(1).mean());
            }
            return Outputs.of("sum", sum);
        });
        PlanView view = view(Executor.builder().threads(2).fusion(false), network, 1, "sum");
        String text = view.text();
        assertTrue(text.contains(" (memory)") && !text.contains(" 0 more for the sake of memory"), text);
        assertTrue(view.svg().contains("<path class=\"edge memory\" d=\"M"), "a dotted line");
        assertWellFormed(view.svg());
    }

    @Test
    void blocksArePlannedLater() {
        Network network = Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 4);
            Value loss = g.linear(x, 3).relu().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        String straight = view(Executor.builder(), network, 2, "loss").text();
        assertFalse(straight.contains("  blocks: "), straight);
        Program program = network.main();
        Block inner = program.addBlock(0, null);
        inner.add(
                OpDesc.of("scale").in("X", "x").out("Out", "z").attr("scale", 2f).attr("bias", 0f)
                        .attr("bias_after_scale", true).build());
        VarDesc condition = VarDesc.of("condition", VarType.dense(DType.BOOL, 1));
        program.global().put(condition).put(VarDesc.of("z", VarType.dense(DType.FLOAT32, -1, 4)));
        program.global().put(VarDesc.of("scopes", new VarType.Other(11)));
        program.global()
                .add(OpDesc.of("conditional_block").in("Cond", "condition").in("Input", "x").out("Out", "z")
                        .out("Scope", "scopes")
                        .attr("sub_block", inner).attr("is_scalar_condition", true).build());
        try (Executor executor = Executor.on(Place.CPU)) {
            String text = PlanView.of(executor, program, 2, List.of("z")).text();
            assertTrue(text.contains("\n  blocks: each is compiled when it runs"), text);
            assertTrue(row(text, "2", "conditional_block").getLast().startsWith("interpreted: "), text);
        }
    }

    @Test
    void ofALongProgramTheBeginningIsDrawn() {
        Network network = Network.define(1, g -> {
            Value y = g.data("x", DType.FLOAT32, -1, 4);
            for (int i = 0; i < 410; i++) {
                y = y.flip(1);
            }
            return Outputs.of("y", y);
        });
        PlanView view = view(Executor.builder().fusion(false), network, 2, "y");
        assertEquals(410, view.plan().tasks().size());
        String svg = view.svg();
        assertWellFormed(svg);
        assertTrue(svg.contains("Tasks: the first 400 of 410"), "says so");
        assertTrue(svg.contains(">399 flip</text>"), "the last one");
        assertFalse(svg.contains(">400 flip</text>"), "one more");
    }

    @Test
    void shapesCanBeGivenAndMustFit() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Program program = mlp().main();
            String text = PlanView.of(executor, program, 1, Map.of("x", new long[]{9, 6}), List.of()).text();
            assertEquals("float32 [9, 6]", row(text, "1", "x").get(4));
            String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> PlanView.of(executor, program, 1, List.of("nothing"))).getMessage());
            assertTrue(message.contains("no variable 'nothing'"), message);
            assertThrows(IllegalArgumentException.class, () -> PlanView.of(executor, program, 0, List.of()));
            assertThrows(RuntimeException.class,
                    () -> PlanView.of(executor, program, 1, Map.of("x", new long[]{9, 5}), List.of()));
        }
    }
}
