package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Networks that detect objects, exported by PaddlePaddle, find the same objects as in PaddlePaddle. */
class GoldenDetectorsTest {
    private static final double TOLERANCE = 1e-5;
    private static final GoldenModels MODELS = GoldenModels.read("detectors.npz");

    @TempDir
    Path folder = Path.of("");

    static List<String> names() {
        return MODELS.names();
    }

    static Stream<Arguments> models() {
        return names().stream().flatMap(name -> Stream.of(1, 3).map(threads -> Arguments.of(name, threads)));
    }

    private InferenceModel load(String name) throws IOException {
        Files.write(folder.resolve(name + ".pdmodel"), MODELS.bytes(name + "/program"));
        Files.write(folder.resolve(name + ".pdiparams"), MODELS.bytes(name + "/parameters"));
        return InferenceModels.load(folder.resolve(name));
    }

    @Test
    void allAreThere() {
        assertEquals(List.of("offsets", "ppyoloe", "ssd", "two_stages", "yolo"), names());
    }

    private static Map<String, Tensor> fed(String name, int k) {
        return MODELS.under(name + "/" + k + "/in/");
    }

    private static void check(String name, int k, List<String> fetches, Map<String, Tensor> found) {
        for (int i = 0; i < fetches.size(); i++) {
            String entry = name + "/" + k + "/out/" + i;
            Tensor result = Objects.requireNonNull(found.get(fetches.get(i)), entry);
            GoldenModels.assertClose(MODELS.get(entry), result, TOLERANCE, entry);
            String offsets = name + "/" + k + "/lod/" + i;
            Lod expected = MODELS.has(offsets) ? Lod.of(MODELS.get(offsets).toLongArray()) : Lod.NONE;
            assertEquals(expected, result.lod(), entry);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("names")
    void theInterpreterFindsWhatPaddleDoes(String name) throws IOException {
        try (InferenceModel model = load(name)) {
            for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                for (int k = 0; k < MODELS.groups(name); k++) {
                    Map<String, Tensor> in = new TreeMap<>(model.parameters());
                    in.putAll(fed(name, k));
                    check(name, k, model.fetches(),
                            Interpreter.of(kernels).run(model.program(), in, model.fetches()));
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}, threads {1}")
    @MethodSource("models")
    void plansFindWhatPaddleDoes(String name, int threads) throws IOException {
        try (InferenceModel model = load(name);
                Executor executor = Executor.builder().threads(threads).eager().build()) {
            model.parameters().forEach(executor.scope()::set);
            Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
            for (int k = 0; k < MODELS.groups(name); k++) {
                Map<String, Tensor> in = fed(name, k);
                Tensor[] batch = model.feeds().stream().map(in::get).toArray(Tensor[]::new);
                Results found = plan.run(batch);
                check(name, k, model.fetches(), found.all());
                GoldenModels.assertSame(found.all(), plan.run(batch).all(), name + ", run " + k + ", again");
            }
        }
    }
}
