package io.seriatim.onnx.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.onnx.proto.ModelReader;
import io.seriatim.onnx.proto.OnnxAttribute;
import io.seriatim.onnx.proto.OnnxNode;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Padding that depends on lengths which a run determines is written as an algorithm. */
class WrittenPaddingTest {
    @TempDir
    private Path folder = Path.of("");

    private static InferenceModel model(String operation, String algorithm) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 1, -1, -1)));
        program.global().put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, 1, -1, -1)));
        OpDesc.Builder op;
        if (operation.equals("Conv")) {
            program.global().put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 1, 1, 3, 3)).persistent());
            op = OpDesc.of("conv2d").in("Input", "x").in("Filter", "w").out("Output", "y").attr("dilations",
                    new int[]{1, 1});
        } else {
            op = OpDesc.of("pool2d").in("X", "x").out("Out", "y").attr("ksize", new int[]{3, 3})
                    .attr("pooling_type", operation.equals("MaxPool") ? "max" : "avg");
        }
        program.global().add(op.attr("strides", new int[]{2, 2}).attr("paddings", new int[]{0, 0})
                .attr("padding_algorithm", algorithm).build());
        return new InferenceModel(program, List.of("x"), List.of("y"), operation.equals("Conv")
                ? Map.of("w", Tensor.of(new float[]{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3))
                : Map.of());
    }

    private static float[] run(InferenceModel model, int height, int width) {
        float[] pixels = new float[height * width];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = i + 1;
        }
        Map<String, Tensor> feeds = new HashMap<>(model.parameters());
        feeds.put("x", Tensor.of(pixels, 1, 1, height, width));
        return Objects.requireNonNull(Interpreter.of(Kernels.portable()).run(model.program(), feeds, List.of("y"))
                .get("y")).toFloatArray();
    }

    @ParameterizedTest
    @CsvSource({"Conv,SAME,SAME_UPPER", "Conv,SAME_UPPER,SAME_UPPER", "Conv,SAME_LOWER,SAME_LOWER", "Conv,VALID,VALID",
            "MaxPool,SAME_UPPER,SAME_UPPER", "MaxPool,SAME_LOWER,SAME_LOWER", "MaxPool,VALID,VALID",
            "AveragePool,SAME_UPPER,SAME_UPPER", "AveragePool,SAME_LOWER,SAME_LOWER", "AveragePool,SAME,SAME_UPPER"})
    void keepsItsAlgorithm(String operation, String algorithm, String written) throws IOException {
        Path file = folder.resolve("x.onnx");
        InferenceModel model = model(operation, algorithm);
        InferenceModels.save(file, model);
        List<OnnxNode> nodes = ModelReader.read("x", MemorySegment.ofArray(Files.readAllBytes(file))).graph().nodes();
        OnnxNode node = nodes.getFirst();
        assertEquals(List.of(operation), nodes.stream().map(OnnxNode::type).toList());
        assertEquals(new OnnxAttribute.Text(written), node.attributes().get("auto_pad"));
        assertTrue(!node.attributes().containsKey("pads"), "pads would be taken instead");
        try (InferenceModel again = InferenceModels.load(file)) {
            for (int size = 3; size < 9; size++) {
                assertArrayEquals(run(model, size, 9 - size / 2), run(again, size, 9 - size / 2), "size " + size);
            }
        }
    }

    @Test
    void refusesAlgorithmsThatOnnxLacks() {
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> InferenceModels.save(folder.resolve("x.onnx"), model("Conv", "SAME_OUTER"))).getMessage())
                .contains("operation 'conv2d' (result 'y') has the padding algorithm 'SAME_OUTER'"));
    }
}
