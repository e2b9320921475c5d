package io.seriatim.executor.ir;

import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Aliases;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Numbers the values that a block's operations read and write. Each write of a variable creates a new value, so that
 * only true dependencies remain. Persistable variables, and variables that operations with blocks overwrite, keep their
 * value number.
 *
 * @param block
 *            the block
 * @param values
 *            the values, by number
 * @param operations
 *            the operations in order, without feed and fetch operations
 * @param wanted
 *            the results: values that are fetched or kept, and for a nested block, those of variables used outside of
 *            it
 * @param externals
 *            the external values of a run: those that are fed, which differ most between runs, then those that are
 *            defined outside of the block
 * @param known
 *            the first values of variables that also exist outside of the run, and may share memory there
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record ValueNumbering(Block block, List<Value> values, List<Access> operations, List<Integer> wanted, int[] externals,
        int[] known) {
    /** The origin of a value. */
    public enum Origin {
        /** Fed by the caller of the run. */
        FED,
        /** Defined in the scope or the enclosing block. */
        OUTSIDE,
        /** Computed by an operation. */
        COMPUTED
    }

    /**
     * A value.
     *
     * @param name
     *            the name of its variable
     * @param origin
     *            its origin
     * @param persistable
     *            whether its variable outlives the run
     */
    public record Value(String name, Origin origin, boolean persistable) {
    }

    /** Returns for each value whether exactly one operation writes it. */
    public boolean[] isWrittenOnce() {
        int[] writers = new int[values.size()];
        for (Access access : operations) {
            for (int value : access.writes()) {
                writers[value]++;
            }
        }
        boolean[] once = new boolean[writers.length];
        for (int i = 0; i < once.length; i++) {
            once[i] = writers[i] == 1;
        }
        return once;
    }

    /** Returns whether an operation takes a batch from a reader. */
    public static boolean isRead(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return schema != null && schema.effects().contains(Effect.READER);
    }

    /** Numbers the values of a program's global block. */
    public static ValueNumbering of(Block block, List<String> feeds, List<String> wanted) {
        return new Numbering(block, feeds).of(wanted);
    }

    /**
     * Numbers the values of some operations of a block, which run after the others.
     *
     * @param operations
     *            their indexes, in order
     * @param given
     *            the variables that earlier operations have computed, apart from persistable ones
     * @param wanted
     *            the variables that are used afterwards
     */
    public static ValueNumbering rest(Block block, List<Integer> operations, List<String> given, List<String> wanted) {
        return new Numbering(block, given).of(operations, wanted);
    }

    /** Returns for each variable the blocks of a program that name it in operations or in their attributes. */
    public static Map<String, Set<Integer>> mentions(Program program) {
        Map<String, Set<Integer>> mentions = new HashMap<>();
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                op.inputNames()
                        .forEach(name -> mentions.computeIfAbsent(name, _ -> new HashSet<>(2)).add(block.index()));
                op.outputNames()
                        .forEach(name -> mentions.computeIfAbsent(name, _ -> new HashSet<>(2)).add(block.index()));
                op.attributes().forEach(each -> names(each.value())
                        .forEach(name -> mentions.computeIfAbsent(name, _ -> new HashSet<>(2)).add(block.index())));
                if (runsGradient(op)) {
                    gradients(op).forEach(
                            name -> mentions.computeIfAbsent(name, _ -> new HashSet<>(2)).add(block.index()));
                }
            }
        }
        return mentions;
    }

    /** Whether an operation runs the block of a gradient: control flow that computes gradients. */
    private static boolean runsGradient(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return schema != null && schema.effects().contains(Effect.CONTROL)
                && schema.outputs().stream().anyMatch(slot -> slot.name().endsWith(GradientRule.SUFFIX));
    }

    /**
     * The variables that the gradient of control flow takes from the steps of its block: the gradients of what the
     * forward operation reads and of a recurrence's states. Outside they may have other names, or none.
     */
    private static List<String> gradients(OpDesc op) {
        return Stream.concat(op.inputNames().stream(),
                op.attributes().stream().flatMap(each -> names(each.value()).stream()))
                .map(GradientRule::gradient).toList();
    }

    /**
     * Numbers the values of a nested block. Its results are the variables of enclosing blocks that it writes, and
     * variables that other blocks read, such as the block of its gradient. Blocks within it are given what they read by
     * the operations that run them.
     */
    public static ValueNumbering inner(Block block, Map<String, Set<Integer>> mentions) {
        Predicate<String> isKnownElsewhere = name -> {
            Set<Integer> blocks = mentions.getOrDefault(name, Set.of());
            return block.var(name) == null || !blocks.contains(block.index())
                    || blocks.stream().anyMatch(index -> !isWithin(block, block.program().block(index)));
        };
        // Some operations name variables of their block in attributes.
        List<String> wanted = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (OpDesc op : block.ops()) {
            for (String name : op.outputNames()) {
                if (isKnownElsewhere.test(name) && seen.add(name)) {
                    wanted.add(name);
                }
            }
            op.attributes().forEach(each -> each.value().blocks().forEach(index -> {
                Set<String> written = new LinkedHashSet<>();
                Numbering.outside(block, block.program().block(index), new HashSet<>(), written);
                written.stream().filter(isKnownElsewhere).filter(seen::add).forEach(wanted::add);
            }));
        }
        wanted.remove(GradientRule.EMPTY);
        return new Numbering(block, List.of()).of(wanted);
    }

    /** Returns whether a block is another one or nested in it, and no gradient of a block. */
    private static boolean isWithin(Block block, Block inner) {
        Block at = inner;
        while (at.index() != block.index()) {
            if (at.parent() == Block.NONE || at.forward() != Block.NONE) {
                return false;
            }
            at = block.program().block(at.parent());
        }
        return true;
    }

    /**
     * Returns the values of a nested block whose variables outlive runs and are written by no operation of the program.
     */
    int[] unchangedAround() {
        if (block.index() == 0) {
            return new int[0];
        }
        Set<String> written = Written.by(block.program());
        return Arrays.stream(externals).filter(value -> {
            String name = values.get(value).name();
            VarDesc desc = block.find(name);
            return block.var(name) == null && desc != null && desc.isPersistable() && !written.contains(name);
        }).toArray();
    }

    /**
     * The variables that operations of a program write. Looked for once, since a program may have many blocks.
     *
     * @param modifications
     *            the program's modification count
     */
    private record Written(long modifications, Set<String> names) {
        private static final Map<Program, Written> KNOWN = Collections.synchronizedMap(new WeakHashMap<>());

        static Set<String> by(Program program) {
            Written known = KNOWN.get(program);
            if (known == null || known.modifications != program.modifications()) {
                known = of(program);
                KNOWN.put(program, known);
            }
            return known.names;
        }

        private static Written of(Program program) {
            long modifications = program.modifications();
            Set<String> names = new HashSet<>();
            for (Block each : program.blocks()) {
                for (OpDesc op : each.ops()) {
                    names.addAll(Operations.system().written(op));
                }
            }
            return new Written(modifications, names);
        }
    }

    private static List<String> names(Attribute attribute) {
        return switch (attribute) {
            case Attribute.Texts(List<String> texts) -> texts;
            case Attribute.Text(String text) -> List.of(text);
            default -> List.of();
        };
    }

    private static final class Numbering {
        private final Block block;
        private final Set<String> fed;
        private final List<Value> values = new ArrayList<>();
        private final Map<String, Integer> current = new HashMap<>();
        private final List<Access> numbered = new ArrayList<>();
        private final Set<Integer> renewed = new HashSet<>();

        Numbering(Block block, List<String> feeds) {
            this.block = block;
            this.fed = new HashSet<>(feeds);
        }

        ValueNumbering of(List<String> wanted) {
            return of(IntStream.range(0, block.ops().size()).boxed().toList(), wanted);
        }

        ValueNumbering of(List<Integer> operations, List<String> wanted) {
            for (int i : operations) {
                OpDesc op = block.ops().get(i);
                if (isRead(op) && block.index() == 0) {
                    op.outputNames().forEach(name -> add(name, Origin.FED));
                } else if (!Operations.system().isBoundary(op.type())) {
                    numbered.add(access(i, op));
                }
            }
            List<Integer> last = wanted.stream().map(this::read).toList();
            int[] externals = IntStream.concat(from(Origin.FED), from(Origin.OUTSIDE)).toArray();
            return new ValueNumbering(block, List.copyOf(values), List.copyOf(numbered), last, externals, known());
        }

        private IntStream from(Origin origin) {
            return IntStream.range(0, values.size()).filter(i -> values.get(i).origin() == origin);
        }

        private int[] known() {
            Set<String> seen = new HashSet<>();
            return IntStream.range(0, values.size()).filter(i -> {
                Value value = values.get(i);
                boolean outside = value.origin() == Origin.OUTSIDE || (value.origin() == Origin.COMPUTED
                        && (value.persistable() || (block.index() > 0 && block.var(value.name()) == null)));
                return seen.add(value.name()) && outside && !renewed.contains(i);
            }).toArray();
        }

        private Access access(int index, OpDesc written) {
            Operation schema = Operations.system().find(written.type());
            OpDesc op = schema == null ? written : schema.runForm(written);
            Set<String> readNames = new LinkedHashSet<>(op.inputNames());
            Set<String> writtenNames = new LinkedHashSet<>(op.outputNames());
            boolean runsBlocks = false;
            for (var each : op.attributes()) {
                for (int inner : each.value().blocks()) {
                    runsBlocks = true;
                    outside(block, block.program().block(inner), readNames, writtenNames);
                }
            }
            List<String> changed = schema == null ? List.of() : schema.changedInPlace(op);
            readNames.addAll(changed);
            writtenNames.addAll(changed);
            readNames.remove(GradientRule.EMPTY);
            writtenNames.remove(GradientRule.EMPTY);
            if (runsBlocks) {
                // Blocks may not run, or change a variable in part: its earlier value is then what later readers get.
                readNames.addAll(writtenNames);
            }
            boolean keeps = runsBlocks || !changed.isEmpty();
            if (keeps) {
                // A loop also names variables as inputs that it only writes.
                readNames.removeIf(name -> !isKnown(name) && writtenNames.contains(name));
            }
            String[] reading = readNames.toArray(String[]::new);
            int[] reads = new int[reading.length];
            for (int i = 0; i < reads.length; i++) {
                reads[i] = read(reading[i]);
            }
            String[] writing = writtenNames.toArray(String[]::new);
            int[] writes = new int[writing.length];
            List<String> aliases = Aliases.made(op);
            for (int i = 0; i < writes.length; i++) {
                writes[i] = aliases.contains(writing[i])
                        ? renew(writing[i])
                        : write(writing[i], keeps);
            }
            return new Access(index, op, reading, reads, writing, writes, runsBlocks);
        }

        /** Adds the outer variables that a nested block reads and writes. */
        static void outside(Block around, Block inner, Set<String> reads, Set<String> writes) {
            for (OpDesc op : inner.ops()) {
                op.inputNames().stream().filter(name -> isOutside(around, inner, name)).forEach(reads::add);
                op.outputNames().stream().filter(name -> isOutside(around, inner, name)).forEach(writes::add);
                op.attributes().forEach(each -> each.value().blocks().forEach(index -> {
                    Set<String> innerReads = new LinkedHashSet<>();
                    Set<String> innerWrites = new LinkedHashSet<>();
                    outside(around, inner.program().block(index), innerReads, innerWrites);
                    innerReads.stream().filter(name -> isOutside(around, inner, name)).forEach(reads::add);
                    innerWrites.stream().filter(name -> isOutside(around, inner, name)).forEach(writes::add);
                }));
            }
        }

        private static boolean isOutside(Block around, Block inner, String name) {
            return inner.var(name) == null && around.find(name) != null;
        }

        private boolean isKnown(String name) {
            return current.containsKey(name) || fed.contains(name) || isPersistable(name)
                    || (block.index() > 0 && block.var(name) == null);
        }

        private boolean isPersistable(String name) {
            VarDesc desc = block.var(name);
            return desc != null && desc.isPersistable();
        }

        private int read(String name) {
            Integer known = current.get(name);
            return known != null ? known : add(name, fed.contains(name) ? Origin.FED : Origin.OUTSIDE);
        }

        private int write(String name, boolean keeps) {
            Integer known = current.get(name);
            if (known == null && keeps && isKnown(name)) {
                return read(name);
            }
            return known != null && (keeps || values.get(known).persistable()) ? known : add(name, Origin.COMPUTED);
        }

        /**
         * Creates a new value for a variable that comes to share memory with others. Its previous value in this run
         * then no longer outlives the run.
         */
        private int renew(String name) {
            Integer before = current.get(name);
            if (before != null && values.get(before).origin() == Origin.COMPUTED && values.get(before).persistable()) {
                values.set(before, new Value(name, Origin.COMPUTED, false));
            }
            int number = add(name, Origin.COMPUTED);
            renewed.add(number);
            return number;
        }

        private int add(String name, Origin origin) {
            values.add(new Value(name, origin, isPersistable(name)));
            int number = values.size() - 1;
            current.put(name, number);
            return number;
        }
    }
}
