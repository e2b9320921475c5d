package io.seriatim.executor.pass;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Matrices that one run reads many times are packed once in it, and results differ by rounding. */
class RepeatedWeightsTest {
    private static final int WIDTH = 128;
    /** Of values below 1 in ten steps, each a sum of 128 products in another order. */
    private static final float BOUND = 2e-5f;

    private static Network recurrent(int steps, boolean trains) {
        return Network.define(5, g -> {
            Value x = g.data("x", DType.FLOAT32, 4, steps, WIDTH);
            Value w = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, WIDTH, WIDTH);
            Value u = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, WIDTH, WIDTH);
            Value h = g.full(DType.FLOAT32, 0, 4, WIDTH);
            for (int i = 0; i < steps; i++) {
                Value input = x.slice(1, i, i + 1).reshape(4, WIDTH);
                h = input.matmul(w).plus(h.matmul(u)).tanh();
            }
            Value loss = h.square().mean();
            if (trains) {
                g.minimize(loss, Sgd.of(0.5));
            }
            return Outputs.of("loss", loss, "h", h);
        });
    }

    private static long packings(Plan plan, Executor executor, Tensor x) {
        return Internals.compiled(plan, executor.scope(), x).tasks().stream()
                .filter(task -> task instanceof Task.Compute compute && compute.stages().size() == 1
                        && Copy.PLAIN.equals(compute.stages().getFirst().computation())
                        && compute.stages().getFirst().specs()[1].layout() instanceof Layout.Opaque)
                .count();
    }

    @ParameterizedTest
    @CsvSource({"10,true,1", "10,true,2", "10,false,1", "6,true,1"})
    void equalsThePlainProducts(int steps, boolean trains, int threads) {
        Network network = recurrent(steps, trains);
        Tensor x = Bits.normal(1, 4, steps, WIDTH);
        String loss = network.outputs().get("loss").name();
        String h = network.outputs().get("h").name();
        Executor.Builder builder = Executor.builder().threads(threads).without(Pass.STACKING);
        Executor.Builder other = Executor.builder().threads(threads).without(Pass.STACKING).without(Pass.LAYOUTS);
        try (Executor with = threads > 1 ? PlanProbe.eager(builder).build() : builder.build();
                Executor without = threads > 1 ? PlanProbe.eager(other).build() : other.build()) {
            with.run(network.startup());
            without.run(network.startup());
            Plan packed = with.compile(network.main(), feeds("x"), fetches(loss, h));
            Plan plain = without.compile(network.main(), feeds("x"), fetches(loss, h));
            for (int run = 0; run < 3; run++) {
                Results expected = plain.run(x);
                Results found = packed.run(x);
                float[] a = expected.get(h).toFloatArray();
                float[] b = found.get(h).toFloatArray();
                for (int i = 0; i < a.length; i++) {
                    assertEquals(a[i], b[i], BOUND, "run " + run + ", element " + i);
                }
                assertEquals(expected.get(loss).getDouble(), found.get(loss).getDouble(), BOUND, "run " + run);
            }
            // Two matrices forward, and one backward: the gradient of what is fed is not wanted. What a plan only reads
            // is packed beside the scope.
            assertEquals(trains && steps >= 10 ? 3 : 0, packings(packed, with, x));
            // Only parameters give the first product with the state, which is 0.
            assertEquals(trains ? 0 : 2 * steps - 1, Internals.compiled(packed, with.scope(), x).layouts().size());
            assertEquals(0, packings(plain, without, x));
        }
    }
}
