package io.seriatim.graph.format.pir;

import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Translates branches and loops. A branch is two conditional blocks, whose results are assigned to variables outside,
 * and a choice between them; a loop's values are variables outside that its block overwrites.
 */
final class PirControl {
    private final PirReader reader;
    private final PirOperations operations;

    PirControl(PirReader reader, PirOperations operations) {
        this.reader = reader;
        this.operations = operations;
    }

    void conditional(JsonObject op) throws FileFormatException {
        JsonArray regions = op.get("regions").array();
        if (regions.size() != 2) {
            throw regions.error("a branch has two regions, but this has " + regions.size());
        }
        String condition = reader.variable(reader.value(PirReader.operands(op).get(0)), op);
        requireCondition(condition, op);
        JsonArray results = PirReader.results(op);
        String not = reader.declare(reader.unique(condition + ".not"), reader.block().get(condition).type());
        reader.block().add(OpDesc.of("logical_not").in("X", condition).out("Out", not).build());
        List<@Nullable String> taken = branch(regions.get(0), condition, results);
        List<@Nullable String> other = branch(regions.get(1), not, results);
        if (results.size() == 0) {
            return;
        }
        String mask = operations.cast(condition, DType.INT32);
        for (int i = 0; i < results.size(); i++) {
            JsonObject result = results.get(i).object();
            String yes = taken.get(i);
            String no = other.get(i);
            PirValue value = operations.define(result, "if");
            if (value instanceof PirValue.Variable(String out)) {
                if (yes == null || no == null) {
                    throw result.error("each branch gives each result, but one gives nothing here");
                }
                reader.block().add(OpDesc.of("select_input").in("X", no, yes).in("Mask", mask).out("Out", out).build());
            }
        }
    }

    private void requireCondition(String condition, JsonObject op) throws FileFormatException {
        VarDesc desc = reader.block().get(condition);
        if (!(desc.type() instanceof VarType.Dense) || desc.tensor().dtype() != DType.BOOL) {
            throw op.error("a condition is bool, but this is " + desc);
        }
    }

    /** The operations of a block apart from the last, which gives its results. */
    private JsonObject readBody(JsonObject body) throws FileFormatException {
        List<JsonValue> ops = body.get("ops").array().values();
        for (int i = 0; i < ops.size() - 1; i++) {
            reader.operation(ops.get(i).object());
        }
        JsonObject last = ops.isEmpty() ? null : ops.getLast().object();
        if (last == null || !last.get("#").text().equals(PirReader.YIELD)) {
            throw body.error("a block of an operation ends with a yield, but this does not");
        }
        return last;
    }

    /** The variables outside to which a branch assigns its results; null for those that are absent. */
    private List<@Nullable String> branch(JsonValue region, String condition, JsonArray results)
            throws FileFormatException {
        Block outer = reader.block();
        List<@Nullable String> outs = new ArrayList<>();
        Block inner = reader.inside(() -> {
            JsonObject last = readBody(PirReader.blockOf(region));
            JsonArray yielded = PirReader.operands(last);
            if (yielded.size() != results.size()) {
                throw last.error("a branch gives " + results.size() + " results, but this gives " + yielded.size());
            }
            for (JsonValue each : yielded.values()) {
                PirValue value = reader.value(each);
                if (value instanceof PirValue.Nothing) {
                    outs.add(null);
                    continue;
                }
                String variable = reader.variable(value, each);
                String out = reader.unique(variable + ".result");
                outer.put(VarDesc.of(out, reader.block().get(variable).type()));
                reader.block().add(OpDesc.of("assign").in("X", variable).out("Out", out).build());
                outs.add(out);
            }
        });
        Set<String> written = writtenOutside(inner);
        Set<String> read = readOutside(inner);
        for (String name : written) {
            if (!outs.contains(name)) {
                read.add(name);
            }
        }
        String scope = scope();
        outer.add(OpDesc.of("conditional_block").in("Cond", condition).in("Input", read).out("Out", written)
                .out("Scope", scope).attr("sub_block", inner).attr("is_scalar_condition", true)
                .attr("skip_eager_deletion_vars", new String[0]).build());
        return outs;
    }

    private String scope() {
        String name = reader.unique("scope_" + reader.program.blocks().size());
        reader.block().put(new VarDesc(name, new VarType.Other(VarType.STEP_SCOPES), null, null, null, null));
        return name;
    }

    /** Operations that run blocks have the variables that those read and write in their slots. */
    private static Set<String> readOutside(Block block) {
        Set<String> names = new LinkedHashSet<>();
        block.ops().forEach(
                op -> op.inputNames().stream().filter(name -> block.var(name) == null).forEach(names::add));
        return names;
    }

