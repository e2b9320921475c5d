package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Models exported by PaddlePaddle compute the same results as in PaddlePaddle. */
class GoldenInferenceTest {
    private static final double TOLERANCE = 1e-5;
    private static final GoldenModels MODELS = GoldenModels.read("inference.npz");
    private static final List<Integer> THREADS = List.of(1, 3);

    static Stream<Arguments> models() {
        return MODELS.names().stream().flatMap(name -> THREADS.stream().map(threads -> Arguments.of(name, threads)));
    }

    @Test
    void allAreThere() {
        assertEquals(List.of("bert", "decoder", "lenet", "mlp", "mobilenet_v2", "resnet18", "tagger"), MODELS.names());
    }

    @ParameterizedTest(name = "{0}, threads {1}")
    @MethodSource("models")
    void computesWhatPaddleDoes(String model, int threads) {
        Program program = MODELS.program(model + "/program");
        List<String> feeds = GoldenModels.columns(program, "feed");
        List<String> fetches = GoldenModels.columns(program, "fetch");
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            GoldenModels.setParameters(program, executor.scope());
            Plan plan = executor.compile(program, new Feeds(feeds), new Fetches(fetches));
            for (int k = 0; k < MODELS.groups(model); k++) {
                Tensor[] batch = batch(model, k, feeds);
                Results found = plan.run(batch);
                for (int i = 0; i < fetches.size(); i++) {
                    String entry = model + "/" + k + "/out/" + i;
                    GoldenModels.assertClose(MODELS.get(entry), found.get(fetches.get(i)), TOLERANCE, entry);
                }
                GoldenModels.assertSame(found.all(), plan.run(batch).all(), model + ", batch " + k + ", again");
            }
        }
    }

    private static Tensor[] batch(String model, int k, List<String> feeds) {
        return feeds.stream()
                .map(feed -> MODELS.batch(model, feed, feed + "/" + k,
                        MODELS.get(model + "/" + k + "/shape/" + feed).toLongArray()))
                .toArray(Tensor[]::new);
    }
}
