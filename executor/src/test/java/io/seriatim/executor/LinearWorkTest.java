package io.seriatim.executor;

import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.executor.run.Frame;
import io.seriatim.executor.schedule.Ancestors;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Dependencies;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The work of compiling a plan, which is counted, grows linearly with the program. If a step were quadratic, the
 * largest programs would take hours.
 */
@Tag("slow")
class LinearWorkTest {
    /** The work for an edge: the words of the window of ancestors, and the edge itself. */
    private static final int LOOKS = Ancestors.WINDOW / Long.SIZE + 1;

    private static OpDesc unary(String type, String from, String to) {
        return OpDesc.of(type).in("X", from).out("Out", to).build();
    }

    private static OpDesc add(String a, String b, String to) {
        return OpDesc.of("elementwise_add").in("X", a).in("Y", b).out("Out", to).attr("axis", -1).build();
    }

    private static List<OpDesc> operations(String kind, int count) {
        Random random = new Random(count);
        List<OpDesc> ops = new ArrayList<>();
        switch (kind) {
            // Three kinds of operations, with recent and old operands.
            case "random" -> {
                ops.add(unary("tanh", "x", "v0"));
                for (int i = 1; i < count; i++) {
                    String near = "v" + Math.max(0, i - 1 - random.nextInt(50));
                    String any = "v" + random.nextInt(i);
                    ops.add(i % 3 == 0
                            ? unary("relu", near, "v" + i)
                            : i % 3 == 1 ? add(near, any, "v" + i) : unary("tanh", any, "v" + i));
                }
            }
            // All operations read one value; it is overwritten, and all read it again.
            case "fan" -> {
                ops.add(unary("tanh", "x", "v0"));
                for (int i = 1; i < count; i++) {
                    ops.add(i == count / 2 ? unary("tanh", "v1", "v0") : unary("relu", "v0", "v" + i));
                }
            }
            // One value is updated repeatedly.
            case "in place" -> {
                ops.add(unary("tanh", "x", "v0"));
                for (int i = 1; i < count; i++) {
                    ops.add(OpDesc.of("increment").in("X", "v0").out("Out", "v0").attr("step", 1f).build());
                }
            }
            // A variable of the scope is read and written repeatedly.
            case "outliving" -> {
                for (int i = 0; i < count; i++) {
                    ops.add(i % 2 == 0 ? unary("tanh", "w", "v" + i) : add("w", "v" + (i - 1), "w"));
                }
            }
            // All values are copied, and one operation reads all copies.
            default -> {
                ops.add(unary("tanh", "x", "v0"));
                List<String> all = new ArrayList<>();
                for (int i = 1; i < count - 1; i++) {
                    ops.add(unary("assign", "v0", "v" + i));
                    all.add("v" + i);
                }
                ops.add(OpDesc.of("sum").in("X", all).out("Out", "v" + count).build());
            }
        }
        return ops;
    }

    private static Program program(String kind, int count, boolean mixed) {
        Random random = new Random(count);
        Program program = new Program();
        Block block = program.global();
        List<OpDesc> ops = operations(kind, count);
        Set<String> names = new LinkedHashSet<>(List.of("x", "w"));
        ops.forEach(op -> {
            names.addAll(op.inputNames());
            names.addAll(op.outputNames());
        });
        for (String name : names) {
            VarDesc desc = VarDesc.of(name, new VarType.Dense(VarType.TensorType.of(DType.FLOAT32, 1), null));
            block.put(name.equals("w") ? desc.persistent() : desc);
        }
        ops.forEach(op -> block.add(mixed ? op.with("op_device", RandomPlacementTest.PLACES[random.nextInt(3)]) : op));
        return program;
    }

    @ParameterizedTest(name = "{0}, {1} operations, on several devices: {2}, joined: {3}")
    @CsvSource({"random,1000,false,false", "random,10000,false,false", "random,100000,false,false",
            "random,20000,false,true",
            "random,20000,true,false",
            "fan,20000,false,false", "fan,10000,true,true", "in place,20000,false,true", "in place,10000,true,false",
            "outliving,20000,false,true",
            "outliving,10000,true,false", "copies,20000,false,true", "copies,10000,true,false"})
    void plansTakeLinearWork(String kind, int count, boolean mixed, boolean fusion) {
        Program program = program(kind, count, mixed);
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).threads(2).eager().fusion(fusion).build()) {
            executor.scope().set("w", Bits.floats(1));
            List<String> feeds = kind.equals("outliving") ? List.of() : List.of("x");
            String last = program.global().ops().getLast().outputNames().getFirst();
            CompiledPlan plan = executor.compile(program, new Feeds(feeds), fetches(last)).specialisation(
                    executor.scope(),
                    feeds.isEmpty() ? new Tensor[0] : new Tensor[]{Bits.floats(1)});
            assertLinear(plan, count);
            Frame.alone(plan, executor.options(), executor.streams()).close();
        }
    }

    private static void assertLinear(CompiledPlan plan, int count) {
        int tasks = plan.tasks().size();
        Dependencies dependencies = plan.dependencies();
        // An operation has two operands, each of which may need a transfer through the host.
        assertTrue(tasks <= 5 * count, tasks + " tasks");
        assertTrue(dependencies.found() <= 4L * count + 2L * tasks, dependencies.found() + " dependencies");
        assertTrue(dependencies.examined() <= LOOKS * dependencies.found(),
                dependencies.examined() + " looks for " + dependencies.found());
        assertTrue(edges(plan.before()) <= dependencies.kept() + 3L * tasks, edges(plan.before()) + " edges at last");
        assertTrue(edges(plan.releases().after()) <= edges(plan.before()) + tasks, "releases");
        assertTrue(edges(plan.streams().waits()) + edges(plan.streams().hostWaits()) <= edges(plan.before()), "events");
        assertTrue(edges(plan.streams().passed()) <= (long) plan.streams().streams().size() * tasks,
                "events that are heard of");
        assertTrue(plan.memory().arenaBytes() <= 64L * 4 * count, plan.memory().arenas() + " bytes");
    }

    private static long edges(int[][] lists) {
        return Arrays.stream(lists).mapToLong(each -> each.length).sum();
    }
}
