package io.seriatim.graph.unroll;

import io.seriatim.graph.interpret.Collective;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Walks over the operations of a program's first block, and over those of each iteration of loops of known length. */
final class Unroller {
    private static final int MOST_ITERATIONS = 64;

    private final Program program;
    private final Block global;
    private final Collection<String> fetched;
    private final KnownValues known;
    private final int most;
    private final Versions versions;
    private final Variables first;
    private final ListElements lists;
    /** The variables that some operation reads, or that are fetched. */
    private final Set<String> read = new HashSet<>();
    private int added;

    /**
     * Creates an unroller of a program, which it changes.
     *
     * @param most
     *            the most operations that are written in place of loops
     */
    Unroller(Program program, Collection<String> fed, Collection<String> fetched, KnownValues known, int most) {
        this.program = program;
        this.global = program.global();
        this.fetched = fetched;
        this.known = known;
        this.most = most;
        this.versions = new Versions(global);
        this.first = Variables.first(global);
        program.blocks().forEach(block -> block.ops().forEach(op -> read.addAll(op.inputNames())));
        read.addAll(fetched);
        this.lists = new ListElements(global, versions, fed, read);
    }

    /** Returns whether a loop was replaced. */
    boolean run() {
        boolean replaced = false;
        List<OpDesc> ops = List.copyOf(global.ops());
        for (int i = 0; i < ops.size(); i++) {
            OpDesc op = ops.get(i);
            if (op.type().equals("while") && expand(op)) {
                replaced = true;
            } else if (!lists.follow(op, first)) {
                keep(op, i);
            }
        }
        if (replaced) {
            fetched.forEach(lists::store);
            global.setOps(versions.ops());
            Set<Integer> run = new HashSet<>(Set.of(global.index()));
            addRun(global, run);
            program.blocks().stream().filter(block -> !run.contains(block.index()))
                    .forEach(block -> block.setOps(List.of()));
        }
        return replaced;
    }

    private void addRun(Block block, Set<Integer> run) {
        block.ops().forEach(op -> op.attributes().forEach(each -> each.value().blocks().forEach(index -> {
            if (run.add(index)) {
                addRun(program.block(index), run);
            }
        })));
    }

    /** Keeps an operation of the first block, which reads the latest variables. */
    private void keep(OpDesc op, int index) {
        Operation schema = Operations.system().find(op.type());
        boolean isPlain = schema != null && schema.isLowered() && schema.changedInPlace(op).isEmpty()
                && op.inputNames().stream().noneMatch(op.outputNames()::contains);
        Map<String, Tensor> results = isPlain ? folded(op, index, first) : null;
        Set<String> touched = new LinkedHashSet<>();
        addTouched(op, touched);
        touched.forEach(lists::store);
        versions.ops().add(isPlain ? op.renamed(name -> first.latest(name, versions), name -> name) : op);
        Set<String> written = new LinkedHashSet<>();
        addWritten(op, written);
        for (String name : written) {
            first.forget(name);
            lists.forget(name);
        }
        if (results != null) {
            results.forEach((name, tensor) -> first.write(name, new Value(name, tensor)));
        }
    }

    /** Names all that an operation and its blocks read or write. */
    private void addTouched(OpDesc op, Set<String> names) {
        names.addAll(op.inputNames());
        names.addAll(op.outputNames());
        op.attributes().forEach(each -> each.value().blocks()
                .forEach(index -> program.block(index).ops().forEach(inner -> addTouched(inner, names))));
    }

    private void addWritten(OpDesc op, Set<String> names) {
        names.addAll(Operations.system().written(op));
        names.addAll(op.outputNames());
        op.attributes().forEach(each -> each.value().blocks()
                .forEach(index -> program.block(index).ops().forEach(inner -> addWritten(inner, names))));
    }

    /** Replaces a loop of the first block; returns false and changes nothing if it needs its block. */
    private boolean expand(OpDesc loop) {
        Versions.Mark mark = versions.mark();
        Object elements = lists.mark();
        int before = added;
        try {
            Variables during = first.inside(global);
            run(loop, during);
            Map<String, Value> last = new LinkedHashMap<>(during.written());
            // It may be that of a variable which is written below.
            last.replaceAll((_, value) -> versions.kept(value));
            last.forEach((name, value) -> versions.give(name, value, first));
            return true;
        } catch (NeedsBlockException e) {
            versions.undo(mark);
            lists.undo(elements);
            added = before;
            return false;
        }
    }

