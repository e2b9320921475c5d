package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Running a program takes little longer than running its plan. Both are measured alternately, so that other load on the
 * machine affects both.
 */
@EnabledIfSystemProperty(named = "seriatim.full", matches = "true")
class ProgramCallTimeTest {
    private static final int LAYERS = 400;
    private static final int WARM = 500;
    private static final int PAIRS = 1_000;
    private static final double MOST = 1.2;
    private static final double QUICK = 0.2;

    private interface Call {
        void run();
    }

    private static double micros(Call call) {
        long start = System.nanoTime();
        call.run();
        return (System.nanoTime() - start) / 1e3;
    }

    private static double quantile(double[] values, double share) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) (sorted.length * share)];
    }

    @Test
    void aProgramOfAThousandOperationsIsNotReadAtEveryCall() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 4);
            for (int i = 0; i < LAYERS; i++) {
                x = g.linear(x, 4).tanh();
            }
            return Outputs.of("y", x);
        });
        Program program = network.main();
        String y = network.outputs().get("y").name();
        double[] whole = new double[PAIRS];
        double[] plain = new double[PAIRS];
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            Map<String, Tensor> fed = Map.of("x", Bits.normal(1, 2, 4));
            Tensor x = Objects.requireNonNull(fed.get("x"));
            Plan plan = executor.cached(program, feeds("x"), fetches(y));
            for (int i = -WARM; i < PAIRS; i++) {
                Call ofProgram = () -> executor.run(program, fed, fetches(y)).get(y).close();
                Call ofPlan = () -> plan.run(x).get(y).close();
                boolean first = i % 2 == 0;
                double before = micros(first ? ofProgram : ofPlan);
                double after = micros(first ? ofPlan : ofProgram);
                if (i >= 0) {
                    whole[i] = first ? before : after;
                    plain[i] = first ? after : before;
                }
            }
        }
        // The fastest calls are least affected by other load on the machine.
        double ratio = quantile(whole, QUICK) / quantile(plain, QUICK);
        System.out.println(String.format(Locale.ROOT,
                "%,d operations: Executor.run %.1f µs, Plan.run %.1f µs (medians; ratio of the quick ones %.3f)",
                program.global().ops().size(), quantile(whole, 0.5), quantile(plain, 0.5), ratio));
        assertTrue(ratio <= MOST, "Executor.run takes " + ratio + " times as long as Plan.run");
    }
}
