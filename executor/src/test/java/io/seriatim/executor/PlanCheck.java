package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Verifies a plan by brute force. It computes the exact ancestors of each task from the final edges, and compares all
 * pairs of tasks and values. It shares no code with the compiler of plans.
 */
public final class PlanCheck {
    private final CompiledPlan plan;
    private final List<String> violations = new ArrayList<>();
    private final BitSet[] ancestors;

    private PlanCheck(CompiledPlan plan, boolean inOrder) {
        this.plan = plan;
        this.ancestors = new BitSet[plan.tasks().size()];
        for (int i = 0; i < ancestors.length; i++) {
            ancestors[i] = new BitSet();
            for (int other : plan.before()[i]) {
                if (other >= i) {
                    violations.add("task " + i + " waits for task " + other + ", which comes later");
                } else {
                    ancestors[i].or(ancestors[other]);
                    ancestors[i].set(other);
                }
            }
            if (inOrder) {
                ancestors[i].set(0, i);
            }
        }
    }

    /** Returns the violations in a plan. With {@code inOrder}, one thread runs the tasks in program order. */
    static List<String> violations(CompiledPlan plan, boolean inOrder) {
        PlanCheck check = new PlanCheck(plan, inOrder);
        check.edges();
        check.data();
        check.together();
        check.effects();
        check.reduction();
        check.contents();
        check.violations.addAll(new MemoryCheck(plan, check.ancestors).violations());
        check.violations.addAll(new StreamCheck(plan, check.ancestors).violations());
        return check.violations;
    }

    public static void assertRight(CompiledPlan plan, boolean inOrder, String where) {
        assertEquals(List.of(), violations(plan, inOrder), where);
    }

    private String task(int index) {
        return "task " + index + " (" + plan.tasks().get(index).name() + ")";
    }

    private void violated(String what) {
        violations.add(what);
    }

    /** Checks that {@code before} and {@code after} contain the same edges. */
    private void edges() {
        for (int i = 0; i < ancestors.length; i++) {
            for (int other : plan.before()[i]) {
                int self = i;
                if (Arrays.stream(plan.after()[other]).filter(each -> each == self).count() != 1) {
                    violated(task(i) + " waits for " + task(other) + ", which does not know");
                }
            }
        }
        long before = Arrays.stream(plan.before()).mapToLong(each -> each.length).sum();
        long after = Arrays.stream(plan.after()).mapToLong(each -> each.length).sum();
        if (before != after) {
            violated(before + " edges one way, " + after + " the other");
        }
    }

    private void requireOrder(int first, int second, String why) {
        if (first != second && !ancestors[second].get(first)) {
            violated(task(first) + " need not come before " + task(second) + ": " + why);
        }
    }

    /** Checks that each task reads a value after its writers, and writes it after all readers of the old content. */
    private void data() {
        Map<Integer, List<Integer>> writers = new HashMap<>();
        Map<Integer, List<Integer>> users = new HashMap<>();
        for (int i = 0; i < ancestors.length; i++) {
            Task task = plan.tasks().get(i);
            for (int read : task.reads()) {
                int memory = plan.values().memory(read);
                for (int writer : writers.getOrDefault(memory, List.of())) {
                    requireOrder(writer, i, memory, "it writes '" + plan.values().name(read) + "'");
                }
                users.computeIfAbsent(memory, _ -> new ArrayList<>()).add(i);
            }
            for (int written : task.writes()) {
                int memory = plan.values().memory(written);
                for (int user : users.getOrDefault(memory, List.of())) {
                    requireOrder(user, i, memory,
                            "it uses '" + plan.values().name(written) + "', which is written again");
                }
                users.computeIfAbsent(memory, _ -> new ArrayList<>()).add(i);
                writers.computeIfAbsent(memory, _ -> new ArrayList<>()).add(i);
            }
        }
    }

    private void requireOrder(int first, int second, int memory, String why) {
        if (first != second && !ancestors[second].get(first) && Bytes.meet(plan, first, memory, second, memory)) {
            requireOrder(first, second, why);
        }
    }

    /** Checks that all tiles that change parts of a persistable value may start at the same time. */
    private void together() {
        for (int i = 1; i < ancestors.length; i++) {
            for (int written : plan.tasks().get(i).writes()) {
                if (plan.values().isPersistable(written) && isSibling(i, written)) {
                    BitSet both = (BitSet) ancestors[i].clone();
                    both.xor(ancestors[i - 1]);
                    if (!both.isEmpty()) {
                        violated(task(i) + " and the one before change '" + plan.values().name(written)
                                + "', but only one waits for "
                                + both);
                    }
                }
            }
        }
    }

