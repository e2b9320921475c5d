package io.seriatim.graph.dialect;

import io.seriatim.tensor.DType;
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
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the operations of another system take: slots, attributes and their values, element types. Each writer checks
 * every operation that it writes against the schema of the system that will read it. {@code tools/formats/schemas.py}
 * freezes the schemas, and describes their format.
 */
public final class TargetSchema {
    private static final String ANY = "any";
    /** The kinds of attributes whose values PaddlePaddle converts to a kind. */
    private static final Map<String, Set<String>> CONVERTED = Map.of("bool", Set.of("int32", "float32"), "int64",
            Set.of("int32", "float32"), "float32", Set.of("int32", "int64", "float64"), "float64",
            Set.of("int32", "int64", "float32"), "int64s", Set.of("int32s", "float32s"), "float32s",
            Set.of("int32s", "float64s"), "float64s", Set.of("int32s", "float32s"), "scalar",
            Set.of("bool", "int32", "int64", "float32", "float64"), "scalars",
            Set.of("bools", "int32s", "int64s", "float32s", "float64s"));

    private final String system;
    private final boolean converts;
    private final Map<String, NavigableMap<Integer, OperationSchema>> types = new HashMap<>();

    /** Both kinds of PaddlePaddle, read when they are needed first. */
    private static final class OfPaddle {
        static final TargetSchema TWO = own("PaddlePaddle 2.6.2", "paddle2.txt");
        static final TargetSchema THREE = own("PaddlePaddle 3.3.1", "paddle3.txt");

        private OfPaddle() {
        }

