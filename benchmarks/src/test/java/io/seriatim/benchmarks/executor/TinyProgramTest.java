package io.seriatim.benchmarks.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.graph.Network;
import io.seriatim.graph.program.OpDesc;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TinyProgramTest {
    @ParameterizedTest
    @EnumSource
    void hasSoManyOperationsAndUsesAllResults(TinyProgram program) {
        for (int operations : new int[]{1, 2, 3, 4, 35, 100, 1000}) {
            Network network = program.network(operations);
            List<OpDesc> ops = network.main().global().ops();
            assertEquals(operations, ops.size());
            Set<String> read = new HashSet<>(Set.of(network.outputs().get("y").name()));
            ops.forEach(op -> read.addAll(op.inputNames()));
            ops.forEach(op -> assertTrue(read.containsAll(op.outputNames()), () -> "unused: " + op));
        }
    }

    @ParameterizedTest
    @EnumSource
    void staysFinite(TinyProgram program) {
        Network network = program.network(1000);
        try (PlanRun run = PlanRun.of(Executor.builder().build(), null, network.main(), List.of("x"),
                network.outputs().get("y").name(),
                TinyProgram.feed())) {
            for (float value : run.plan().run(run.feeds()).get(network.outputs().get("y").name()).toFloatArray()) {
                assertTrue(value >= 1 && value < 1e30, () -> program + " gives " + value);
            }
        }
    }

    @Test
    void aChainIsOneAfterTheOther() {
        List<OpDesc> ops = TinyProgram.CHAIN.network(10).main().global().ops();
        for (int i = 1; i < ops.size(); i++) {
            assertTrue(ops.get(i).inputNames().containsAll(ops.get(i - 1).outputNames()));
        }
    }
}
