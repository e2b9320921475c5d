package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * PaddlePaddle's classifiers of texts of different lengths are trained to the same losses and parameters as in
 * PaddlePaddle. The number of texts and their lengths differ from step to step.
 */
class GoldenSequencesTest {
    private static final double TOLERANCE = 1e-4;
    private static final GoldenModels MODELS = GoldenModels.read("sequences.npz");

    static Stream<Arguments> trainings() {
        return MODELS.names().stream().flatMap(name -> Stream.of(1, 3).map(threads -> Arguments.of(name, threads)));
    }

    @Test
    void thereAreSeveralClassifiers() {
        assertEquals(List.of("attention", "convolution", "padded", "recurrent"), MODELS.names());
    }

    @ParameterizedTest(name = "{0}, threads {1}")
    @MethodSource("trainings")
    void losesWhatPaddleLoses(String model, int threads) {
        Program main = MODELS.program(model + "/main");
        boolean isPadded = model.equals("padded");
        Feeds feeds = new Feeds(isPadded ? List.of("words", "label", "padding") : List.of("words", "label"));
        Fetches loss = Executor.fetches(MODELS.text(model + "/fetch"));
        try (Executor executor = Executor.builder().threads(threads).eager().build();
                Executor starter = Executor.on(Place.CPU)) {
            Scope scope = starter.scope();
            starter.run(MODELS.program(model + "/startup"));
            GoldenModels.setParameters(main, scope);
            Plan plan = executor.compile(main, feeds, loss);
            List<Double> losses = new ArrayList<>();
            for (int step = 0; MODELS.has(model + "/" + step + "/words"); step++) {
                String prefix = model + "/" + step + "/";
                List<Tensor> batch = new ArrayList<>();
                batch.add(MODELS.get(prefix + "words").withLod(Lod.of(MODELS.get(prefix + "offsets"))));
                batch.add(MODELS.get(prefix + "label"));
                if (isPadded) {
                    batch.add(Tensor.of(new float[]{0.25f}, 1));
                }
                losses.add(plan.run(scope, batch.toArray(Tensor[]::new)).scalar(loss.names().getFirst()));
            }
            assertNear(model + "/losses", losses);
            assertNear(model + "/norms",
                    main.parameters().stream().map(VarDesc::name).sorted().map(name -> norm(scope.get(name))).toList());
        }
    }

    private static double norm(Tensor tensor) {
        double sum = 0;
        for (double each : tensor.toDoubleArray()) {
            sum += each * each;
        }
        return Math.sqrt(sum);
    }

    private static void assertNear(String entry, List<Double> found) {
        double[] expected = MODELS.get(entry).toDoubleArray();
        assertEquals(expected.length, found.size(), entry);
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], found.get(i), TOLERANCE * expected[i], entry + ", " + i);
        }
    }
}