        private static TargetSchema own(String system, String resource) {
            try (InputStream in = Objects.requireNonNull(TargetSchema.class.getResourceAsStream(resource), resource)) {
                return new TargetSchema(system, true, in);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Reads a schema.
     *
     * @param system
     *            the name of the system, for messages
     * @param converts
     *            whether numbers of attributes may be of another kind that the system converts
     * @param lines
     *            in the format of {@code schemas.py}
     * @throws IOException
     *             if the lines cannot be read
     */
    public TargetSchema(String system, boolean converts, InputStream lines) throws IOException {
        this.system = system;
        this.converts = converts;
        Map<String, Set<DType>> sets = new HashMap<>();
        BufferedReader reader = new BufferedReader(new InputStreamReader(lines, StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.startsWith("%")) {
                String[] words = line.split(" ", -1);
                sets.put(words[0], words.length > 1 && !words[1].isEmpty() ? elements(words[1]) : Set.of());
            } else {
                add(line.split("\t", -1), sets);
            }
        }
    }

    /**
     * The operations of programs of PaddlePaddle 2.
     *
     * @return always the same
     */
    public static TargetSchema paddle2() {
        return OfPaddle.TWO;
    }

    /**
     * The operations of PaddlePaddle 3's representation PIR, whose operands are numbered.
     *
     * @return always the same
     */
    public static TargetSchema paddle3() {
        return OfPaddle.THREE;
    }

    /**
     * A slot of an operation.
     *
     * @param name
     *            its name
     * @param optional
     *            whether it may be absent
     * @param list
     *            whether it takes several variables
     * @param constraint
     *            the constraint of its element types, or null
     * @param mixed
     *            whether its variables may be of several of these types
     * @param inPlace
     *            the input whose variable it must be, or null
     */
    private record SlotSchema(String name, boolean optional, boolean list, @Nullable String constraint, boolean mixed,
            @Nullable String inPlace) {
        static SlotSchema parse(String word) {
            int equals = word.indexOf('=');
            String inPlace = equals < 0 ? null : word.substring(equals + 1);
            String rest = equals < 0 ? word : word.substring(0, equals);
            boolean mixed = rest.endsWith("+");
            String[] parts = (mixed ? rest.substring(0, rest.length() - 1) : rest).split(":", -1);
            return new SlotSchema(parts[0].replaceAll("[?*]", ""), parts[0].contains("?"), parts[0].contains("*"),
                    parts.length > 1 ? parts[1] : null, mixed, inPlace);
        }
    }

    /**
     * An attribute of an operation.
     *
     * @param kind
     *            the kind of its value
     * @param required
     *            whether it has no default
     * @param values
     *            the only values that exist; empty if any does
     * @param pattern
     *            what its text follows, or null
     */
    private record AttributeSchema(String kind, boolean required, List<String> values, @Nullable String pattern) {
        static AttributeSchema parse(String text) {
            int tilde = text.indexOf('~');
            int equals = tilde < 0 ? text.indexOf('=') : -1;
            String kind = tilde >= 0 ? text.substring(0, tilde) : equals < 0 ? text : text.substring(0, equals);
            return new AttributeSchema(kind.replace("!", ""), kind.endsWith("!"),
                    equals < 0 ? List.of() : List.of(text.substring(equals + 1).split("/", -1)),
                    tilde < 0 ? null : text.substring(tilde + 1));
        }
    }

    private record OperationSchema(Map<String, SlotSchema> inputs, Map<String, SlotSchema> outputs,
            Map<String, AttributeSchema> attributes, Map<String, Set<DType>> constraints) {
        boolean hasSlots() {
            return !outputs.isEmpty();
        }
    }

    private void add(String[] fields, Map<String, Set<DType>> sets) {
        String[] name = fields[0].split("@", -1);
        Map<String, AttributeSchema> attributes = new LinkedHashMap<>();
        for (String word : words(fields[3])) {
            int colon = word.indexOf(':');
            attributes.put(word.substring(0, colon), AttributeSchema.parse(word.substring(colon + 1)));
        }
        Map<String, Set<DType>> constraints = new HashMap<>();
        for (String word : words(fields[4])) {
            String[] parts = word.split("=", 2);
            constraints.put(parts[0], Objects.requireNonNull(sets.get(parts[1]), word));
        }
        types.computeIfAbsent(name[0], _ -> new TreeMap<>()).put(name.length > 1 ? Integer.parseInt(name[1]) : 0,
                new OperationSchema(slots(fields[1]), slots(fields[2]), attributes, constraints));
    }

    private static List<String> words(String field) {
        return field.isEmpty() ? List.of() : List.of(field.split(" "));
    }

    private static Map<String, SlotSchema> slots(String field) {
        Map<String, SlotSchema> slots = new LinkedHashMap<>();
        words(field).stream().map(SlotSchema::parse).forEach(slot -> slots.put(slot.name(), slot));
        return slots;
    }

    private static Set<DType> elements(String names) {
        Set<DType> elements = new TreeSet<>();
        for (String name : names.split(",", -1)) {
            elements.add(DType.valueOf(name.toUpperCase(Locale.ROOT)));
        }
        return elements;
    }

    private @Nullable OperationSchema find(String type, int version) {
        NavigableMap<Integer, OperationSchema> versions = types.get(type);
        Map.Entry<Integer, OperationSchema> newest = versions == null ? null : versions.floorEntry(version);
        return newest == null ? null : newest.getValue();
    }

    /**
     * Whether the system has operations of a type.
     *
     * @param type
     *            the name of the type
     * @return false if there is none in any version
     */
    public boolean has(String type) {
        return types.containsKey(type);
    }

    /**
     * Whether the slots of a type are known.
     *
     * @param type
     *            the name of the type
     * @return false for operations of which only the name is known
     */
    public boolean isDescribed(String type) {
        NavigableMap<Integer, OperationSchema> versions = types.get(type);
        return versions != null && versions.lastEntry().getValue().hasSlots();
    }

    /**
     * Whether a type has an attribute.
     *
     * @param type
     *            the name of the type
     * @param attribute
     *            the name of the attribute
     * @return false if it does not have it in its newest version
     */
    public boolean hasAttribute(String type, String attribute) {
        NavigableMap<Integer, OperationSchema> versions = types.get(type);
        return versions != null && versions.lastEntry().getValue().attributes().containsKey(attribute);
    }

    /**
     * The results that must be the variables of operands.
     *
     * @param type
     *            the name of the type
     * @return output slots, and the input slots whose variables they are
     */
    Map<String, String> inPlace(String type) {
        Map<String, String> slots = new LinkedHashMap<>();
        OperationSchema known = find(type, Integer.MAX_VALUE);
        if (known != null) {
            known.outputs().forEach((name, slot) -> {
                if (slot.inPlace() != null) {
                    slots.put(name, slot.inPlace());
                }
            });
        }
        return slots;
    }

    /**
     * The output slots of one variable that must be there.
     *
     * @param type
     *            the name of the type
     * @return none if the slots are not known
     */
    public List<String> required(String type) {
        OperationSchema known = find(type, Integer.MAX_VALUE);
        return known == null
                ? List.of()
                : known.outputs().values().stream().filter(slot -> !slot.optional() && !slot.list())
                        .map(SlotSchema::name).toList();
    }

    /**
     * A variable of an operation.
     *
     * @param name
     *            its name; empty for an operand that is absent
     * @param dtype
     *            the type of its elements, or null if it is not known
     */
    public record Operand(String name, @Nullable DType dtype) {
    }

    /**
     * The value of an attribute.
     *
     * @param kind
     *            such as {@code int64s}
     * @param text
     *            the text, if it is one, or null
     */
    public record Value(String kind, @Nullable String text) {
    }

    /**
     * An operation that is to be written.
     *
     * @param type
     *            its type
     * @param version
     *            the version of the system's operations, if they have versions
     * @param inputs
     *            its operands by slot
     * @param outputs
     *            its results by slot; null where they follow from the operands
     * @param attributes
     *            those with a meaning for the system
     */
    public record Use(String type, int version, Map<String, List<Operand>> inputs,
            @Nullable Map<String, List<Operand>> outputs, Map<String, Value> attributes) {
    }

    /**
     * Slots for operands that follow each other.
     *
     * @param type
     *            the name of the type
     * @param version
     *            the version of the operation
     * @param operands
     *            in order, with nameless ones where they are absent
     * @return those that are there, by slot; the last slot takes all that are left
     */
    public Map<String, List<Operand>> bySlot(String type, int version, List<Operand> operands) {
        OperationSchema known = find(type, version);
        Map<String, List<Operand>> slots = new LinkedHashMap<>();
        List<SlotSchema> names = known == null ? List.of() : List.copyOf(known.inputs().values());
        for (int i = 0; i < operands.size(); i++) {
            SlotSchema slot = i < names.size()
                    ? names.get(i)
                    : !names.isEmpty() && names.getLast().list() ? names.getLast() : null;
            if (!operands.get(i).name().isEmpty()) {
                slots.computeIfAbsent(slot == null ? "number " + (i + 1) : slot.name(), _ -> new ArrayList<>())
                        .add(operands.get(i));
            }
        }
        return slots;
    }

    /**
     * The type of a result that follows from the operands.
     *
     * @param use
     *            an operation
     * @param result
     *            the number of the result
     * @return null if it follows from something else, such as an attribute
     */
    public @Nullable DType result(Use use, int result) {
        OperationSchema known = find(use.type(), use.version());
        if (known == null || known.outputs().isEmpty()) {
            return null;
        }
        List<SlotSchema> slots = List.copyOf(known.outputs().values());
        SlotSchema slot = slots.get(Math.min(result, slots.size() - 1));
        if (slot.constraint() == null || slot.mixed()) {
            return null;
        }
        for (SlotSchema input : known.inputs().values()) {
            for (Operand operand : use.inputs().getOrDefault(input.name(), List.of())) {
                if (slot.constraint().equals(input.constraint()) && !input.mixed() && operand.dtype() != null) {
                    return operand.dtype();
                }
            }
        }
        Set<DType> allowed = known.constraints().getOrDefault(slot.constraint(), Set.of());
        return allowed.size() == 1 ? allowed.iterator().next() : null;
    }

    /**
     * What the system does not have of a result whose type follows from an attribute, such as that of a cast.
     *
     * @param use
     *            an operation
     * @param result
     *            the number of the result
     * @param dtype
     *            the type of its elements
     * @return empty if there is such a result, or nothing is known of it
     */
    public List<String> problems(Use use, int result, DType dtype) {
        OperationSchema known = find(use.type(), use.version());
        if (known == null || known.outputs().isEmpty()) {
            return List.of();
        }
        List<SlotSchema> slots = List.copyOf(known.outputs().values());
        String constraint = slots.get(Math.min(result, slots.size() - 1)).constraint();
        Set<DType> allowed = constraint == null ? Set.of() : known.constraints().getOrDefault(constraint, Set.of());
        return allowed.isEmpty() || allowed.contains(dtype)
                ? List.of()
                : List.of("'" + use.type() + "' to " + dtype + " (there are "
                        + String.join(", ", allowed.stream().map(DType::toString).sorted().toList()) + ")");
    }

    /**
     * What the system would refuse, or would understand in another way.
     *
     * @param use
     *            an operation
     * @return empty if it has all of it; each text begins with the type of the operation
     */
    public List<String> problems(Use use) {
        String operation = "'" + use.type() + "'";
        OperationSchema known = find(use.type(), use.version());
        if (known == null) {
            return List.of(operation + (use.version() > 0 && has(use.type())
                    ? ", which " + system + " does not have in version " + use.version()
                    : ""));
        }
        List<String> problems = new ArrayList<>();
        if (known.hasSlots()) {
            slots(use.inputs(), known.inputs(), "input", problems);
            if (use.outputs() != null) {
                slots(use.outputs(), known.outputs(), "output", problems);
                inPlace(use, use.outputs(), known, problems);
            }
        }
        attributes(use, known, problems);
        elements(use, known, problems);
        return problems.stream().map(each -> operation + each).toList();
    }

    private static void slots(Map<String, List<Operand>> given, Map<String, SlotSchema> known, String kind,
            List<String> problems) {
        given.forEach((name, operands) -> {
            SlotSchema slot = known.get(name);
            if (slot == null && !operands.isEmpty()) {
                problems.add(" with " + kind + " " + name);
            } else if (slot != null && !slot.list() && operands.size() > 1) {
                problems.add(" with " + operands.size() + " variables as " + kind + " " + name);
            }
        });
        known.forEach((name, slot) -> {
            if (!slot.optional() && !slot.list() && given.getOrDefault(name, List.of()).isEmpty()) {
                problems.add(" without " + kind + " " + name);
            }
        });
    }

    private static void inPlace(Use use, Map<String, List<Operand>> outputs, OperationSchema known,
            List<String> problems) {
        known.outputs().forEach((name, slot) -> {
            List<Operand> results = outputs.getOrDefault(name, List.of());
            if (slot.inPlace() != null && !results.isEmpty()
                    && !results.equals(use.inputs().getOrDefault(slot.inPlace(), List.of()))) {
                problems.add(" whose " + name + " is another variable than its " + slot.inPlace());
            }
        });
    }

    private void attributes(Use use, OperationSchema known, List<String> problems) {
        use.attributes().forEach((name, value) -> {
            AttributeSchema attribute = known.attributes().get(name);
            if (attribute == null) {
                if (known.hasSlots()) {
                    problems.add(" with attribute " + name);
                }
                return;
            }
            String text = value.text();
            if (!isOfKind(attribute.kind(), value.kind())) {
                problems.add(" with attribute " + name + " as " + value.kind() + " instead of " + attribute.kind());
            } else if (text != null && !attribute.values().isEmpty() && !attribute.values().contains(text)) {
                problems.add(" with " + name + " = " + text + " (there are " + String.join(", ", attribute.values())
                        + ")");
            } else if (text != null && attribute.pattern() != null && !text.matches(attribute.pattern())) {
                problems.add(" with " + name + " = " + text);
            }
        });
        known.attributes().forEach((name, attribute) -> {
            if (attribute.required() && !use.attributes().containsKey(name)) {
                problems.add(" without attribute " + name);
            }
        });
    }

    private boolean isOfKind(String kind, String given) {
        return kind.equals(ANY) || given.equals(ANY) || kind.equals(given)
                || (converts && (given.startsWith("var") || CONVERTED.getOrDefault(kind, Set.of()).contains(given)));
    }

    /** Element types that operands may not have, and different ones where they must be the same. */
    private static void elements(Use use, OperationSchema known, List<String> problems) {
        Map<String, DType> bound = new HashMap<>();
        for (SlotSchema slot : known.inputs().values()) {
            for (Operand operand : use.inputs().getOrDefault(slot.name(), List.of())) {
                DType dtype = operand.dtype();
                String constraint = slot.constraint();
                if (dtype == null || constraint == null) {
                    continue;
                }
                Set<DType> allowed = known.constraints().getOrDefault(constraint, Set.of());
                if (!allowed.isEmpty() && !allowed.contains(dtype)) {
                    problems.add(" of " + dtype + " (" + slot.name() + " may be "
                            + String.join(", ", allowed.stream().map(DType::toString).toList()) + ")");
                    return;
                }
                DType first = slot.mixed() ? dtype : bound.computeIfAbsent(constraint, _ -> dtype);
                if (first != dtype) {
                    problems.add(" of both " + first + " and " + dtype);
                    return;
                }
            }
        }
    }
}