    private static Set<String> writtenOutside(Block block) {
        Set<String> names = new LinkedHashSet<>();
        block.ops().forEach(
                op -> op.outputNames().stream().filter(name -> block.var(name) == null).forEach(names::add));
        return names;
    }

    void loop(JsonObject op) throws FileFormatException {
        JsonArray operands = PirReader.operands(op);
        JsonArray results = PirReader.results(op);
        JsonObject body = PirReader.onlyBlock(op.get("regions"));
        JsonArray arguments = body.get("args").array();
        int count = operands.size() - 1;
        if (count < 0 || arguments.size() != count || results.size() != count) {
            throw op.error("a loop has a condition, and as many values before it as in its block and behind it, but it "
                    + "has " + operands.size() + " operands, " + arguments.size() + " arguments and " + results.size()
                    + " results");
        }
        Block outer = reader.block();
        String first = reader.variable(reader.value(operands.get(0)), op);
        requireCondition(first, op);
        String condition = copy(first, "while_condition");
        List<PirValue> variables = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            variables.add(variable(reader.value(operands.get(i + 1)), operands.get(i + 1), results.get(i)));
        }
        Block inner = reader.inside(() -> {
            for (int i = 0; i < count; i++) {
                reader.define(arguments.get(i).object(), variables.get(i));
            }
            JsonObject last = readBody(body);
            next(last, condition, variables);
        });
        Set<String> written = writtenOutside(inner);
        Set<String> read = readOutside(inner);
        read.addAll(written);
        read.remove(condition);
        outer.add(OpDesc.of("while").in("X", read).in("Condition", condition).out("Out", written)
                .out("StepScopes", scope()).attr("sub_block", inner).attr("is_test", true)
                .attr("skip_eager_deletion_vars", new String[0]).build());
        for (int i = 0; i < count; i++) {
            JsonObject result = results.get(i).object();
            PirValue value = variables.get(i);
            VarType type = PirTypes.read(result.get("TT"));
            VarDesc desc = value instanceof PirValue.Variable(String name) ? outer.var(name) : null;
            if (desc != null && type != null) {
                outer.put(desc.with(type));
            }
            reader.define(result, value);
        }
    }

    /** The variable of a loop's value: a copy of the first value. A list is changed where it is. */
    private PirValue variable(PirValue value, JsonValue at, JsonValue result) throws FileFormatException {
        if (value instanceof PirValue.Nothing) {
            return value;
        }
        String initial = reader.variable(value, at);
        if (reader.block().get(initial).type() instanceof VarType.TensorArray) {
            return new PirValue.Variable(initial);
        }
        String copy = copy(initial, "while_" + PirReader.number(result));
        return new PirValue.Variable(copy);
    }

    private String copy(String from, String base) {
        String name = reader.declare(reader.unique(base), reader.block().get(from).type());
        reader.block().add(OpDesc.of("assign").in("X", from).out("Out", name).build());
        return name;
    }

    /** Gives a loop's variables the values of the next step. */
    private void next(JsonObject last, String condition, List<PirValue> variables) throws FileFormatException {
        JsonArray yielded = PirReader.operands(last);
        if (yielded.size() != variables.size() + 1) {
            throw last.error("the block of a loop gives a condition and " + variables.size()
                    + " values, but this gives " + yielded.size());
        }
        List<String> own = new ArrayList<>();
        for (PirValue each : variables) {
            own.add(each instanceof PirValue.Variable(String name) ? name : "");
        }
        List<String> next = new ArrayList<>();
        for (int i = 0; i < variables.size(); i++) {
            JsonValue at = yielded.get(i + 1);
            PirValue value = reader.value(at);
            if (variables.get(i) instanceof PirValue.Nothing || value instanceof PirValue.Nothing) {
                next.add(own.get(i));
                continue;
            }
            String name = reader.variable(value, at);
            // A value that is overwritten before it is read is copied first.
            next.add(own.contains(name) && !name.equals(own.get(i)) ? copy(name, name + ".before") : name);
        }
        for (int i = 0; i < next.size(); i++) {
            if (!next.get(i).equals(own.get(i))) {
                if (reader.block().get(own.get(i)).type() instanceof VarType.TensorArray) {
                    throw last.error("a loop changes its lists of tensors in place, but this replaces one");
                }
                reader.block().add(OpDesc.of("assign").in("X", next.get(i)).out("Out", own.get(i)).build());
            }
        }
        String again = reader.variable(reader.value(yielded.get(0)), last);
        requireCondition(again, last);
        reader.block().add(OpDesc.of("assign").in("X", again).out("Out", condition).build());
    }
}
