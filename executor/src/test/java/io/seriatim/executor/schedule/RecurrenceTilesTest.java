package io.seriatim.executor.schedule;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanCheck;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Recurrent;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.network.Recurrence;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Recurrent layers whose sequences, or whose directions, several threads compute. */
class RecurrenceTilesTest {
    private static final int STEPS = 20;
    private static final int WIDTH = 24;
    private static final int HIDDEN = 64;
    private static final double BOUND = 4e-6;

    private static Network network(String cell, int batch, boolean bothWays, boolean lengths, boolean trains) {
        return Network.define(7, g -> {
            Value x = g.data("x", DType.FLOAT32, batch, STEPS, WIDTH);
            Value lengthsOf = lengths ? g.data("lengths", DType.INT64, batch) : null;
            Recurrent.Result first = layer(g, cell, WIDTH, bothWays).apply(x, lengthsOf);
            Recurrent.Result result = layer(g, cell, bothWays ? 2 * HIDDEN : HIDDEN, bothWays).apply(first.output(),
                    lengthsOf);
            if (trains) {
                g.minimize(result.output().square().mean(), Sgd.of(0.1));
            }
            return Outputs.of("y", result.output(), "state", result.states().getLast());
        });
    }

    private static Recurrent layer(Graph g, String cell, long in, boolean bothWays) {
        Recurrent layer = cell.equals("lstm") ? g.layers().lstm(in, HIDDEN) : g.layers().gru(in, HIDDEN);
        return bothWays ? layer.bothWays() : layer;
    }

    private static Plan plan(Executor executor, Network network, boolean lengths) {
        executor.run(network.startup());
        return executor.compile(network.main(), lengths ? feeds("x", "lengths") : feeds("x"),
                fetches(names(network)));
    }

    private static String[] names(Network network) {
        return network.outputs().values().values().stream().map(Value::name).toArray(String[]::new);
    }

    private static Tensor[] given(int batch, boolean lengths) {
        Tensor x = Bits.normal(3, batch, STEPS, WIDTH);
        // The first is as long as all steps, the second is empty.
        long[] each = LongStream.range(0, batch).map(i -> i == 0 ? STEPS : i == 1 ? 0 : 1 + 7 * i % STEPS).toArray();
        return lengths ? new Tensor[]{x, Tensor.of(each, batch)} : new Tensor[]{x};
    }

    private static long recurrences(CompiledPlan plan) {
        return plan.tasks().stream().filter(task -> task instanceof Task.Compute compute
                && compute.stages().stream().anyMatch(stage -> stage.computation() instanceof Recurrence)).count();
    }

    @ParameterizedTest
    @CsvSource({"lstm, 1, false, false, 2", "lstm, 16, false, false, 4", "lstm, 16, false, true, 4",
            "gru, 16, false, true, 4", "gru, 9, false, false, 4", "lstm, 6, false, true, 2", "gru, 1, true, false, 4",
            "lstm, 16, true, true, 4", "gru, 5, true, true, 4"})
    void threadsShareSequencesAndDirections(String cell, int batch, boolean bothWays, boolean lengths, int tasks) {
        Network network = network(cell, batch, bothWays, lengths, false);
        Tensor[] given = given(batch, lengths);
        try (Executor one = Executor.builder().build()) {
            Results expected = plan(one, network, lengths).run(given);
            for (int threads = 2; threads <= 4; threads++) {
                try (Executor several = Executor.builder().threads(threads).build()) {
                    Plan plan = plan(several, network, lengths);
                    CompiledPlan made = Internals.compiled(plan, several.scope(), given);
                    String where = cell + " of " + batch + ", " + threads + " threads";
                    assertTrue(threads > 2 || recurrences(made) == tasks, where + ": " + recurrences(made) + " tasks");
                    PlanCheck.assertRight(made, false, where);
                    Results first = plan.run(given);
                    for (String name : names(network)) {
                        float[] right = expected.get(name).toFloatArray();
                        assertArrayEquals(right, first.get(name).toFloatArray(), (float) BOUND, where + ", " + name);
                    }
                    for (int run = 0; run < 50; run++) {
                        Results again = plan.run(given);
                        for (String name : names(network)) {
                            Bits.assertSame(first.get(name), again.get(name), where + ", " + name + ", run " + run);
                        }
                    }
                }
            }
        }
    }

    @Test
    void trainingsGiveTheSameBits() {
        for (boolean bothWays : List.of(false, true)) {
            Network network = network("lstm", 16, bothWays, true, true);
            Tensor[] given = given(16, true);
            try (Executor one = Executor.builder().build(); Executor several = Executor.builder().threads(3).build()) {
                Plan alone = plan(one, network, true);
                Plan together = plan(several, network, true);
                for (int step = 0; step < 5; step++) {
                    Results expected = alone.run(given);
                    Results found = together.run(given);
                    for (String name : names(network)) {
                        Bits.assertSame(expected.get(name), found.get(name), name + ", step " + step);
                    }
                }
                for (VarDesc each : network.main().persistables()) {
                    Bits.assertSame(one.scope().get(each.name()), several.scope().get(each.name()), each.name());
                }
            }
        }
    }
}
