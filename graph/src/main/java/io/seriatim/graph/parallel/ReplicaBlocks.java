package io.seriatim.graph.parallel;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Operations of one replica, with the blocks that they run. The first replica changes the blocks that are there; every
 * other one gets copies, below the copies of their parents, so that a place branches and repeats as its own rows say.
 */
final class ReplicaBlocks {
    /** Attributes that hold texts, but no names of variables. */
    private static final Set<String> NO_NAMES = Set.of(Roles.DEVICE, "op_namescope", "op_callstack");

    private final Program from;
    private final Program to;
    /** Of each block that was written, its number in the program for all replicas. */
    private final Map<Integer, Integer> numbers = new HashMap<>();
    private final boolean copies;
    private final Set<String> variables;

    /**
     * Begins with no block.
     *
     * @param from
     *            the program of one replica, which is not changed
     * @param to
     *            that of all, at first a copy of it
     * @param copies
     *            whether the blocks are those of another replica than the first
     */
    ReplicaBlocks(Program from, Program to, boolean copies) {
        this.from = from;
        this.to = to;
        this.copies = copies;
        this.variables = variables(from);
    }

    private static Set<String> variables(Program program) {
        Set<String> names = new HashSet<>();
        for (Block block : program.blocks()) {
            block.vars().forEach(desc -> names.add(desc.name()));
            for (OpDesc op : block.ops()) {
                names.addAll(op.inputNames());
                names.addAll(op.outputNames());
            }
        }
        return names;
    }

    /**
     * A replica's form of an operation of the first block.
     *
     * @param op
     *            the operation
     * @param rename
     *            the replica's names of variables
     * @param finish
     *            what else is changed in an operation, here or in a block: its place, its seed
     */
    OpDesc of(OpDesc op, UnaryOperator<String> rename, UnaryOperator<OpDesc> finish) {
        return of(op, 0, rename, finish);
    }

    private OpDesc of(OpDesc op, int within, UnaryOperator<String> rename, UnaryOperator<OpDesc> finish) {
        OpDesc own = op.renamed(rename, rename);
        boolean runsBlocks = op.runsBlocks();
        UnaryOperator<String> inside = runsBlocks ? inside(op, rename) : rename;
        for (Attribute.Named each : op.attributes()) {
            Attribute value = each.value();
            Attribute changed = switch (value) {
                case Attribute.BlockRef(int index) -> new Attribute.BlockRef(block(index, within, inside, finish));
                case Attribute.BlockRefs(List<Integer> index) -> new Attribute.BlockRefs(
                        index.stream().map(number -> block(number, within, inside, finish)).toList());
                case Attribute.VarRef(String name) -> new Attribute.VarRef(rename.apply(name));
                case Attribute.VarRefs(List<String> names) ->
                    new Attribute.VarRefs(names.stream().map(rename).toList());
                case Attribute.Texts(List<String> texts) when runsBlocks && isOfNames(each.name()) ->
                    new Attribute.Texts(texts.stream().map(text -> named(text, inside)).toList());
                case Attribute.Text(String text) when runsBlocks && isOfNames(each.name()) ->
                    new Attribute.Text(named(text, inside));
                default -> value;
            };
            if (!changed.equals(value)) {
                own = own.with(each.name(), changed);
            }
        }
        return finish.apply(own);
    }

    private static boolean isOfNames(String attribute) {
        return !NO_NAMES.contains(attribute) && !attribute.equals(Roles.VARIABLES);
    }

    private String named(String text, UnaryOperator<String> rename) {
        return variables.contains(text) ? rename.apply(text) : text;
    }

    /**
     * The names in the block of a gradient. What comes into it and what it hands out is found there by name: it is
     * called like the variable outside with the suffix of gradients, also where replicas share that variable and
     * only have gradients of their own.
     */
    private static UnaryOperator<String> inside(OpDesc op, UnaryOperator<String> rename) {
        if (!op.type().endsWith("_grad")) {
            return rename;
        }
        Map<String, String> byName = new HashMap<>();
        for (String name : op.inputNames()) {
            if (!name.equals(GradientRule.EMPTY)) {
                byName.put(GradientRule.gradient(name), GradientRule.gradient(rename.apply(name)));
            }
        }
        return name -> {
            String known = byName.get(name);
            return known == null ? rename.apply(name) : known;
        };
    }

    private int block(int index, int within, UnaryOperator<String> rename, UnaryOperator<OpDesc> finish) {
        Integer known = numbers.get(index);
        if (known != null) {
            return known;
        }
        Block block = from.block(index);
        Block own = copies ? copy(block, within) : to.block(index);
        numbers.put(index, own.index());
        List<OpDesc> ops = new ArrayList<>();
        // Blocks inside are placed below this one, which has its number already.
        block.ops().forEach(op -> ops.add(of(op, own.index(), rename, finish)));
        own.setOps(ops);
        if (copies) {
            for (VarDesc desc : block.vars()) {
                own.put(desc.named(rename.apply(desc.name())));
            }
        }
        return own.index();
    }

    private Block copy(Block block, int within) {
        Integer parent = numbers.get(block.parent());
        @Nullable
        Integer forward = block.forwardAsWritten();
        if (parent == null) {
            parent = block.parent() <= 0 ? 0 : within;
        }
        return to.addBlock(parent, forward == null ? null : numbers.getOrDefault(forward, forward))
                .original(block.original());
    }
}
