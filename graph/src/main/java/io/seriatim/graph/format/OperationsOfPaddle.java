package io.seriatim.graph.format;

import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.util.Printable;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The operations of PaddlePaddle 2.6.2: a program of others would be refused by it, or compute something else. */
final class OperationsOfPaddle {
    private static final String RESOURCE = "paddle-operations.txt";
    private static final String GRADIENT = "_grad";

    /** The slots and attributes of a type; all empty if they are not known. */
    private record Known(Set<String> inputs, Set<String> outputs, Set<String> attributes) {
        boolean isDescribed() {
            return !inputs.isEmpty() || !outputs.isEmpty() || !attributes.isEmpty();
        }
    }

    private static final class Loaded {
        static final Map<String, Known> TYPES = read();

        private Loaded() {
        }

        private static Map<String, Known> read() {
            Map<String, Known> types = new HashMap<>();
            try (InputStream in = Objects.requireNonNull(OperationsOfPaddle.class.getResourceAsStream(RESOURCE),
                    RESOURCE);
                    BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
                for (String line : lines.lines().toList()) {
                    String[] parts = line.split("\\|", -1);
                    types.put(parts[0], new Known(words(parts[1]), words(parts[2]), words(parts[3])));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return types;
        }

        private static Set<String> words(String text) {
            return text.isEmpty() ? Set.of() : Set.of(text.split(" "));
        }
    }

    private OperationsOfPaddle() {
    }

    /**
     * A program without the attributes that PaddlePaddle does not know and that have the value which they have without
     * being written.
     *
     * @throws IllegalArgumentException
     *             if PaddlePaddle has no counterpart of operations; the message names each with the first output
     */
    static Program expressed(Program program) {
        Program expressed = program.copy();
        Map<String, String> outputs = new LinkedHashMap<>();
        for (Block block : expressed.blocks()) {
            for (int i = 0; i < block.ops().size(); i++) {
                OpDesc op = expressed(block.ops().get(i));
                block.set(i, op);
                String missing = missing(op);
                if (missing != null) {
                    outputs.putIfAbsent(missing, op.outputNames().isEmpty() ? "" : op.outputNames().getFirst());
                }
            }
        }
        if (!outputs.isEmpty()) {
            List<String> named = new ArrayList<>();
            outputs.forEach((missing, output) -> named.add(Printable.of(missing + " (of '" + output + "')")));
            throw new IllegalArgumentException("PaddlePaddle 2 has no counterpart of " + (named.size() == 1
                    ? "an operation"
                    : named.size() + " kinds of operations") + " of the model: " + String.join(", ", named)
                    + ". Write the model in the format that it came from");
        }
        return expressed;
    }

    private static OpDesc expressed(OpDesc op) {
        Known known = Loaded.TYPES.get(op.type());
        Operation schema = Operations.system().find(op.type());
        if (known == null || !known.isDescribed() || schema == null) {
            return op;
        }
        List<Attribute.Named> kept = op.attributes().stream()
                .filter(each -> known.attributes.contains(each.name())
                        || !each.value().equals(byDefault(schema, each.name())))
                .toList();
        return kept.size() == op.attributes().size()
                ? op
                : new OpDesc(op.type(), op.inputs(), op.outputs(), kept, op.target()).with(op.original());
    }

    private static @Nullable Attribute byDefault(Operation schema, String attribute) {
        return schema.attributes().stream().filter(each -> each.name().equals(attribute))
                .map(AttributeSpec::byDefault).filter(Objects::nonNull).findFirst().orElse(null);
    }

    /** The part of an operation that PaddlePaddle does not have, or null if it has all. */
    private static @Nullable String missing(OpDesc op) {
        String type = op.type();
        while (type.endsWith(GRADIENT) && !Loaded.TYPES.containsKey(type)) {
            type = type.substring(0, type.length() - GRADIENT.length());
        }
        Known known = Loaded.TYPES.get(type);
        Operation schema = Operations.system().find(op.type());
        if (known == null) {
            return "'" + op.type() + "'";
        }
        if (schema == null || !known.isDescribed() || !type.equals(op.type())) {
            return null;
        }
        for (Map.Entry<String, List<String>> slot : op.inputs().entrySet()) {
            if (!slot.getValue().isEmpty() && !known.inputs.contains(slot.getKey())) {
                return "'" + op.type() + "' with input " + slot.getKey();
            }
        }
        for (Map.Entry<String, List<String>> slot : op.outputs().entrySet()) {
            if (!slot.getValue().isEmpty() && !known.outputs.contains(slot.getKey())) {
                return "'" + op.type() + "' with output " + slot.getKey();
            }
        }
        for (Attribute.Named attribute : op.attributes()) {
            boolean means = schema.attributes().stream().anyMatch(each -> each.name().equals(attribute.name()));
            if (means && !known.attributes.contains(attribute.name())) {
                return "'" + op.type() + "' with attribute " + attribute.name();
            }
        }
        return null;
    }
}
