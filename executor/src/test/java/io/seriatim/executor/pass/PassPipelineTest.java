package io.seriatim.executor.pass;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The list of passes, and the check after each of them, which must notice passes that break a plan. */
class PassPipelineTest {
    private static final Network NETWORK = Network.define(7, g -> {
        Value x = g.data("x", DType.FLOAT32, 4, 8);
        Value hidden = g.linear(x, 8).tanh();
        return Outputs.of("y", hidden.exp().plus(hidden).softmax(-1));
    });

    private static CompiledTasks tasks() {
        try (Executor executor = Executor.builder().fusion(false).threads(1).build()) {
            executor.run(NETWORK.startup());
            Plan plan = executor.compile(NETWORK.main(), feeds("x"), fetches(NETWORK.outputs().get("y").name()));
            CompiledPlan made = Internals.compiled(plan, executor.scope(), Bits.normal(1, 4, 8));
            return new CompiledTasks(made.tasks(), made.values());
        }
    }

    private record CompiledTasks(List<Task> tasks, ValueTable values) {
        void check(List<Task> rewritten) {
            check(graph -> graph.replaceAll(rewritten));
        }

        void check(Consumer<TaskGraph> rewrite) {
            TaskGraph graph = new TaskGraph(tasks, values);
            PassCheck check = new PassCheck.On(graph);
            rewrite.accept(graph);
            check.after(RewritePass.of(PassName.CHAINS, (_, _) -> {
            }), graph);
        }
    }

    /** What the passes themselves ask for is what users can switch off. */
    @Test
    void everySwitchIsAPassOrAStepOfTheSchedule() {
        Set<String> listed = PassPipeline.PASSES.stream().map(RewritePass::name)
                .collect(Collectors.toCollection(TreeSet::new));
        listed.remove("FUSION");
        // INTEGERS rewrites the program before it is lowered.
        listed.addAll(Set.of("FOLDING", "CHAINS", "PARTITION", "LAYOUTS", "INTEGERS"));
        assertEquals(
                Arrays.stream(PassName.values()).map(PassName::name).collect(Collectors.toCollection(TreeSet::new)),
                listed);
        assertEquals(Arrays.stream(Pass.values()).map(Internals::key).toList(), List.of(PassName.values()));
    }

    @Test
    void tasksThatAreLeftAloneAreRight() {
        CompiledTasks made = tasks();
        assertTrue(made.tasks.size() > 3, made.tasks::toString);
        assertDoesNotThrow(() -> made.check(made.tasks));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void aPassThatDropsATaskIsFound(int dropped) {
        CompiledTasks made = tasks();
        List<Task> fewer = new ArrayList<>(made.tasks);
        fewer.remove(dropped);
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> made.check(fewer));
        assertTrue(String.valueOf(thrown.getMessage()).contains("CHAINS"), thrown::getMessage);
    }

    @Test
    void aPassThatTurnsTheOrderRoundIsFound() {
        CompiledTasks made = tasks();
        List<Task> turned = new ArrayList<>(made.tasks);
        Collections.reverse(turned);
        assertThrows(IllegalStateException.class, () -> made.check(turned));
    }

    /** The use-def index is not updated if a pass changes an array of a task directly. */
    @Test
    void aPassThatChangesATaskWithoutTheGraphIsFound() {
        CompiledTasks made = tasks();
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> made.check(graph -> {
            int[] reads = Objects.requireNonNull(graph.get(1)).reads();
            int read = reads[0];
            assertTrue(graph.readers(read).contains(1));
            reads[0] = Objects.requireNonNull(graph.get(0)).reads()[0];
        }));
        assertTrue(String.valueOf(thrown.getMessage()).contains("use-def index"), thrown::getMessage);
    }

    @Test
    void aPassThatRenamesTheMemoryOfAValueIsFound() {
        CompiledTasks made = tasks();
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> made.check(graph -> {
            int first = Objects.requireNonNull(graph.get(0)).writes()[0];
            int second = Objects.requireNonNull(graph.get(1)).writes()[0];
            assertTrue(graph.writers(second).isOnly(1));
            graph.values().sameMemory(second, first);
        }));
        assertTrue(String.valueOf(thrown.getMessage()).contains("use-def index"), thrown::getMessage);
    }

    @Test
    void aPassThatReadsATemporaryBeforeItIsWrittenIsFound() {
        CompiledTasks made = tasks();
        List<Task> wrong = new ArrayList<>(made.tasks);
        for (int i = 0; i < wrong.size(); i++) {
            if (wrong.get(i) instanceof Task.Compute compute) {
                Stage stage = compute.stages().getFirst();
                List<Arg> inputs = new ArrayList<>(stage.inputs());
                inputs.set(0, new Arg(new Arg.Temporary(0), 0, stage.specs()[0]));
                wrong.set(i,
                        new Task.Compute(compute.operations(),
                                List.of(stage.with(List.copyOf(inputs), stage.outputs())),
                                List.of(stage.specs()[0]), Place.CPU, compute.reads(), compute.writes()));
                break;
            }
        }
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> made.check(wrong));
        assertTrue(String.valueOf(thrown.getMessage()).contains("temporary 0"), thrown::getMessage);
    }
}
