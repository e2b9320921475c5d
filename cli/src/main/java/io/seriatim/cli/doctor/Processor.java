package io.seriatim.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The processor, as far as the system describes it.
 *
 * @param model
 *            the name
 * @param present
 *            the relevant instruction sets that it has
 * @param missing
 *            the relevant instruction sets that it lacks
 */
record Processor(String model, List<String> present, List<String> missing) {
    private static final Map<String, String> INTEL = new TreeMap<>(
            Map.of("avx2", "AVX2", "avx512f", "AVX512F", "avx512_bf16", "AVX512_BF16", "avx512_fp16", "AVX512_FP16",
                    "amx_tile",
                    "AMX_TILE", "amx_bf16", "AMX_BF16", "amx_int8", "AMX_INT8", "avx512_vnni", "AVX512_VNNI"));
    private static final Map<String, String> ARM = new TreeMap<>(
            Map.of("asimd", "NEON", "sve", "SVE", "bf16", "BF16", "i8mm", "I8MM"));

    static Processor ofThisMachine() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return of(lines.toList());
        } catch (IOException e) {
            return new Processor(System.getProperty("os.arch") + ", of which this system says no more", List.of(),
                    List.of());
        }
    }

    /** Parses the lines of /proc/cpuinfo. */
    static Processor of(List<String> lines) {
        String model = value(lines, "model name");
        String flags = value(lines, "flags");
        boolean arm = flags.isEmpty();
        Set<String> words = Arrays.stream((arm ? value(lines, "Features") : flags).split(" "))
                .collect(Collectors.toSet());
        Map<String, String> known = arm ? ARM : INTEL;
        Map<Boolean, List<String>> found = known.entrySet().stream()
                .collect(Collectors.partitioningBy(entry -> words.contains(entry.getKey()),
                        Collectors.mapping(Map.Entry::getValue, Collectors.toList())));
        return new Processor(model.isEmpty() ? System.getProperty("os.arch") : model,
                found.getOrDefault(true, List.of()),
                found.getOrDefault(false, List.of()));
    }

    private static String value(List<String> lines, String key) {
        return lines.stream().filter(line -> line.startsWith(key)).findFirst()
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .orElse("");
    }
}
