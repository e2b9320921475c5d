package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    private static InputStream resource(String name) {
        return Objects.requireNonNull(SingleOperatorTest.class.getResourceAsStream(name), name);
    }
}
