package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every operator alone, with special numbers, in several types of elements, with empty axes and axes of length 1,
 * against ONNX Runtime, in the interpreter, in a plan and in a plan without fusion. What differs is listed with its
 * reason. {@code tools/golden/special/onnx_cases.py} made the results. {@code -Dspecial=REGEX} picks cases.
 */
final class SpecialNumbersTest {
    /** Of the cases, how many the default build runs: one of so many. */
    private static final int SHARE = Boolean.getBoolean("seriatim.full") ? 1 : 16;

    /** What was wrong once is always run. */
    private static final Pattern ALWAYS = Pattern
            .compile(
                    "^\\S+ (Softmax|LogSoftmax|Pow|RoiAlign|Resize|Upsample|DFT|STFT|Det|Compress|LayerNormalization) ");

    @Test
    void resultsAreThoseOfOnnxRuntimeOrTheReasonIsListed(@TempDir Path folder) throws IOException {
        Map<String, Pattern> reasons = SingleCases.reasons(resource("/special-differs.txt"));
        Pattern chosen = Pattern.compile(System.getProperty("special", ""));
        boolean all = SHARE == 1 || !chosen.pattern().isEmpty();
        List<SingleCases.Case> cases = new ArrayList<>();
        int number = 0;
        for (SingleCases.Case each : SingleCases.of(resource("/special.gz"))) {
            if (chosen.matcher(each.name()).find()
                    && (all || number++ % SHARE == 0 || ALWAYS.matcher(each.name()).find())) {
                cases.add(each);
            }
        }
        Set<String> used = new LinkedHashSet<>();
        List<String> wrong = SingleCases.unexplained(cases, reasons, used, folder.resolve("model.onnx"));
        assertEquals("", String.join("\n", wrong));
        int count = cases.size();
        assertTrue(count > 100 || !chosen.pattern().isEmpty(), "cases: " + count);
        System.out.println(count + " cases of operators with special numbers");
        if (SHARE == 1 && chosen.pattern().isEmpty()) {
            assertEquals(reasons.keySet(), used, "reasons that are needed");
        }
    }

    private static InputStream resource(String name) {
        return Objects.requireNonNull(SpecialNumbersTest.class.getResourceAsStream(name), name);
    }
}
