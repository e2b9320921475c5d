package io.seriatim.graph.program;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Keeps the operations that some variables need, as Paddle does. Going backwards over a block, an operation stays if it
 * is the last writer of a target or writes a variable that is needed; then its inputs are needed too. The block that an
 * operation runs is pruned to the variables that the operation declares and those of outer blocks that it writes.
 * Blocks that no operation runs any more are dropped, and the others are numbered anew, depth first.
 *
 * <p>
 * A feed gives a variable its first value only. Operations that overwrite it later are needed by what reads it after
 * them, as those of any variable, in the first block and in the blocks of loops and branches. A feed takes the place of
 * an operation only if the operation cannot run, because it needs variables that are neither fed nor persistable and
 * that no operation computes which can run: so a part of a program can be cut out of it.
 */
final class TargetPruning {
    /** Operations whose results are given by the feeds of a run. */
    private static final Set<String> FEEDING = Set.of("feed", "read");

    private final Program from;
    private final Program to;
    private final Set<String> feeds;
    /** The operations of the first block whose fed outputs keep the fed values. */
    private final Set<Integer> replaced = new HashSet<>();
    /** By variable, those that may share its memory. */
    private final Map<String, Set<String>> sharing;
    private final Map<Integer, Integer> numbers = new HashMap<>();
    private final Map<Integer, Outside> outside = new HashMap<>();
    private final Set<Integer> entered = new HashSet<>();

    /**
     * The variables of outer blocks that a block uses.
     *
     * @param needed
     *            those that it reads before it has written them itself
     * @param written
     *            those that it may write
     * @param all
     *            those that it reads or writes. A loop's variable that is only written counts as read: without any step
     *            its first value is the result
     */
    private record Outside(Set<String> needed, Set<String> written, Set<String> all) {
    }

    TargetPruning(Program from, Collection<String> feeds) {
        this.from = from;
        this.sharing = Aliases.sharing(from);
        this.to = Program.empty(from.version(), from.opVersions()).original(from.original())
                .randomSeed(from.randomSeed());
        this.feeds = Set.copyOf(feeds);
    }

    Program prune(List<String> targets) {
        copy(from.global(), Block.NONE, lastWriters(targets), new HashSet<>());
        for (String target : targets) {
            VarDesc desc = from.global().get(target);
            if (to.global().var(target) == null) {
                to.global().put(desc);
            }
        }
        to.global().sortVars();
        return to;
    }

    private Set<Integer> lastWriters(List<String> targets) {
        List<OpDesc> ops = from.global().ops();
        findReplaced();
        Set<Integer> writers = new HashSet<>();
        for (String target : targets) {
            VarDesc desc = from.global().get(target);
            int writer = -1;
            for (int i = 0; i < ops.size(); i++) {
                if (!isUpdate(ops.get(i)) && writes(i, Set.of(target))) {
                    writer = i;
                }
            }
            if (writer < 0 && !feeds.contains(target) && !desc.isPersistable()) {
                throw new IllegalArgumentException(
                        "Nothing produces target '" + target + "': feed it, or choose another");
            }
            if (writer >= 0) {
                writers.add(writer);
                Set<String> others = sharing.getOrDefault(target, Set.of());
                for (int i = 0; i < ops.size(); i++) {
                    if (!isUpdate(ops.get(i)) && ops.get(i).outputNames().stream().anyMatch(others::contains)) {
                        writers.add(i);
                    }
                }
            }
        }
        return writers;
    }

    /** Finds the operations whose writes of fed variables do not happen, since the feeds take their place. */
    private void findReplaced() {
        Block global = from.global();
        Set<String> known = new HashSet<>(feeds);
        for (int i = 0; i < global.ops().size(); i++) {
            OpDesc op = global.ops().get(i);
            boolean runs = !FEEDING.contains(op.type());
            for (String name : neededBy(op)) {
                VarDesc desc = global.var(name);
                runs &= desc == null || desc.isPersistable() || known.contains(name);
            }
            if (runs) {
                known.addAll(writtenBy(op));
            } else {
                replaced.add(i);
            }
        }
    }

    /** Whether an operation of the first block writes one of some variables, unless a feed takes its place there. */
    private boolean writes(int index, Set<String> names) {
        boolean isReplaced = replaced.contains(index);
        return writtenBy(from.global().ops().get(index)).stream()
                .anyMatch(name -> names.contains(name) && !(isReplaced && feeds.contains(name)));
    }

    /** Optimizer operations write parameters, but the reads of a parameter do not need the update. */
    private static boolean isUpdate(OpDesc op) {
        return (Roles.of(op) & Roles.OPTIMIZE) != 0;
    }

