package io.seriatim.graph.format.pir;

import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.FileFormatException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a program of PIR in one pass. Values become variables; operations that only exist to pass attributes as values
 * become attributes; regions become blocks.
 */
final class PirReader {
    static final String PARAMETER = "p";
    static final String DATA = "1.data";
    static final String FETCH = "1.fetch";
    static final String YIELD = "2.yield";
    /** The newest version of the format whose meaning is known; later ones are read as long as they can be. */
    static final int VERSION = 4;
    private static final int DEEPEST = 200;
    private static final int LONGEST_SHOWN = 100;

    final Program program = new Program();
    final Set<String> unknown = new LinkedHashSet<>();
    private final JsonObject document;
    private final Map<Long, PirValue> values = new HashMap<>();
    /** The numbers of the values of each open block, which are unknown behind its end. */
    private final Deque<List<Long>> scopes = new ArrayDeque<>();
    private final Map<Long, String> wanted = new HashMap<>();
    private final Set<String> names = new HashSet<>();
    private final Map<String, VarType> feeds = new LinkedHashMap<>();
    private final List<String> fetches = new ArrayList<>();
    private final PirOperations operations = new PirOperations(this);
    private final PirControl control = new PirControl(this, operations);
    private final PirSpecialOperations special = new PirSpecialOperations(this, operations);
    private Block block = program.global();

    private PirReader(JsonObject document) {
        this.document = document;
    }

    /**
     * A program as a file has it.
     *
     * @param program
     *            what computes
     * @param feeds
     *            the variables that are given, in order
     * @param fetches
     *            the variables that are wanted, in order
     */
    record Loaded(Program program, List<String> feeds, List<String> fetches) {
    }

    static Loaded read(JsonValue document) throws FileFormatException {
        PirReader reader = new PirReader(document.object());
        return reader.read();
    }

