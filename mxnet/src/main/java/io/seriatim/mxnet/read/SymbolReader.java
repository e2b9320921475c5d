package io.seriatim.mxnet.read;

import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonReader;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads symbols, {@code NAME-symbol.json}. Versions differ in where a node has its attributes: {@code param} (before
 * 0.9, with the users' annotations in {@code attr}), {@code attr} (before 0.12) or {@code attrs}.
 */
public final class SymbolReader {
    /** The version of files that do not say theirs. */
    private static final int BEFORE_VERSIONS = 800;
    private static final List<String> ATTRIBUTES = List.of("attr", "param", "attrs");

    private final String source;
    private final List<SymbolNode> nodes = new ArrayList<>();
    /** Where each node of the file is in {@code nodes}. */
    private final List<Integer> places = new ArrayList<>();
    private final Map<String, Integer> variables = new HashMap<>();

    private SymbolReader(String source) {
        this.source = source;
    }

    /**
     * Reads a file.
     *
     * @param file
     *            where it is
     * @return the symbol, in the form of today's version
     * @throws FileFormatException
     *             if it is not such a file; the message gives the byte offset
     * @throws IOException
     *             if it cannot be read
     */
    public static SymbolGraph read(Path file) throws IOException {
        return new SymbolReader(file.toString()).symbol(JsonReader.read(file).object());
    }

    private SymbolGraph symbol(JsonObject root) throws FileFormatException {
        JsonArray all = root.get("nodes").array();
        for (JsonValue each : all.values()) {
            node(each.object());
        }
        List<SymbolEntry> heads = new ArrayList<>();
        JsonArray named = root.get("heads").array();
        for (JsonValue each : named.values()) {
            heads.add(entry(each));
        }
        if (heads.isEmpty()) {
            throw named.error("a symbol has one or more heads, which are its outputs, but this has none");
        }
        JsonValue variables = root.find("arg_nodes");
        if (variables != null) {
            check(variables.array());
        }
        SymbolGraph graph = new SymbolGraph(source, version(root), nodes, heads);
        return OldSymbols.upgraded(graph);
    }

    /** The variables are also listed. */
    private void check(JsonArray variables) throws FileFormatException {
        for (JsonValue each : variables.values()) {
            long index = each.int64();
            if (index < 0 || index >= places.size() || !nodes.get(places.get((int) index)).isVariable()) {
                throw each.error("arg_nodes must hold indexes of variables, but holds " + index);
            }
        }
    }

    private static long version(JsonObject root) throws FileFormatException {
        JsonValue attributes = root.find("attrs");
        JsonValue version = attributes == null ? null : attributes.object().find("mxnet_version");
        return version == null ? BEFORE_VERSIONS : version.array().get(1).int64();
    }

    private void node(JsonObject node) throws FileFormatException {
        String operator = node.get("op").text();
        Map<String, String> attributes = new LinkedHashMap<>();
        for (String key : ATTRIBUTES) {
            JsonValue found = node.find(key);
            if (found != null && !found.isNull()) {
                JsonObject texts = found.object();
                for (String name : texts.names()) {
                    attributes.put(name, texts.get(name).text());
                }
            }
        }
        List<SymbolEntry> inputs = new ArrayList<>();
        JsonArray read = node.get("inputs").array();
        for (JsonValue each : read.values()) {
            inputs.add(entry(each));
        }
        if (operator.equals(SymbolNode.VARIABLE) && !inputs.isEmpty()) {
            throw read.error("a variable has no inputs");
        }
        String name = node.get("name").text();
        Integer same = operator.equals(SymbolNode.VARIABLE) ? variables.putIfAbsent(name, nodes.size()) : null;
        if (same == null) {
            places.add(nodes.size());
            nodes.add(new SymbolNode(nodes.size(), operator, name, attributes, inputs));
        } else {
            // MXNet gives variables their values by name, so several of one name are one.
            places.add(same);
            attributes.putAll(nodes.get(same).attributes());
            nodes.set(same, new SymbolNode(same, operator, name, attributes, inputs));
        }
    }

    /** The index of a node and of its output; a third number, where there is one, is its version. */
    private SymbolEntry entry(JsonValue value) throws FileFormatException {
        JsonArray numbers = value.array();
        if (numbers.size() < 2 || numbers.size() > 3) {
            throw value.error("an input or head has two or three numbers, but this has " + numbers.size());
        }
        int node = numbers.get(0).int32();
        int output = numbers.get(1).int32();
        if (node < 0 || node >= places.size()) {
            throw numbers.get(0).error("an input or head must be one of the " + places.size()
                    + " nodes before it, but is " + node);
        }
        if (output < 0) {
            throw numbers.get(1).error("outputs of nodes are numbered from 0, but this is " + output);
        }
        return new SymbolEntry(places.get(node), output);
    }
}
