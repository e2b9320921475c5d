package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Injects a failure before each operation of a training step in turn. */
class FaultsEverywhereTest {
    private static final String PLACE = "  File \"/home/me/train.py\", line 41, in step";
    private static final Network NETWORK = Network.define(3, g -> {
        Value x = g.data("x", FLOAT32, -1, 6);
        Value y = g.data("y", INT64, -1, 1);
        Value loss = g.softmaxCrossEntropy(g.linear(g.linear(x, 5).relu(), 3), y).mean();
        g.minimize(loss, Adam.of(0.01).clip(Clip.globalNorm(1)));
        return Outputs.of("loss", loss);
    });
    private static final String LOSS = NETWORK.outputs().get("loss").name();
    private static final List<String> PERSISTABLES = NETWORK.main().persistables().stream().map(VarDesc::name).toList();

    private static final class Deliberate extends IllegalStateException {
        private static final long serialVersionUID = 1;

        Deliberate() {
            super("this was to fail");
        }
    }

    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    private static Tensor x(int step) {
        return Bits.normal(step, 4, 6);
    }

    private static Tensor y(int step) {
        return Bits.below(3, step, 4, 1);
    }

    private static Map<String, Tensor> values(Function<String, Tensor> source) {
        Map<String, Tensor> values = new HashMap<>();
        PERSISTABLES.forEach(name -> values.put(name, Bits.copy(source.apply(name))));
        return values;
    }

    /** Interprets one step from given values; returns the loss and stores the values after the step. */
    private static Tensor step(Map<String, Tensor> from, Map<String, Tensor> after) {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        from.forEach((name, value) -> interpreter.set(name, Bits.copy(value)));
        Tensor loss = Objects
                .requireNonNull(interpreter.run(NETWORK.main(), Map.of("x", x(2), "y", y(2)), List.of(LOSS)).get(LOSS));
        after.putAll(values(interpreter::get));
        return loss;
    }

    @ParameterizedTest
    @CsvSource({"1,true,test_kernel", "1,false,test_probe", "3,false,test_probe", "3,false,test_kernel"})
    void leaveWholeValuesAndNothingElse(int threads, boolean sequential, String type) {
        // The first run allocates the resources that the process keeps.
        failAt(0, threads, sequential, type);
        Resources before = Resources.now();
        int operations = NETWORK.main().global().ops().size();
        for (int position = 0; position < operations; position++) {
            failAt(position, threads, sequential, type);
        }
        before.assertGivenBack("after all failures");
    }

    private static void failAt(int position, int threads, boolean sequential, String type) {
        String where = "failure before operation " + position + ", "
                + NETWORK.main().global().ops().get(position).type();
        Program program = Probes.before(NETWORK.main(), position, type, "fault", PLACE);
        try (Executor executor = executor(threads, sequential)) {
            executor.run(NETWORK.startup());
            Plan plan = executor.compile(program, feeds("x", "y"), fetches(LOSS));
            plan.run(x(1), y(1));
            Map<String, Tensor> old = values(executor.scope()::get);
            Map<String, Tensor> complete = new HashMap<>();
            step(old, complete);

            Deliberate fault = new Deliberate();
            Probes.on("fault", _ -> {
                throw fault;
            });
            ProgramFailedException thrown = assertThrows(ProgramFailedException.class,
                    () -> plan.run(x(2), y(2)), where);
            Probes.off("fault");
            assertEquals(type, thrown.operation(), where);
            assertSame(fault, thrown.getCause(), where);
            assertEquals(0, thrown.getSuppressed().length, where);
            Map<String, Tensor> left = values(executor.scope()::get);
            assertWhole(position, sequential, old, complete, left, where);

            Map<String, Tensor> then = new HashMap<>();
            Tensor loss = step(left, then);
            Bits.assertSame(loss, plan.run(x(2), y(2)).get(LOSS), where + ": loss of the next run");
            PERSISTABLES
                    .forEach(name -> Bits.assertSame(Objects.requireNonNull(then.get(name)), executor.scope().get(name),
                            where + ": " + name + " after the next run"));
        }
    }

    private static Executor executor(int threads, boolean sequential) {
        Executor.Builder builder = Executor.builder().threads(threads).eager();
        return sequential ? builder.sequential().build() : builder.build();
    }

    @ParameterizedTest
    @CsvSource({"1,test_probe", "3,test_probe", "1,test_kernel", "3,test_kernel"})
    void sayWhatFailedAndOnWhatAndWhereItWasBuilt(int threads, String type) {
        List<OpDesc> ops = NETWORK.main().global().ops();
        for (int position = 0; position < ops.size(); position++) {
            Program program = Probes.before(NETWORK.main(), position, type, "fault", PLACE);
            String input = program.global().ops().get(position).inputNames().getFirst();
            String text;
            try (Executor executor = executor(threads, false)) {
                executor.run(NETWORK.startup());
                Probes.on("fault", _ -> {
                    throw new Deliberate();
                });
                text = String.valueOf(
                        assertThrows(ProgramFailedException.class,
                                () -> executor.run(program, Map.of("x", x(1), "y", y(1)), fetches(LOSS)))
                                .getMessage());
            }
            String where = "failure before operation " + position + ", " + ops.get(position).type() + ", says: " + text;
            assertTrue(text.contains(type) && text.contains("this was to fail"),
                    () -> "no operation and reason: " + where);
            Pattern shape = Pattern.compile(Pattern.quote(input) + " (float32|int64) ?\\[");
            assertTrue(shape.matcher(text).find(), () -> "no shape of " + input + ": " + where);
            assertTrue(text.contains("/home/me/train.py\", line 41"), () -> "no place: " + where);
        }
    }

    /**
     * Asserts that each optimizer operation was executed completely or not at all; with one thread, in program order.
     */
    private static void assertWhole(int position, boolean sequential, Map<String, Tensor> old,
            Map<String, Tensor> complete,
            Map<String, Tensor> left, String where) {
        List<OpDesc> ops = NETWORK.main().global().ops();
        List<String> updated = new ArrayList<>();
        for (int i = 0; i < ops.size(); i++) {
            OpDesc op = ops.get(i);
            if (op.type().equals("adam")) {
                boolean done = same(complete, left, op.outputNames());
                boolean undone = same(old, left, op.outputNames());
                assertTrue(done != undone,
                        () -> where + ": " + op.outputNames() + " are neither as before nor as after");
                assertTrue(!sequential || done == i < position,
                        () -> where + ": operations run in order, but " + op.outputNames());
                updated.addAll(op.outputNames());
            }
        }
        assertEquals(2 * 2 * 5, updated.size(), "parameters and what Adam keeps of them");
        PERSISTABLES.stream().filter(name -> !updated.contains(name)).forEach(
                name -> Bits.assertSame(Objects.requireNonNull(old.get(name)), Objects.requireNonNull(left.get(name)),
                        where + ": " + name));
    }

    private static boolean same(Map<String, Tensor> a, Map<String, Tensor> b, List<String> names) {
        return names.stream()
                .allMatch(name -> Bits.same(Objects.requireNonNull(a.get(name)), Objects.requireNonNull(b.get(name))));
    }
}
