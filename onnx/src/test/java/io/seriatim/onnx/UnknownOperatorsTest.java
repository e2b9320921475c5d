package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said about a model with operators that only ONNX Runtime has. */
final class UnknownOperatorsTest {
    private static final String QUANTISED = "; the model is quantised with operators of ONNX Runtime: quantise it with "
            + "QuantizeLinear and DequantizeLinear (QuantFormat.QDQ), or take the one in float32";
    private static final String OPTIMISED = "; the model is optimised for ONNX Runtime: take the one that is not";

    @TempDir
    Path folder = Path.of("");

    private void assertAdvice(String advice, String domain, String... types) throws IOException {
        WireMessage graph = new WireMessage().text(2, "g");
        for (String type : types) {
            graph.message(1, new WireMessage().text(2, type + "-result").text(4, type).text(7, domain));
        }
        Path file = Files.write(folder.resolve("model.onnx"), WireMessage.model(graph, 17).toBytes());
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> OnnxModels.load(file)).getMessage());
        String name = domain.isEmpty() ? types[0] : domain + "." + types[0];
        assertEquals(advice, message.substring(message.lastIndexOf(" (1)") + " (1)".length()), message);
        assertTrue(message.contains("operators that are not known: ") && message.contains(name + " (1)"),
                message);
    }

    /** A file that is only quantised is not said to be optimised. */
    @Test
    void quantisedModelsAreNotOptimised() throws IOException {
        for (String type : new String[]{"QLinearNoSuch", "DynamicQuantizeNoSuch", "NoSuchNBits", "NoSuchInteger"}) {
            assertAdvice(QUANTISED, "com.microsoft", type);
        }
    }

    @Test
    void otherOperatorsOfOnnxRuntimeAreOptimised() throws IOException {
        assertAdvice(OPTIMISED, "com.microsoft", "FusedNoSuch");
        assertAdvice(QUANTISED + OPTIMISED, "com.microsoft", "FusedNoSuch", "QLinearNoSuch");
    }

    @Test
    void operatorsOfOthersHaveNoAdvice() throws IOException {
        assertAdvice("", "", "NoSuch");
        assertAdvice("", "elsewhere", "QLinearNoSuch");
    }
}