    private void effects() {
        Map<Effect, Integer> last = new EnumMap<>(Effect.class);
        for (int i = 0; i < ancestors.length; i++) {
            Set<Effect> effects = EnumSet.noneOf(Effect.class);
            for (Access access : plan.tasks().get(i).operations()) {
                collect(access.op(), effects);
            }
            for (Effect effect : effects) {
                Integer before = last.put(effect, i);
                if (before != null && effect != Effect.CONTROL && effect != Effect.RANDOM) {
                    requireOrder(before, i, "both " + effect);
                }
            }
            if (last.containsKey(Effect.READER)) {
                requireOrder(last.get(Effect.READER), i, "it may find the end of the data");
            }
        }
    }

    private void collect(OpDesc op, Set<Effect> effects) {
        Operation schema = Operations.system().get(op.type());
        effects.addAll(schema.effects());
        op.attributes().forEach(each -> each.value().blocks()
                .forEach(block -> plan.accesses().block().program().block(block).ops()
                        .forEach(inner -> collect(inner, effects))));
    }

    /** Checks that no data dependency is implied by others. */
    private void reduction() {
        int[][] kept = plan.dependencies().before();
        BitSet[] known = new BitSet[kept.length];
        for (int i = 0; i < kept.length; i++) {
            known[i] = new BitSet();
            for (int other : kept[i]) {
                known[i].or(known[other]);
            }
            for (int other : kept[i]) {
                if (known[i].get(other)) {
                    violated("that " + task(i) + " waits for " + task(other) + " follows from the rest");
                }
            }
            for (int other : kept[i]) {
                known[i].set(other);
            }
        }
    }

    /** Returns whether a value is the state of a normalisation in inference mode, which does not change it. */
    private boolean isLeft(Access access, int value) {
        return access.op().attribute("is_test") instanceof Attribute.Bool(boolean set) && set && !access.runsBlocks()
                && plan.values().isPersistable(value)
                && Arrays.stream(access.reads()).anyMatch(read -> read == value);
    }

    /**
     * Checks that each task reads the content that program order implies, wherever it is stored. The content of a
     * variable is identified by the number of preceding writes to it.
     */
    private void contents() {
        ValueTable values = plan.values();
        @Nullable
        String[] content = new String[values.size()];
        for (int value : plan.accesses().externals()) {
            content[values.memory(value)] = values.name(value) + "@0";
        }
        for (int value = 0; value < content.length; value++) {
            if (values.isPersistable(value)) {
                content[values.memory(value)] = values.name(value) + "@0";
            }
        }
        List<Access> operations = plan.accesses().operations();
        Map<String, Integer> versions = new HashMap<>();
        Map<String, Set<String>> sources = new HashMap<>();
        Map<Access, Set<String>> reads = new LinkedHashMap<>();
        Map<Access, Map<String, String>> writes = new HashMap<>();
        for (Access access : operations) {
            Set<String> read = new HashSet<>();
            for (int value : access.reads()) {
                read.add(values.name(value) + "@" + versions.getOrDefault(values.name(value), 0));
            }
            reads.put(access, read);
            Map<String, String> written = new HashMap<>();
            for (int value : access.writes()) {
                if (isLeft(access, value)) {
                    continue;
                }
                written.put(values.name(value),
                        values.name(value) + "@" + versions.merge(values.name(value), 1, Integer::sum));
            }
            writes.put(access, written);
            written.values().forEach(each -> sources.put(each, read));
        }
        for (Task task : plan.tasks()) {
            // A reader of a cast may also read the operand of the cast.
            task.operations().stream().filter(access -> !access.op().type().equals("cast")).forEach(
                    access -> Arrays.stream(task.writes())
                            .forEach(value -> sources
                                    .remove(Objects.requireNonNull(writes.get(access)).get(variable(value)))));
        }
        addConcatenations(reads, writes, sources);
        reads.values().forEach(read -> addSources(read, sources));
        for (int i = 0; i < ancestors.length; i++) {
            contents(i, content, reads, writes);
        }
        for (int value : plan.accesses().wanted()) {
            int result = values.result(value);
            if (values.constant(result) == null) {
                requireContent(content[values.memory(result)], Set.of(last(versions, values.name(value))),
                        "the result '" + values.name(value) + "'");
            }
        }
        for (int value = 0; value < plan.accesses().values().size(); value++) {
            if (values.isPersistable(value) && values.memory(value) == value && plan.accesses().block().index() == 0) {
                requireContent(content[value], Set.of(last(versions, values.name(value))),
                        "what is left in '" + values.name(value) + "'");
            }
        }
    }

