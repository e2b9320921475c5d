package io.seriatim.graph.translate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Outputs that are known while the program is built. */
class ConstantOutputsTest {
    @Test
    void theProgramWritesThem() {
        ModelBuilder builder = new ModelBuilder();
        Ref two = builder.constant("two", Tensor.of(new float[]{2, 3}, 2));
        Ref fed = builder.feed("x", DType.FLOAT32, 2);
        Map<String, Ref> outputs = new LinkedHashMap<>();
        outputs.put("computed", builder.main().unary("square", two));
        outputs.put("given", two);
        outputs.put("again", two);
        outputs.put("fed", fed);
        try (InferenceModel model = builder.build(outputs)) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            model.parameters().forEach(interpreter::set);
            Map<String, Tensor> results = interpreter.run(model.program(),
                    Map.of("x", Tensor.of(new float[]{5, 6}, 2)), model.fetches());
            assertEquals(List.of("computed", "given", "again", "fed"), model.fetches());
            assertArrayEquals(new float[]{4, 9}, array(results, "computed"));
            assertArrayEquals(new float[]{2, 3}, array(results, "given"));
            assertArrayEquals(new float[]{2, 3}, array(results, "again"));
            assertArrayEquals(new float[]{5, 6}, array(results, "fed"));
        }
    }

    private static float[] array(Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(name), name).toFloatArray();
    }
}