    /** Writes the iterations of a loop. */
    private void run(OpDesc loop, Variables outside) {
        if (loop.output("StepScopes").stream().anyMatch(read::contains)
                || !(loop.attribute("sub_block") instanceof Attribute.BlockRef(int index))) {
            throw new NeedsBlockException();
        }
        Block body = program.block(index);
        String condition = loop.input("Condition").getFirst();
        // An operation whose operands stay the same gives the same in each iteration.
        Map<List<Object>, Map<String, Value>> given = new HashMap<>();
        for (int i = 0; isTrue(outside.value(condition)); i++) {
            if (i == MOST_ITERATIONS) {
                throw new NeedsBlockException();
            }
            Variables variables = outside.inside(body);
            for (int k = 0; k < body.ops().size(); k++) {
                step(body.ops().get(k), k, variables, given);
            }
        }
    }

    private static boolean isTrue(Value condition) {
        Tensor literal = condition.literal();
        if (literal == null || literal.shape().size() != 1) {
            throw new NeedsBlockException();
        }
        return literal.toLongArray()[0] != 0;
    }

    private void step(OpDesc op, int index, Variables variables, Map<List<Object>, Map<String, Value>> given) {
        if (op.type().equals("while")) {
            run(op, variables);
            return;
        }
        if (lists.follow(op, variables)) {
            return;
        }
        requireFunction(op, variables);
        if (op.type().equals("assign")) {
            variables.write(op.output("Out").getFirst(), variables.value(op.input("X").getFirst()));
            return;
        }
        Map<String, Tensor> results = folded(op, index, variables);
        if (results != null) {
            results.forEach((name, tensor) -> variables.write(name, Value.of(tensor)));
            return;
        }
        Map<String, String> operands = new HashMap<>();
        List<Object> key = new ArrayList<>(List.of(index));
        for (String name : op.inputNames()) {
            if (!name.equals(GradientRule.EMPTY)) {
                key.add(operands.computeIfAbsent(name, each -> versions.variable(variables.value(each))));
            }
        }
        Map<String, Value> before = given.get(key);
        if (before == null) {
            before = written(op, variables, operands);
            given.put(key, before);
        }
        before.forEach(variables::write);
    }

    /** Refuses operations that do more than compute tensors whose sizes do not depend on values. */
    private void requireFunction(OpDesc op, Variables variables) {
        Operation schema = Operations.system().find(op.type());
        if (schema == null || !schema.isLowered() || !schema.changedInPlace(op).isEmpty() || Collective.is(op)
                || !Operations.system().isPure(op, program, true)
                || op.runsBlocks()
                || schema.values().stream().flatMap(slot -> op.input(slot).stream())
                        .anyMatch(name -> variables.value(name).literal() == null)
                || !op.outputNames().stream()
                        .allMatch(name -> name.equals(GradientRule.EMPTY) || variables.isTemporary(name))) {
            throw new NeedsBlockException();
        }
    }

    /** Writes an operation of an iteration with variables of its own. */
    private Map<String, Value> written(OpDesc op, Variables variables, Map<String, String> operands) {
        if (++added > most) {
            throw new NeedsBlockException();
        }
        Map<String, Value> results = new HashMap<>();
        Map<String, String> renamed = new HashMap<>();
        for (String name : op.outputNames()) {
            if (!name.equals(GradientRule.EMPTY)) {
                String own = versions.declare(name, variables.block().get(name));
                renamed.put(name, own);
                results.put(name, Value.of(own));
            }
        }
        versions.ops().add(op.renamed(name -> operands.getOrDefault(name, name),
                name -> renamed.getOrDefault(name, name)));
        return results;
    }

    /** The known results of an operation; null if they are not known. */
    private @Nullable Map<String, Tensor> folded(OpDesc op, int index, Variables variables) {
        if (!KnownValues.isFolded(op)) {
            return null;
        }
        Map<String, Tensor> operands = new HashMap<>();
        for (String name : op.inputNames()) {
            Tensor literal = variables.value(name).literal();
            if (literal == null) {
                return null;
            }
            operands.put(name, literal);
        }
        return known.results(variables.block(), index, operands);
    }
}
