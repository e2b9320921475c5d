package io.seriatim.graph.program;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps the operations that some variables need, as Paddle does. Going backwards over a block, an operation stays if it
 * is the last writer of a target or writes a variable that is needed; then its inputs are needed too. The block that an
 * operation runs is pruned to the variables that the operation declares. Blocks that no operation runs any more are
 * dropped, and the others are numbered anew, depth first.
 */
final class TargetPruning {
    private final Program from;
    private final Program to;
    private final Set<String> feeds;
    /** By variable, those that may share its memory. */
    private final Map<String, Set<String>> sharing;
    private final Map<Integer, Integer> numbers = new HashMap<>();
    private final Map<Integer, Set<String>> outside = new HashMap<>();
    private final Set<Integer> entered = new HashSet<>();

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
        Set<String> runnable = runnable();
        Set<Integer> writers = new HashSet<>();
        for (String target : targets) {
            VarDesc desc = from.global().get(target);
            int writer = -1;
            for (int i = 0; i < ops.size(); i++) {
                if (!isUpdate(ops.get(i)) && ops.get(i).outputNames().contains(target)) {
                    writer = i;
                }
            }
            // A feed may be changed in place. Its writer is left out if it needs variables that are not fed: the feed
            // takes its place.
            boolean given = feeds.contains(target) && !runnable.contains(target);
            if (writer < 0 && !given && !feeds.contains(target) && !desc.isPersistable()) {
                throw new IllegalArgumentException(
                        "Nothing produces target '" + target + "': feed it, or choose another");
            }
            if (writer >= 0 && !given) {
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

    /** The variables that operations of the first block compute from feeds and persistable variables only. */
    private Set<String> runnable() {
        Block global = from.global();
        Set<String> written = new HashSet<>();
        for (OpDesc op : global.ops()) {
            boolean runs = true;
            for (String name : op.inputNames()) {
                VarDesc desc = global.var(name);
                runs &= desc == null || desc.isPersistable() || written.contains(name) || feeds.contains(name);
            }
            if (runs) {
                written.addAll(op.outputNames());
            }
        }
        return written;
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
            if (wanted.contains(i) || (!isUpdate(op) && op.outputNames().stream().anyMatch(needed::contains))) {
                kept.addFirst(op);
                needed.addAll(op.inputNames());
                blocksOf(op).forEach(index -> needed.addAll(fromOutside(index)));
                if (!sharing.isEmpty()) {
                    // A write to one of several variables that share memory is a write to all of them.
                    op.outputNames().forEach(name -> needed.addAll(sharing.getOrDefault(name, Set.of())));
                    List.copyOf(needed).forEach(name -> needed.addAll(sharing.getOrDefault(name, Set.of())));
                }
                needed.removeAll(feeds);
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
                    needed.addAll(each.outputNames());
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
        blocksOf(op).forEach(index -> names.addAll(fromOutside(index)));
        return names;
    }

    /**
     * The variables of outer blocks that a block reads or writes. A loop's variable that is only written counts as
     * read: without any step its first value is the result.
     */
    private Set<String> fromOutside(int index) {
        Set<String> known = outside.get(index);
        if (known != null) {
            return known;
        }
        if (!entered.add(index)) {
            throw new IllegalArgumentException("Block " + index + " runs itself, directly or through other blocks");
        }
        Block block = from.block(index);
        Set<String> names = new HashSet<>();
        for (OpDesc op : block.ops()) {
            names.addAll(seenBy(op));
        }
        names.removeIf(name -> block.var(name) != null);
        outside.put(index, names);
        return names;
    }
}
