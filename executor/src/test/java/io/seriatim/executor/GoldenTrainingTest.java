package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** PaddlePaddle training programs compute the same losses and parameters as in PaddlePaddle. */
class GoldenTrainingTest {
    private static final int STEPS = 10;
    private static final int SEED = 7;
    private static final double TOLERANCE = 1e-4;
    private static final GoldenModels MODELS = GoldenModels.read("training.npz");

    /** The losses of ten steps, and the parameters after them. */
    private record Trained(List<Double> losses, Map<String, Tensor> parameters) {
        List<Double> norms() {
            return parameters.values().stream().map(Trained::norm).toList();
        }

        private static double norm(Tensor tensor) {
            double sum = 0;
            for (double each : tensor.toDoubleArray()) {
                sum += each * each;
            }
            return Math.sqrt(sum);
        }
    }

    static Stream<Arguments> trainings() {
        return MODELS.names().stream().flatMap(name -> Stream.of(1, 3).map(threads -> Arguments.of(name, threads)));
    }

    @Test
    void eachOptimizerTrainsEachNetwork() {
        List<String> expected = Stream.of("conv", "mlp", "transformer")
                .flatMap(network -> Stream.of("adam", "adamw", "lamb", "momentum", "sgd")
                        .map(optimizer -> network + "_" + optimizer))
                .toList();
        assertEquals(expected, MODELS.names().stream().filter(name -> !name.startsWith("dropout")).toList());
    }

    @ParameterizedTest(name = "{0}, threads {1}")
    @MethodSource("trainings")
    void losesWhatPaddleLoses(String model, int threads) {
        Program main = MODELS.program(model + "/main");
        List<String> feeds = List.copyOf(MODELS.under(model + "/shape/").keySet());
        Fetches loss = Executor.fetches(MODELS.text(model + "/fetch"));
        boolean random = model.startsWith("dropout");
        Executor.Builder options = Executor.builder().threads(threads).eager();
        try (Executor executor = random ? options.paddleRandom(SEED).build() : options.build()) {
            Plan plan = executor.compile(main, new Feeds(feeds), loss);
            Trained trained = train(model, main, plan, feeds, loss);
            assertNear(model + "/losses", trained.losses());
            assertNear(model + "/norms", trained.norms());
            if (!random) {
                Trained again = train(model, main, plan, feeds, loss);
                assertEquals(trained.losses(), again.losses(), model);
                GoldenModels.assertSame(trained.parameters(), again.parameters(), model + ", trained again");
            }
        }
    }

    private static Trained train(String model, Program main, Plan plan, List<String> feeds, Fetches loss) {
        try (Executor starter = Executor.on(Place.CPU)) {
            Scope scope = starter.scope();
            starter.run(MODELS.program(model + "/startup"));
            GoldenModels.setParameters(main, scope);
            List<Double> losses = new ArrayList<>();
            for (int i = 0; i < STEPS; i++) {
                int step = i;
                Tensor[] batch = feeds.stream().map(feed -> batch(model, feed, step)).toArray(Tensor[]::new);
                losses.add(plan.run(scope, batch).scalar(loss.names().getFirst()));
            }
            Map<String, Tensor> parameters = new TreeMap<>();
            main.parameters().stream().map(VarDesc::name).forEach(name -> parameters.put(name, scope.get(name)));
            return new Trained(losses, parameters);
        }
    }

    private static Tensor batch(String model, String feed, int step) {
        long[] dims = MODELS.get(model + "/shape/" + feed).toLongArray();
        dims[0] -= step == STEPS - 1 ? 1 : 0;
        return MODELS.batch(model, feed, feed + "/" + step % 2, dims);
    }

    private static void assertNear(String entry, List<Double> found) {
        double[] expected = MODELS.get(entry).toDoubleArray();
        assertEquals(expected.length, found.size(), entry);
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], found.get(i), TOLERANCE * expected[i], entry + ", " + i);
        }
    }
}
