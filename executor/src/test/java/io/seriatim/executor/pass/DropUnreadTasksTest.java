package io.seriatim.executor.pass;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class DropUnreadTasksTest {
    @Test
    void whatNoOneReadsIsDroppedAndWhatDoesMoreStays() {
        Network network = Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, 2, 3);
            Value unread = x.exp().tanh();
            x.abs().print("seen");
            return Outputs.of("y", x.sqrt(), "unread", unread);
        });
        try (Executor executor = Executor.builder().fusion(false).threads(1).build()) {
            CompiledPlan plan = Internals.compiled(
                    executor.compile(network.main(), feeds("x"), fetches(network.outputs().get("y").name())),
                    executor.scope(), Bits.normal(3, 2, 3));
            assertEquals(List.of("exp", "tanh", "abs", "print", "sqrt"), names(plan.tasks()));
            PassContext context = new PassContext(network.main(),
                    Internals.options(Executor.on(Place.CPU)), PreparedKernels.system());
            TaskGraph graph = new TaskGraph(plan.tasks(), plan.values());
            PassPipeline.run(List.of(DropUnreadTasks.PASS), graph, context);
            assertEquals(List.of("abs", "print", "sqrt"), names(graph.tasks()));
        }
    }

    private static List<String> names(List<Task> tasks) {
        return tasks.stream().map(Task::name).toList();
    }

    /** The page shows the code that is compiled and tested here. */
    @Test
    void thePageShowsThisCode() throws IOException {
        String page = Files.readString(Path.of("../docs/add-a-pass.md"));
        String code = Files.readString(
                Path.of("src/test/java/io/seriatim/executor/pass/DropUnreadTasks.java"));
        assertTrue(page.contains(code.substring(code.indexOf("/**")).strip()),
                "docs/add-a-pass.md must show DropUnreadTasks.java as it is");
    }
}