    private void copy(Block block, int parent, Set<Integer> wanted, Set<String> needed) {
        int forward = block.forward();
        Block copy = to
                .addBlock(parent, block.forwardAsWritten() == null ? null : numbers.getOrDefault(forward, Block.NONE))
                .original(block.original());
        if (numbers.put(block.index(), copy.index()) != null) {
            throw new IllegalArgumentException(
                    "Block " + block.index() + " is run by operations of several blocks; each must have its own");
        }
        List<OpDesc> kept = kept(block, wanted, needed);
        Set<String> used = new HashSet<>();
        for (OpDesc op : kept) {
            copyBlocks(op, kept, copy);
            copy.add(renumbered(op));
            used.addAll(seenBy(op));
        }
        block.vars().stream().filter(desc -> used.contains(desc.name())).forEach(copy::put);
        copy.sortVars();
    }

    private List<OpDesc> kept(Block block, Set<Integer> wanted, Set<String> needed) {
        List<OpDesc> kept = new ArrayList<>();
        for (int i = block.ops().size() - 1; i >= 0; i--) {
            OpDesc op = block.ops().get(i);
            boolean writes = block.index() == 0
                    ? writes(i, needed)
                    : writtenBy(op).stream().anyMatch(needed::contains);
            if (wanted.contains(i) || (!isUpdate(op) && writes)) {
                kept.addFirst(op);
                needed.addAll(op.inputNames());
                blocksOf(op).forEach(index -> needed.addAll(outside(index).all()));
                if (!sharing.isEmpty()) {
                    // A write to one of several variables that share memory is a write to all of them.
                    op.outputNames().forEach(name -> needed.addAll(sharing.getOrDefault(name, Set.of())));
                    List.copyOf(needed).forEach(name -> needed.addAll(sharing.getOrDefault(name, Set.of())));
                }
            }
        }
        return kept;
    }

    private void copyBlocks(OpDesc op, List<OpDesc> all, Block parent) {
        for (int index : blocksOf(op)) {
            if (!numbers.containsKey(index)) {
                Set<String> needed = new HashSet<>();
                all.stream().filter(each -> blocksOf(each).contains(index)).forEach(each -> {
                    needed.addAll(each.inputNames());
                    needed.addAll(writtenBy(each));
                    if (each.attribute("states") instanceof Attribute.Texts(List<String> states)) {
                        // The inner names of a recurrence's states are not variables of its inputs or outputs.
                        needed.addAll(states);
                    }
                });
                copy(from.block(index), parent.index(), Set.of(), needed);
            }
        }
    }

    private OpDesc renumbered(OpDesc op) {
        OpDesc result = op;
        for (Attribute.Named attribute : op.attributes()) {
            switch (attribute.value()) {
                case Attribute.BlockRef(int index) ->
                    result = result.with(attribute.name(), new Attribute.BlockRef(number(index)));
                case Attribute.BlockRefs(List<Integer> index) ->
                    result = result.with(attribute.name(),
                            new Attribute.BlockRefs(index.stream().map(this::number).toList()));
                default -> {
                    // It names no block.
                }
            }
        }
        return result;
    }

    private int number(int index) {
        return numbers.getOrDefault(index, Block.NONE);
    }

    private static List<Integer> blocksOf(OpDesc op) {
        return op.attributes().stream().flatMap(each -> each.value().blocks().stream()).toList();
    }

    private Set<String> seenBy(OpDesc op) {
        Set<String> names = new HashSet<>(op.inputNames());
        names.addAll(op.outputNames());
        blocksOf(op).forEach(index -> names.addAll(outside(index).all()));
        return names;
    }

    private Set<String> writtenBy(OpDesc op) {
        List<Integer> blocks = blocksOf(op);
        Set<String> names = new HashSet<>(op.outputNames());
        blocks.forEach(index -> names.addAll(outside(index).written()));
        return names;
    }

    /** The variables without which an operation cannot run. A loop also names inputs that it only writes. */
    private Set<String> neededBy(OpDesc op) {
        Set<String> names = new HashSet<>(op.inputNames());
        blocksOf(op).forEach(index -> names.removeAll(outside(index).written()));
        blocksOf(op).forEach(index -> names.addAll(outside(index).needed()));
        return names;
    }

    private Outside outside(int index) {
        Outside known = outside.get(index);
        if (known != null) {
            return known;
        }
        if (!entered.add(index)) {
            throw new IllegalArgumentException("Block " + index + " runs itself, directly or through other blocks");
        }
        Block block = from.block(index);
        Set<String> needed = new HashSet<>();
        Set<String> written = new HashSet<>();
        Set<String> all = new HashSet<>();
        for (OpDesc op : block.ops()) {
            neededBy(op).stream().filter(name -> !written.contains(name)).forEach(needed::add);
            written.addAll(writtenBy(op));
            all.addAll(seenBy(op));
        }
        Stream.of(needed, written, all).forEach(names -> names.removeIf(name -> block.var(name) != null));
        Outside made = new Outside(needed, written, all);
        outside.put(index, made);
        return made;
    }
}
