package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cases of ONNX's backend tests. */
final class NodeTest {
    private static final String SAMPLE = "/node-tests.zip";

    /** All cases, which tools/onnx/node_tests.py makes: -Ponnx-suite. Those of -Dcases=REGEX, if it is set. */
    @Test
    void passesAllCasesButThoseThatAreListed() throws IOException {
        String folder = System.getProperty("seriatim.onnx", "");
        assumeFalse(folder.isEmpty(), "all node tests of ONNX are run by -Ponnx-suite");
        assertPass(Path.of(folder), Pattern.compile(System.getProperty("cases", "")));
    }

    /** Some cases of each operator, which tools/onnx/node_tests.py chose. */
    @Test
    void passesTheSample(@TempDir Path folder) throws IOException {
        unpack(SAMPLE, folder);
        assertPass(folder, Pattern.compile(""));
    }

    /** Recurrent layers with random attributes, which tools/onnx/recurrent_cases.py made with ONNX Runtime. */
    @Test
    void recurrentLayersAreThoseOfOnnxRuntime(@TempDir Path folder) throws IOException {
        unpack("/recurrent-cases.zip", folder);
        assertPass(folder, Pattern.compile(""));
    }

    /** Sequences in branches and loops, which tools/onnx/sequence_cases.py made with ONNX Runtime. */
    @Test
    void sequencesAreThoseOfOnnxRuntime(@TempDir Path folder) throws IOException {
        unpack("/sequence-cases.zip", folder);
        assertPass(folder, Pattern.compile(""));
    }

    /** Scans of batches, which version 8 has, which tools/onnx/scan_cases.py made with ONNX Runtime. */
    @Test
    void scansOfBatchesAreThoseOfOnnxRuntime(@TempDir Path folder) throws IOException {
        unpack("/scan-cases.zip", folder);
        assertPass(folder, Pattern.compile(""));
    }

    /** Branches of different ranks and sizes, which tools/onnx/branch_cases.py made with ONNX Runtime. */
    @Test
    void branchesOfDifferentRanksAreThoseOfOnnxRuntime(@TempDir Path folder) throws IOException {
        unpack("/branch-cases.zip", folder);
        assertPass(folder, Pattern.compile(""));
    }

    /** Loops over different ranks and sizes, which tools/onnx/loop_cases.py made with ONNX Runtime. */
    @Test
    void loopsOfDifferentRanksAreThoseOfOnnxRuntime(@TempDir Path folder) throws IOException {
        unpack("/loop-cases.zip", folder);
        assertPass(folder, Pattern.compile(""));
    }

    /** Branches, loops and scans in each other, which tools/onnx/control_cases.py made with ONNX Runtime. */
    @Test
    void nestedControlFlowIsThatOfOnnxRuntime(@TempDir Path folder) throws IOException {
        unpack("/control-cases.zip", folder);
        assertPass(folder, Pattern.compile(""));
    }

    /** What is read can be written, if its operations have counterparts, and then computes the same. */
    @Test
    void writesWhatItReads(@TempDir Path folder) throws IOException {
        unpack(SAMPLE, folder);
        Set<String> without = without().keySet();
        List<String> failures = new ArrayList<>();
        int written = 0;
        for (NodeCases.Case each : NodeCases.of(folder)) {
            if (!without.contains(each.name())) {
                String failure = rewrittenFailure(each, folder.resolve("written.onnx"));
                if (failure == null) {
                    written++;
                } else if (!failure.contains("cannot be written as ONNX")) {
                    failures.add(each.name() + ": " + failure);
                }
            }
        }
        System.out.println(written + " cases are written");
        assertEquals("", String.join("\n", failures));
        assertTrue(written > 0, "some cases can be written");
    }

    private static @Nullable String rewrittenFailure(NodeCases.Case each, Path file) {
        try {
            return NodeCases.rewrittenFailure(each, file);
        } catch (IOException | RuntimeException e) {
            return e.getClass().getSimpleName() + ": " + e.getMessage();
        }
    }

    private static void unpack(String sample, Path folder) throws IOException {
        try (InputStream in = Objects.requireNonNull(NodeTest.class.getResourceAsStream(sample));
                ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Path file = folder.resolve(entry.getName());
                Files.createDirectories(Objects.requireNonNull(file.getParent()));
                Files.copy(zip, file);
            }
        }
    }

    private static void assertPass(Path folder, Pattern chosen) throws IOException {
        Map<String, String> without = without();
        List<String> failures = new ArrayList<>();
        int passed = 0;
        for (NodeCases.Case each : NodeCases.of(folder)) {
            if (!chosen.matcher(each.name()).find()) {
                continue;
            }
            String failure = failure(each);
            if (failure == null) {
                passed++;
            }
            if (failure == null == without.containsKey(each.name())) {
                failures.add(each.name() + ": " + (failure == null ? "passes, but is listed" : failure));
            }
        }
        System.out.println(passed + " cases pass");
        String out = System.getProperty("failures", "");
        if (!out.isEmpty()) {
            Files.write(Path.of(out), failures);
        }
        assertEquals("", String.join("\n", failures));
    }

    private static @Nullable String failure(NodeCases.Case each) {
        try {
            return NodeCases.failure(each);
        } catch (IOException | RuntimeException e) {
            return e.getClass().getSimpleName() + ": " + e.getMessage();
        }
    }

    /** The cases that do not pass, with their reasons. */
    private static Map<String, String> without() throws IOException {
        Map<String, String> reasons = new TreeMap<>();
        for (String line : text("/node-tests-without.txt").lines().toList()) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] parts = line.split(": ", 2);
                reasons.put(parts[0], parts[1]);
            }
        }
        return reasons;
    }

    private static String text(String resource) throws IOException {
        try (InputStream in = NodeTest.class.getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(in, resource).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
