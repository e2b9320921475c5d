package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.op.Operations;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * How many of PaddlePaddle's operations are known. registry.txt lists them all; it is frozen, and
 * tools/golden/coverage.py says which operations count. unsupported.txt gives a reason for each that is not known.
 */
class CoverageTest {
    private static List<String> lines(String resource) {
        String path = "/golden/" + resource;
        try (InputStream in = Objects.requireNonNull(CoverageTest.class.getResourceAsStream(path), path)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> !line.isBlank())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, String> reasons() {
        return lines("unsupported.txt").stream().map(line -> line.split(" ", 2))
                .collect(Collectors.toMap(parts -> parts[0], parts -> parts.length > 1 ? parts[1].strip() : "",
                        (_, again) -> again, TreeMap::new));
    }

    @Test
    void eachOperationIsKnownOrHasAReason() {
        SortedSet<String> all = new TreeSet<>(lines("registry.txt"));
        Map<String, String> reasons = reasons();
        SortedSet<String> unexplained = new TreeSet<>(all);
        unexplained.removeIf(type -> Operations.system().find(type) != null
                || !reasons.getOrDefault(type, "").isEmpty());
        long known = all.stream().filter(type -> Operations.system().find(type) != null).count();
        System.out.printf("%d of %d operations of PaddlePaddle are known%n", known, all.size());
        assertEquals(new TreeSet<>(), unexplained, "these are not known, and unsupported.txt gives no reason");
    }

    @Test
    void reasonsAreGivenOnlyForOperationsThatAreNotKnown() {
        SortedSet<String> known = new TreeSet<>(reasons().keySet());
        known.removeIf(type -> Operations.system().find(type) == null);
        assertEquals(new TreeSet<>(), known, "these are known: remove their lines from unsupported.txt");
        SortedSet<String> others = new TreeSet<>(reasons().keySet());
        others.removeAll(lines("registry.txt"));
        assertEquals(new TreeSet<>(), others, "these are not in registry.txt");
    }

    @Test
    void noOperationIsListedTwice() {
        for (String resource : List.of("registry.txt", "unsupported.txt")) {
            List<String> types = lines(resource).stream().map(line -> line.split(" ", 2)[0]).toList();
            assertEquals(new TreeSet<>(types).stream().toList(), types, resource + " must be sorted");
        }
    }
}
