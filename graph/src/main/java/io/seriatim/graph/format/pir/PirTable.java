package io.seriatim.graph.format.pir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The operations of PIR that have a counterpart here. {@code tools/pir/table.py} writes the table and describes it. */
final class PirTable {
    static final String INTS = "ints";
    private static final String RESOURCE = "/io/seriatim/graph/pir/operations.txt";
    private static final int FIELDS = 5;

    private final Map<String, PirOperation> byName = new LinkedHashMap<>();
    private final Map<String, List<PirOperation>> byType = new LinkedHashMap<>();

    private PirTable(List<String> lines) {
        for (String line : lines) {
            PirOperation operation = operation(line);
            byName.put(operation.name(), operation);
            byType.computeIfAbsent(operation.type(), _ -> new ArrayList<>()).add(operation);
        }
    }

    private static final class Loaded {
        static final PirTable TABLE = new PirTable(lines());

        private Loaded() {
        }

        private static List<String> lines() {
            try (InputStream in = Objects.requireNonNull(PirTable.class.getResourceAsStream(RESOURCE), RESOURCE);
                    BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
                return reader.lines().toList();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static PirTable get() {
        return Loaded.TABLE;
    }

    /** The operation of a name; one that works in place has the same line as that which does not. */
    @Nullable
    PirOperation named(String name) {
        PirOperation found = byName.get(name);
        return found == null && name.endsWith("_") ? byName.get(name.substring(0, name.length() - 1)) : found;
    }

    /** The operations whose counterpart is a type, in the order of their names. */
    List<PirOperation> ofType(String type) {
        return byType.getOrDefault(type, List.of());
    }

    Iterable<PirOperation> all() {
        return byName.values();
    }

    private static PirOperation operation(String line) {
        String[] fields = line.split("\t", -1);
        if (fields.length != FIELDS) {
            throw new IllegalStateException("A line of " + RESOURCE + " has five fields, but this is: " + line);
        }
        List<PirOperation.Parameter> parameters = new ArrayList<>();
        Map<String, String> fixed = new LinkedHashMap<>();
        for (String word : words(fields[3])) {
            if (word.startsWith("!")) {
                int equals = word.indexOf('=');
                fixed.put(word.substring(1, equals), word.substring(equals + 1));
            } else {
                parameters.add(parameter(word));
            }
        }
        return new PirOperation(fields[0], fields[1], words(fields[2]).stream().map(PirTable::operand).toList(),
                List.copyOf(parameters), fixed,
                words(fields[4]).stream().map(PirTable::result).toList());
    }

    private static List<String> words(String field) {
        return field.isEmpty() ? List.of() : List.of(field.split(" "));
    }

    private static PirOperation.Operand operand(String word) {
        if (word.equals("-")) {
            return new PirOperation.AbsentOperand();
        }
        if (word.startsWith("%")) {
            return new PirOperation.StateOperand(word.substring(1));
        }
        if (word.startsWith("@")) {
            String[] parts = word.substring(1).split(":", -1);
            return new PirOperation.AttributeOperand(orNull(parts[0]), parts[1].replace("[1]", ""),
                    parts.length > 2 ? orNull(parts[2]) : null, parts.length > 3 ? orNull(parts[3]) : null);
        }
        String plain = word.replace("?", "");
        return new PirOperation.SlotOperand(plain.replace("*", ""), plain.endsWith("*"));
    }

    private static @Nullable String orNull(String part) {
        return part.isEmpty() ? null : part;
    }

    private static PirOperation.Parameter parameter(String word) {
        String[] parts = word.split(":", 3);
        int equals = parts[0].indexOf('=');
        return new PirOperation.Parameter(equals < 0 ? parts[0] : parts[0].substring(0, equals),
                equals < 0 ? parts[0] : orNull(parts[0].substring(equals + 1)), parts[1],
                parts.length > 2 ? parts[2] : null);
    }

    private static PirOperation.Result result(String word) {
        return word.equals("-")
                ? new PirOperation.Result(null, false)
                : new PirOperation.Result(word.replace("*", ""), word.endsWith("*"));
    }
}
