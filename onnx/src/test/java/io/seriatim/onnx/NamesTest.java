package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.translate.ModelBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names of a file may be any text, also such as results have until a model is complete. */
final class NamesTest {
    @Test
    void namesMayLookLikeThoseOfResults(@TempDir Path folder) throws IOException {
        ModelBuilder builder = new ModelBuilder();
        List<Ref> feeds = List.of(builder.feed("~0", DType.FLOAT32, 2), builder.feed("~1", DType.FLOAT32, 2),
                builder.feed("~", DType.FLOAT32, 2));
        Ref sum = builder.main().binary("elementwise_add", feeds.get(0), feeds.get(1));
        Ref product = builder.main().binary("elementwise_mul", sum, feeds.get(2));
        builder.name(sum, "~~1");
        Map<String, Ref> outputs = new LinkedHashMap<>();
        outputs.put("a feed", feeds.get(2));
        outputs.put("~2", product);
        outputs.put("~3", product);
        Path file = folder.resolve("names.onnx");
        try (InferenceModel model = builder.build(outputs)) {
            assertEquals(List.of("~0", "~1", "~"), model.feeds());
            OnnxModels.save(file, model);
        }
        try (InferenceModel model = OnnxModels.load(file)) {
            assertEquals(List.of("~0", "~1", "~"), model.feeds());
            assertEquals(List.of("a feed", "~2", "~3"), model.fetches());
            Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(model.program(),
                    Map.of("~0", Tensor.of(new float[]{1, 2}, 2), "~1", Tensor.of(new float[]{3, 4}, 2), "~",
                            Tensor.of(new float[]{5, 6}, 2)),
                    model.fetches());
            assertArrayEquals(new float[]{5, 6}, floats(results, "a feed"));
            assertArrayEquals(new float[]{20, 36}, floats(results, "~2"));
            assertArrayEquals(new float[]{20, 36}, floats(results, "~3"));
        }
    }

    private static float[] floats(Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(name)).toFloatArray();
    }
}
