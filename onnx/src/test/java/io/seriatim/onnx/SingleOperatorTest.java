package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every operator alone, with fixed and open sizes, constant and computed operands, axes of length 0 and 1 and counts of
 * zero, against ONNX Runtime. {@code tools/onnx/single_operators.py} made the results; the default build has a sample,
 * and {@code -Dseriatim.operators=FILE} takes all that the script wrote. What differs is listed with its reason.
 * {@code -Doperators=REGEX} picks cases.
 */
final class SingleOperatorTest {
    @Test
    void resultsAreThoseOfOnnxRuntimeOrTheReasonIsListed(@TempDir Path folder) throws IOException {
        Pattern chosen = Pattern.compile(System.getProperty("operators", ""));
        String file = System.getProperty("seriatim.operators", "");
        List<SingleCases.Case> cases;
        try (InputStream in = file.isEmpty() ? resource("/operators.gz") : Files.newInputStream(Path.of(file))) {
            cases = SingleCases.of(in).stream().filter(each -> chosen.matcher(each.name()).find()).toList();
        }
        Map<String, Pattern> reasons = SingleCases.reasons(resource("/operators-differ.txt"));
        List<String> wrong = SingleCases.unexplained(cases, reasons, new LinkedHashSet<>(),
                folder.resolve("model.onnx"));
        System.out.println(cases.size() + " cases of single operators");
        assertEquals("", String.join("\n", wrong));
        assertTrue(cases.size() > 100 || !chosen.pattern().isEmpty(), "cases: " + cases.size());
    }

    /** What was refused once stays in the sample, also when it is chosen anew. */
    @ParameterizedTest
    @CsvSource({"Einsum length1of, '', ''", "GatherND \\S+ named, batch_dims, ''", "ReduceMax length0of, '', ''",
            "ReduceMin length0of, '', ''", "ConvTranspose \\S+ named, output_shape, ''", "TopK base named, '', ''",
            "Tile zero1 \\w+ computed, '', ''", "Hardmax length0of, '', ''", "DFT \\S+ \\w+ computed, '', ''",
            "Attention \\S+ named, '', scale"})
    void theSampleHasEachKind(String name, String attribute, String without) throws IOException {
        Pattern pattern = Pattern.compile(name);
        List<SingleCases.Case> found;
        try (InputStream in = resource("/operators.gz")) {
            found = SingleCases.of(in).stream().filter(each -> pattern.matcher(each.name()).find())
                    .filter(each -> contains(each, attribute) && (without.isEmpty() || !contains(each, without)))
                    .toList();
        }
        assertTrue(found.stream().anyMatch(each -> !name.startsWith("TopK")
                || (each.expected().getFirst().shape().size() == 0 && each.inputs().getFirst().shape().size() > 0)),
                name);
    }

    private static boolean contains(SingleCases.Case each, String name) {
        return new String(each.model(), StandardCharsets.ISO_8859_1).contains(name);
    }

    private static InputStream resource(String name) {
        return Objects.requireNonNull(SingleOperatorTest.class.getResourceAsStream(name), name);
    }
}