    /**
     * Adds the sources of eliminated copies: a value that no task writes was a copy, and its readers read the source.
     */
    private static void addSources(Set<String> contents, Map<String, Set<String>> sources) {
        ArrayDeque<String> more = new ArrayDeque<>(contents);
        while (!more.isEmpty()) {
            for (String source : sources.getOrDefault(more.pop(), Set.of())) {
                if (contents.add(source)) {
                    more.add(source);
                }
            }
        }
    }

    /** A concatenation may read another one, of some of its parts or of copies of them. */
    private static void addConcatenations(Map<Access, Set<String>> reads, Map<Access, Map<String, String>> writes,
            Map<String, Set<String>> sources) {
        List<Access> all = reads.keySet().stream().filter(PlanCheck::isConcatenation).toList();
        Map<Access, Set<String>> parts = new HashMap<>();
        all.forEach(access -> parts.put(access, Set.copyOf(Objects.requireNonNull(reads.get(access)))));
        reads.values().forEach(read -> addSources(read, sources));
        for (Access whole : all) {
            Set<String> read = Objects.requireNonNull(reads.get(whole));
            List<String> joined = new ArrayList<>();
            for (Access other : all) {
                if (Objects.requireNonNull(parts.get(other)).stream().allMatch(part -> {
                    Set<String> same = new HashSet<>(Set.of(part));
                    addSources(same, sources);
                    return !Collections.disjoint(same, read);
                })) {
                    joined.addAll(Objects.requireNonNull(writes.get(other)).values());
                }
            }
            read.addAll(joined);
        }
    }

    private static boolean isConcatenation(Access access) {
        return access.op().type().equals("concat");
    }

    private String variable(int value) {
        return plan.values().name(value).replaceFirst("_device_.*", "");
    }

    private static String last(Map<String, Integer> versions, String name) {
        return name + "@" + versions.getOrDefault(name, 0);
    }

    private void contents(int index, @Nullable String[] content, Map<Access, Set<String>> reads,
            Map<Access, Map<String, String>> writes) {
        ValueTable values = plan.values();
        Task task = plan.tasks().get(index);
        if (task instanceof Task.Transfer(int from, int to, var source, var target)) {
            content[values.memory(to)] = content[values.memory(from)];
            if (!source.equals(values.place(values.memory(from))) || !target.equals(values.place(values.memory(to)))) {
                violated(task(index) + " is from " + source + " to " + target + ", but its values are elsewhere");
            }
            return;
        }
        Set<String> expected = new HashSet<>();
        Map<String, String> written = new HashMap<>();
        for (Access access : task.operations()) {
            expected.addAll(reads.get(access));
            written.putAll(writes.get(access));
        }
        for (int read : task.reads()) {
            if (values.constant(read) == null && !isSibling(index, read)) {
                requireContent(content[values.memory(read)], expected,
                        "'" + values.name(read) + "', as " + task(index) + " reads it,");
                requirePlace(index, read);
            }
        }
        for (int write : task.writes()) {
            content[values.memory(write)] = written.get(variable(write));
            requirePlace(index, write);
        }
    }

    /** Returns whether the previous task is a tile that changes another part of the same value. */
    private boolean isSibling(int index, int value) {
        return index > 0 && plan.tasks().get(index - 1).operations().equals(plan.tasks().get(index).operations())
                && Arrays.equals(plan.tasks().get(index - 1).writes(), plan.tasks().get(index).writes())
                && Arrays.stream(plan.tasks().get(index).writes()).anyMatch(each -> each == value)
                && !Bytes.meet(plan, index - 1, plan.values().memory(value), index, plan.values().memory(value));
    }

    private void requirePlace(int index, int value) {
        Object place = plan.values().place(plan.values().memory(value));
        if (!plan.tasks().get(index).place().equals(place)) {
            violated(task(index) + " is at " + plan.tasks().get(index).place() + ", but '" + plan.values().name(value)
                    + "' at " + place);
        }
    }

    private void requireContent(@Nullable String content, Set<String> expected, String what) {
        // A value that no task has written, such as an empty list, has no content to check.
        if (content != null && !expected.contains(content)) {
            violated(what + " holds " + content + ", not " + expected);
        }
    }
}
