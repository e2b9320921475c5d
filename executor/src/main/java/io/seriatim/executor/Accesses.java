package io.seriatim.executor;

import io.seriatim.graph.Block;
import io.seriatim.graph.OpDesc;
import io.seriatim.graph.Program;
import io.seriatim.graph.VarDesc;
import io.seriatim.graph.op.GradientRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The first step of a plan: which values the operations of a program read and write. A value is what a variable holds between two writes that do not need the old value: a temporary variable that is written
 * anew is another value, with memory of its own, so that only true dependencies order the two. Variables that outlive runs, and those that are changed in place, stay one value.
 *
 * @param values
 *            by number
 * @param operations
 *            in the order of the program, without feed and fetch
 * @param fetched
 *            the values that are wanted, in order
 */
record Accesses(List<Value> values, List<Access> operations, List<Integer> fetched) {
    /** Where a value comes from. */
    enum Origin {
        /** An operation computes it. */
        COMPUTED,
        /** The caller gives it. */
        FED,
        /** It is in a scope. */
        SCOPE
    }

    /**
     * What a variable holds.
     *
     * @param name
     *            the variable's
     * @param origin
     *            where it comes from
     * @param persistable
     *            whether it goes back into the scope
     */
    record Value(String name, Origin origin, boolean persistable) {
    }

    /**
     * What an operation touches.
     *
     * @param index
     *            its place in the program's first block
     * @param op
     *            the operation
     * @param reads
     *            by variable, the value it reads
     * @param writes
     *            by variable, the value it writes
     */
    record Access(int index, OpDesc op, Map<String, Integer> reads, Map<String, Integer> writes) {
        /** Whether a value is changed in place. */
        boolean mutates(String name) {
            Integer read = reads.get(name);
            return read != null && read.equals(writes.get(name));
        }
    }

    static Accesses of(Program program, List<String> feeds, List<String> fetches) {
        return new Builder(program, feeds).build(fetches);
    }

    private static final class Builder {
        private final Block block;
        private final Set<String> fed;
        private final List<Value> values = new ArrayList<>();
        private final Map<String, Integer> current = new HashMap<>();
        private final List<Access> operations = new ArrayList<>();

        Builder(Program program, List<String> feeds) {
            this.block = program.global();
            this.fed = new HashSet<>(feeds);
        }

        Accesses build(List<String> fetches) {
            for (int i = 0; i < block.ops().size(); i++) {
                OpDesc op = block.ops().get(i);
                if (!op.type().equals("feed") && !op.type().equals("fetch") && !op.type().equals("fetch_v2")) {
                    operations.add(access(i, op));
                }
            }
            List<Integer> fetched = fetches.stream().map(this::read).toList();
            return new Accesses(List.copyOf(values), List.copyOf(operations), fetched);
        }

        private Access access(int index, OpDesc op) {
            Set<String> readNames = new LinkedHashSet<>(op.inputNames());
            Set<String> writtenNames = new LinkedHashSet<>(op.outputNames());
            op.attributes().forEach(
                    each -> each.value().blocks().forEach(inner -> outside(block.program().block(inner), readNames, writtenNames)));
            readNames.remove(GradientRule.EMPTY);
            writtenNames.remove(GradientRule.EMPTY);
            Map<String, Integer> reads = HashMap.newHashMap(readNames.size());
            boolean runsBlocks = op.attributes().stream().anyMatch(each -> !each.value().blocks().isEmpty());
            for (String name : readNames) {
                // A loop names what it is about to write among what it reads.
                if (!runsBlocks || current.containsKey(name) || fed.contains(name) || isPersistable(name) || !writtenNames.contains(name)) {
                    reads.put(name, read(name));
                }
            }
            Map<String, Integer> writes = HashMap.newHashMap(writtenNames.size());
            for (String name : writtenNames) {
                writes.put(name, write(name, reads.containsKey(name) || runsBlocks));
            }
            return new Access(index, op, reads, writes);
        }

        /** What a block reads and writes of the variables outside of it. */
        private void outside(Block inner, Set<String> reads, Set<String> writes) {
            for (OpDesc op : inner.ops()) {
                op.inputNames().stream().filter(name -> isOutside(inner, name)).forEach(reads::add);
                op.outputNames().stream().filter(name -> isOutside(inner, name)).forEach(writes::add);
                op.attributes().forEach(each -> each.value().blocks().forEach(index -> {
                    Set<String> innerReads = new LinkedHashSet<>();
                    Set<String> innerWrites = new LinkedHashSet<>();
                    outside(inner.program().block(index), innerReads, innerWrites);
                    innerReads.stream().filter(name -> isOutside(inner, name)).forEach(reads::add);
                    innerWrites.stream().filter(name -> isOutside(inner, name)).forEach(writes::add);
                }));
            }
        }

        private boolean isOutside(Block inner, String name) {
            return inner.var(name) == null && block.var(name) != null;
        }

        private boolean isPersistable(String name) {
            VarDesc desc = block.var(name);
            return desc != null && desc.isPersistable();
        }

        private int read(String name) {
            return current.computeIfAbsent(name, missing -> add(missing, fed.contains(missing) ? Origin.FED : Origin.SCOPE));
        }

        private int write(String name, boolean inPlace) {
            Integer known = current.get(name);
            if (known != null && (inPlace || values.get(known).persistable())) {
                return known;
            }
            int fresh = add(name, Origin.COMPUTED);
            current.put(name, fresh);
            return fresh;
        }

        private int add(String name, Origin origin) {
            values.add(new Value(name, origin, isPersistable(name)));
            return values.size() - 1;
        }
    }
}