    private Loaded read() throws FileFormatException {
        JsonObject header = document.get("base_code").object();
        if (!header.get("magic").text().equals("pir")) {
            throw header.error("the magic of a program of PIR is \"pir\", but this is \""
                    + shown(header.get("magic").text()) + "\"");
        }
        JsonValue version = header.get("version");
        if (version.int64() < 0) {
            throw version.error("the version of a file is not negative, but this is " + version.int64());
        }
        List<JsonValue> ops = onlyBlock(document.get("program").object().get("regions")).get("ops").array().values();
        reserve(ops);
        scopes.push(new ArrayList<>());
        for (JsonValue op : ops) {
            operation(op.object());
        }
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "The program cannot be run, since operations of PIR have no counterpart: "
                            + String.join(", ", unknown) + ". docs/operations.md lists the operations there are");
        }
        if (fetches.isEmpty()) {
            throw document.error("an inference model fetches something, but there is no operation fetch");
        }
        return new Loaded(program, List.copyOf(feeds.keySet()), List.copyOf(fetches));
    }

    /** The names that the file gives are kept for what they name. */
    private void reserve(List<JsonValue> ops) throws FileFormatException {
        for (JsonValue each : ops) {
            JsonObject op = each.object();
            String kind = op.get("#").text();
            if (kind.equals(PARAMETER)) {
                names.add(op.get("A").array().get(3).text());
            } else if (kind.equals(DATA) || kind.equals("1.feed")) {
                names.add(attributeText(op, "name"));
            } else if (isFetch(kind)) {
                String name = fetchName(op);
                JsonArray operands = op.get("I").array();
                if (operands.size() == 1) {
                    wanted.putIfAbsent(number(operands.get(0)), name);
                }
            }
        }
        Set<String> given = new HashSet<>(names);
        wanted.values().removeIf(given::contains);
        names.addAll(wanted.values());
    }

    private static boolean isFetch(String kind) {
        return kind.equals(FETCH) || kind.endsWith(".shadow_output");
    }

    private static String fetchName(JsonObject op) throws FileFormatException {
        return attributeText(op, op.get("#").text().equals(FETCH) ? "name" : "output_name");
    }

    /** The only block of the only region of an operation or a program. */
    static JsonObject onlyBlock(JsonValue regions) throws FileFormatException {
        if (regions.array().size() != 1) {
            throw regions.error("there is one region, but there are " + regions.array().size());
        }
        return blockOf(regions.array().get(0));
    }

    static JsonObject blockOf(JsonValue region) throws FileFormatException {
        JsonArray blocks = region.object().get("blocks").array();
        if (blocks.size() != 1) {
            throw blocks.error("a region has one block, but this has " + blocks.size());
        }
        return blocks.get(0).object();
    }

    /** The block that operations are added to. */
    Block block() {
        return block;
    }

    /** Reads operations into a new block below the current one. */
    Block inside(InBlock body) throws FileFormatException {
        Block outer = block;
        if (scopes.size() > DEEPEST) {
            throw document.error("blocks are nested at most " + DEEPEST + " deep, but these are deeper");
        }
        Block inner = program.addBlock(outer.index(), null);
        scopes.push(new ArrayList<>());
        block = inner;
        body.read();
        block = outer;
        scopes.pop().forEach(values::remove);
        return inner;
    }

    /** What is read into a block. */
    interface InBlock {
        void read() throws FileFormatException;
    }

    void operation(JsonObject op) throws FileFormatException {
        String kind = op.get("#").text();
        if (isFetch(kind)) {
            fetch(op);
            return;
        }
        switch (kind) {
            case PARAMETER -> parameter(op);
            case DATA, "1.feed" -> feed(op);
            case "1.if" -> control.conditional(op);
            case "1.while" -> control.loop(op);
            case YIELD -> throw op.error("a yield ends a block of an operation, but here is another place");
            default -> {
                if (!special.read(op, kind)) {
                    operations.read(op, kind);
                }
            }
        }
    }

    private void parameter(JsonObject op) throws FileFormatException {
        JsonValue named = op.get("A").array().get(3);
        JsonObject result = op.get("O").object();
        VarType type = PirTypes.read(result.get("TT"));
        if (!(type instanceof VarType.Dense)) {
            throw op.error("a parameter is a tensor, but this is not");
        }
        if (block.index() != 0) {
            throw op.error("parameters are in the first block, but this is in another");
        }
        JsonValue states = op.find("OA");
        if (states != null && states.array().size() > 0 && states.array().get(0).int64() == 0) {
            // The state of a generator, which the file of parameters does not have.
            define(result, new PirValue.Nothing());
            return;
        }
        boolean stops = states != null && states.array().size() > 1 && states.array().get(1).int64() != 0;
        VarDesc before = block.var(named.text());
        if (before != null && (!before.isPersistable() || !before.type().equals(type))) {
            throw named.error("a parameter has a name of its own, but '" + shown(named.text()) + "' is also "
                    + before);
        }
        block.put(new VarDesc(named.text(), type, true, null, null, stops ? Boolean.TRUE : null));
        define(result, new PirValue.Variable(named.text()));
    }

    private void feed(JsonObject op) throws FileFormatException {
        String name = attributeText(op, "name");
        JsonObject result = results(op).get(0).object();
        VarType type = PirTypes.read(result.get("TT"));
        if (!(type instanceof VarType.Dense)) {
            throw op.error("a feed is a tensor, but '" + shown(name) + "' is not");
        }
        if (block.index() != 0) {
            throw op.error("feeds are in the first block, but this is in another");
        }
        if (block.var(name) != null) {
            throw op.error("a feed has a name of its own, but '" + shown(name) + "' is there twice");
        }
        block.put(new VarDesc(name, type, null, true, null, true));
        feeds.put(name, type);
        define(result, new PirValue.Variable(name));
    }

    private void fetch(JsonObject op) throws FileFormatException {
        String name = fetchName(op);
        if (block.index() != 0) {
            throw op.error("what is fetched is in the first block, but this is in another");
        }
        if (fetches.contains(name)) {
            throw op.error("what is fetched has a name of its own, but '" + shown(name) + "' is there twice");
        }
        String variable = variable(value(operands(op).get(0)), op);
        if (!variable.equals(name)) {
            VarDesc desc = block.get(variable);
            if (block.var(name) != null) {
                throw op.error("what is fetched has a name of its own, but '" + shown(name)
                        + "' is also the name of " + block.var(name));
            }
            block.put(VarDesc.of(name, desc.type()));
            block.add(OpDesc.of("assign").in("X", variable).out("Out", name).build());
        }
        fetches.add(name);
        for (JsonValue result : op.find("O") == null ? List.<JsonValue>of() : results(op).values()) {
            define(result.object(), new PirValue.Variable(name));
        }
    }

    /** The text of an attribute that must be there. */
    static String attributeText(JsonObject op, String name) throws FileFormatException {
        JsonValue attribute = attribute(op, name);
        if (attribute == null || !(PirAttributes.read(attribute) instanceof String text)) {
            throw op.error("the operation " + shown(op.get("#").text()) + " has a text as its attribute " + name
                    + ", but there is none");
        }
        return text;
    }

    /** The tagged value of an attribute, or null. */
    static @Nullable JsonValue attribute(JsonObject op, String name) throws FileFormatException {
        for (JsonValue each : op.get("A").array().values()) {
            if (each.object().get("N").text().equals(name)) {
                return each.object().get("AT");
            }
        }
        return null;
    }

    static JsonArray operands(JsonObject op) throws FileFormatException {
        return op.get("I").array();
    }

    static JsonArray results(JsonObject op) throws FileFormatException {
        return op.get("O").array();
    }

    static long number(JsonValue operand) throws FileFormatException {
        return operand.object().get("%").int64();
    }

    /** What an operand stands for. */
    PirValue value(JsonValue operand) throws FileFormatException {
        long number = number(operand);
        if (number == 0) {
            return new PirValue.Nothing();
        }
        PirValue value = values.get(number);
        if (value == null) {
            throw operand.error("value " + number + " is defined before it is used, in the same block or around it, "
                    + "but it is not");
        }
        return value;
    }

    /** Gives the value of a result or of a block's argument a meaning. */
    void define(JsonObject result, PirValue value) throws FileFormatException {
        JsonValue numbered = result.find("%");
        JsonValue at = numbered == null ? result.get("#") : numbered;
        long number = at.int64();
        if (number == 0) {
            return;
        }
        if (values.put(number, value) != null) {
            throw at.error("each value has a number of its own, but " + number + " is there twice");
        }
        scopes.element().add(number);
    }

    /** An operation in place changed what a value stands for. */
    void replace(JsonValue operand, PirValue value) throws FileFormatException {
        values.put(number(operand), value);
    }

    /** The name of a variable for a result. */
    String name(String base, JsonObject result) throws FileFormatException {
        long number = number(result);
        String fetched = block.index() == 0 ? wanted.remove(number) : null;
        return fetched != null ? fetched : unique(base + "_" + number);
    }

    String unique(String base) {
        String name = base;
        for (int i = 0; !names.add(name); i++) {
            name = base + "." + i;
        }
        return name;
    }

    /** A new variable of the current block. */
    String declare(String name, VarType type) {
        block.put(VarDesc.of(name, type));
        return name;
    }

    /** The variable that holds a value, which is made if it is a constant. */
    String variable(PirValue value, JsonValue at) throws FileFormatException {
        return switch (value) {
            case PirValue.Variable(String name) -> name;
            case PirValue.Constant constant -> made(constant);
            case PirValue.Vector(List<PirValue> several) when several.size() == 1 -> variable(several.getFirst(), at);
            case PirValue.Vector(List<PirValue> several) -> throw at.error(
                    "one tensor is expected as an operand, but there are " + several.size());
            case PirValue.Nothing _ -> throw at.error("an operand that is needed is absent");
        };
    }

    private String made(PirValue.Constant constant) {
        for (Block each = block;; each = program.block(each.parent())) {
            String name = constant.made().get(each.index());
            if (name != null) {
                return name;
            }
            if (each.parent() == Block.NONE) {
                break;
            }
        }
        String name = constant.made().isEmpty() ? constant.name() : unique(constant.name());
        declare(name, new VarType.Dense(new VarType.TensorType(constant.dataType(), constant.dims()), null));
        PirConstants.add(block, name, constant);
        constant.made().put(block.index(), name);
        return name;
    }

    /**
     * Makes a constant a variable of the block of its definition, so that operations of inner blocks can change it.
     */
    String madeOutside(PirValue.Constant constant, Block owner) {
        Block current = block;
        block = owner;
        try {
            return made(constant);
        } finally {
            block = current;
        }
    }

    /** Text of the file, for messages. */
    static String shown(String text) {
        return Printable.of(text.length() <= LONGEST_SHOWN ? text : text.substring(0, LONGEST_SHOWN) + "…");
    }
}
