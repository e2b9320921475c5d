package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Lifetimes;
import io.seriatim.executor.schedule.MemoryPlan;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** No task waits for a collective only to get the memory that the collective uses. */
class ExchangedMemoryTest {
    private static final int NETWORKS = Boolean.getBoolean("seriatim.full") ? 60 : 4;
    /** By how much the arena of several threads may exceed that of one. */
    private static final double GROWTH = 1.25;
    private static final long ALLOWANCE = 1 << 20;

    /** Layers whose gradients fill buckets alone, in part, or several together. */
    private static Network network(Random random) {
        int layers = 5 + random.nextInt(8);
        return Network.define(random.nextInt(), g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 36);
            for (int i = 0; i < layers; i++) {
                int width = 192 + random.nextInt(320);
                Value y = g.linear(x, width);
                x = switch (random.nextInt(4)) {
                    case 0 -> y.relu();
                    case 1 -> y.tanh().times(0.5);
                    case 2 -> y.plus(y.softmax(-1));
                    default -> y.tanh().plus(g.linear(y.relu(), width));
                };
            }
            Value loss = g.linear(x, 3).tanh().mean();
            g.minimize(loss, Adam.of(0.01));
            return Outputs.of("loss", loss);
        });
    }

    private static boolean isCollective(Task task) {
        return task.operations().stream().anyMatch(each -> each.op().type().startsWith("c_"));
    }

    /** For each task, all tasks that end before it. */
    private static BitSet[] ancestors(int[][] before) {
        BitSet[] all = new BitSet[before.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = new BitSet();
            for (int other : before[i]) {
                all[i].or(all[other]);
                all[i].set(other);
            }
        }
        return all;
    }

    private static void assertNoneWaits(CompiledPlan plan, String what) {
        BitSet collectives = new BitSet();
        for (int i = 0; i < plan.tasks().size(); i++) {
            collectives.set(i, isCollective(plan.tasks().get(i)));
        }
        BitSet[] needed = ancestors(plan.dependencies().before());
        BitSet[] all = ancestors(plan.before());
        for (int i = 0; i < all.length; i++) {
            BitSet more = (BitSet) all[i].clone();
            more.and(collectives);
            more.andNot(needed[i]);
            assertTrue(more.isEmpty(), what + ": task " + i + " waits for collectives " + more);
        }
        assertEquals(List.of(), new MemoryCheck(plan, all).violations(), what);
    }

    private static TaskGraph graph(CompiledPlan plan) {
        return new TaskGraph(plan.tasks(), plan.values());
    }

    private static long serialBytes(CompiledPlan plan) {
        return MemoryPlan.of(graph(plan), Lifetimes.of(plan), plan.dependencies().before(), true, true).arenaBytes();
    }

    private static long exchangedBytes(CompiledPlan plan) {
        BitSet exchanged = new BitSet();
        for (Task task : plan.tasks()) {
            if (isCollective(task)) {
                for (int[] values : new int[][]{task.reads(), task.writes()}) {
                    for (int value : values) {
                        exchanged.set(plan.values().memory(value));
                    }
                }
            }
        }
        return exchanged.stream().mapToLong(memory -> Objects.requireNonNull(plan.values().spec(memory)).bytes()).sum();
    }

    @Test
    void backwardDoesNotWaitForSumsOfGradientsAndArenasGrowByThem() {
        for (long seed = 0; seed < NETWORKS; seed++) {
            Random random = new Random(seed);
            Network network = network(random);
            String loss = network.outputs().get("loss").name();
            DataParallel parallel = DataParallel.of(network.main(), network.startup(), List.of("x"), loss,
                    List.of(loss), List.of(Place.CPU)).ofRank(0, 2);
            try (Tensor x = Bits.normal(1, 4 + random.nextInt(200), 36);
                    Executor executor = Executor.builder().communicator(new SilentRanks()).threads(2).build()) {
                executor.run(parallel.startup());
                Plan plan = executor.compile(parallel.main(), Executor.feeds("x"), new Fetches(List.of(loss)));
                CompiledPlan compiled = Internals.compiled(plan, executor.scope(), x);
                String what = "seed " + seed;
                assertTrue(compiled.tasks().stream().filter(ExchangedMemoryTest::isCollective).count() > 1, what);
                assertNoneWaits(compiled, what);
                long most = (long) (GROWTH * serialBytes(compiled)) + ALLOWANCE + exchangedBytes(compiled);
                assertTrue(compiled.memory().arenaBytes() <= most, () -> what + ": "
                        + compiled.memory().arenaBytes() + " bytes, but at most " + most + " are expected");
            }
        }
    }

    /** A chain whose every second task is a collective reuses memory as any other chain does. */
    @Test
    void memoryBehindACollectiveThatAllWaitForIsReused() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 512, 512)));
        String from = "x";
        for (int i = 0; i < 12; i++) {
            String to = "chain" + i;
            program.global().put(VarDesc.of(to, VarType.dense(DType.FLOAT32, 512, 512)));
            program.global().add(OpDesc.of(i % 2 == 0 ? "softmax" : "c_allreduce_sum").in("X", from).out("Out", to)
                    .build());
            from = to;
        }
        try (Tensor x = Tensor.of(new float[512 * 512], 512, 512);
                Executor executor = Executor.builder().communicator(new SilentRanks()).threads(2).build()) {
            CompiledPlan compiled = Internals.compiled(
                    executor.compile(program, Executor.feeds("x"), Executor.fetches(from)), executor.scope(), x);
            assertNoneWaits(compiled, "chain");
            assertEquals(serialBytes(compiled), compiled.memory().arenaBytes());
        }
    }
}
