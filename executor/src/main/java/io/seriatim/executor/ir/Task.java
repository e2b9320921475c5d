package io.seriatim.executor.ir;

import io.seriatim.device.Place;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The unit of scheduling: one operation, several fused operations, or a transfer. */
public sealed interface Task {
    /** The maximum number of stages for passes whose work is quadratic in them. */
    int MOST_STAGES = 64;

    /** Returns the values that the task reads. The array must not be modified. */
    int[] reads();

    /** Returns the values that the task writes. The array must not be modified. */
    int[] writes();

    /** Returns the place at which the task runs. */
    Place place();

    /** Returns the operations that the task executes; empty for a transfer. */
    List<Access> operations();

    /** Returns the name for messages and traces. */
    String name();

    /** Returns whether the memory of the task's results is known only when it has run. */
    default boolean isUnplanned() {
        return this instanceof Interpreted || this instanceof Rest;
    }

    /** Returns whether the task executes an operation that only the interpreter implements. */
    default boolean needsInterpreter() {
        return operations().stream().anyMatch(access -> !Operations.system().get(access.op().type()).isLowered());
    }

    /** Returns the stages of all tasks, in order. */
    static Stream<Stage> stages(List<Task> tasks) {
        return tasks.stream().<Stage>mapMulti((task, stages) -> {
            if (task instanceof Compute compute) {
                compute.stages().forEach(stages);
            }
        });
    }

    /**
     * A task that runs kernels.
     *
     * @param operations
     *            the operations that it executes
     * @param stages
     *            the stages, in order
     * @param temporaries
     *            the temporary memory of the task
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Compute(List<Access> operations, List<Stage> stages, List<TensorSpec> temporaries, Place place, int[] reads,
            int[] writes) implements Task {
        private static final int MOST_NAMED = 3;

        /**
         * Returns whether the task is pure: each of its operations is known and declares no effect, neither side
         * effects nor random numbers, so that the task may be fused, split and moved. It may nevertheless write results
         * that must not be eliminated.
         */
        public boolean isPure() {
            for (Access access : operations) {
                if (!access.isPure()) {
                    return false;
                }
            }
            return true;
        }

        /**
         * Returns the request of the first operation for a device and stream. Only tasks with equal requests are fused.
         */
        public PlaceRequest placeRequest() {
            return operations.getFirst().placeRequest();
        }

        /** Creates a task without temporaries that no stage uses. */
        public static Compute of(List<Access> operations, List<Stage> all, List<TensorSpec> allTemporaries,
                Place place) {
            Compute task = compact(operations, all, allTemporaries, place);
            return operations.size() == 1 ? task.withUnwritten() : task;
        }

        /**
         * Creates a task that reads and writes only the operands of its stages, independently of the results of its
         * operations. It is for passes that create tasks.
         */
        public static Compute ofStages(List<Access> operations, List<Stage> stages, List<TensorSpec> temporaries,
                Place place) {
            return of(operations, place, stages, temporaries);
        }

        private static Compute compact(List<Access> operations, List<Stage> all, List<TensorSpec> allTemporaries,
                Place place) {
            boolean[] isUsed = new boolean[allTemporaries.size()];
            int count = isUsed.length == 0 ? 0 : markUsed(all, isUsed);
            if (count == isUsed.length) {
                return of(operations, place, all, allTemporaries);
            }
            int[] numbers = new int[isUsed.length];
            List<TensorSpec> temporaries = new ArrayList<>(count);
            for (int i = 0; i < numbers.length; i++) {
                if (isUsed[i]) {
                    numbers[i] = temporaries.size();
                    temporaries.add(allTemporaries.get(i));
                }
            }
            List<Stage> stages = all.stream().map(stage -> stage.withTemporaries(number -> numbers[number])).toList();
            return of(operations, place, stages, temporaries);
        }

        /** Marks the temporaries that stages use and returns their number. */
        private static int markUsed(List<Stage> stages, boolean[] isUsed) {
            int count = 0;
            for (Stage stage : stages) {
                for (Arg arg : stage.args()) {
                    if (arg != null && arg.source() instanceof Arg.Temporary(int number) && !isUsed[number]) {
                        isUsed[number] = true;
                        count++;
                    }
                }
            }
            return count;
        }

        /**
         * Returns the task with results that no stage writes because they have no elements. A variable that the
         * operation also reads and does not change, such as the state of a normalisation in test mode, is not added.
         */
        private Compute withUnwritten() {
            Access access = operations.getFirst();
            IntSet known = new IntSet();
            known.addAll(writes);
            known.addAll(access.reads());
            int[] more = known.missing(access.writes());
            if (more.length == 0) {
                return this;
            }
            int[] all = Arrays.copyOf(writes, writes.length + more.length);
            System.arraycopy(more, 0, all, writes.length, more.length);
            return new Compute(operations, stages, temporaries, place, reads, all);
        }

        /** Returns the results that no stage writes, since they have no elements or are no longer computed. */
        public int[] unwritten() {
            return written(stages).missing(writes);
        }

        /** Returns the task without some of the results that no stage writes. */
        public Compute withoutUnwritten(IntPredicate which) {
            IntSet removed = new IntSet();
            for (int value : unwritten()) {
                if (which.test(value)) {
                    removed.add(value);
                }
            }
            int[] left = removed.missing(writes);
            return left.length == writes.length ? this : withWrites(left);
        }

        /** Returns the task without some of the values that it writes. */
        public Compute withoutWrites(IntPredicate which) {
            return withWrites(Arrays.stream(writes).filter(which.negate()).toArray());
        }

        private Compute withWrites(int[] others) {
            return new Compute(operations, stages, temporaries, place, reads, others);
        }

        /**
         * Returns the task with other stages. It reads and writes the operands of these stages; results without
         * elements, which no stage has written before, are kept.
         */
        public Compute with(List<Access> changed, List<Stage> others) {
            return with(changed, others, temporaries);
        }

        /**
         * Returns the task with other stages and temporaries. It reads and writes the operands of these stages; results
         * without elements, which no stage has written before, are kept.
         */
        public Compute with(List<Access> changed, List<Stage> others, List<TensorSpec> otherTemporaries) {
            Compute plain = compact(changed, others, otherTemporaries, place);
            int[] kept = written(others).missing(unwritten());
            int[] all = Arrays.copyOf(plain.writes, plain.writes.length + kept.length);
            System.arraycopy(kept, 0, all, plain.writes.length, kept.length);
            return plain.withWrites(all);
        }

        /**
         * Returns the values that several stages access; for example, one stage may write a value and another a part of
         * it.
         */
        public Set<Integer> touchedAgain() {
            if (stages.size() == 1) {
                return Set.of();
            }
            Set<Integer> again = new HashSet<>();
            Set<Integer> all = new HashSet<>();
            for (Stage stage : stages) {
                Set<Integer> touched = new HashSet<>();
                stage.args().stream().filter(arg -> arg != null && arg.spec().shape().size() > 0)
                        .forEach(arg -> touched.add(arg.value()));
                touched.stream().filter(value -> !all.add(value)).forEach(again::add);
            }
            return again;
        }

        private static IntSet written(List<Stage> stages) {
            IntSet written = new IntSet();
            for (Stage stage : stages) {
                Computation computation = stage.computation();
                for (int i = 0; i < stage.inputs().size(); i++) {
                    Arg arg = stage.inputs().get(i);
                    if (arg != null && computation != null && computation.mutates(i)) {
                        written.add(arg.value());
                    }
                }
                for (Arg arg : stage.outputs()) {
                    if (arg != null) {
                        written.add(arg.value());
                    }
                }
            }
            return written;
        }

        /**
         * Splits the task into independent parts that may run in parallel, such as the gradients of a product's two
         * operands. Parts access no value that another part writes.
         *
         * @param memory
         *            maps each value to the value that owns its memory
         */
        public List<Compute> parts(IntUnaryOperator memory) {
            return operations.size() == 1 ? parts(memory, (_, _) -> false) : List.of(this);
        }

        /**
         * Splits the task into parts that access no bytes that another part writes, such as the two directions of a
         * recurrent layer, or the copies to parts of a concatenation.
         *
         * @param memory
         *            maps each value to the value that owns its memory
         */
        public List<Compute> partsByBytes(IntUnaryOperator memory) {
            return parts(memory, Region::areApart);
        }

        private List<Compute> parts(IntUnaryOperator memory, BiPredicate<Arg, Arg> areApart) {
            if (stages.size() < 2 || stages.size() > MOST_STAGES) {
                return List.of(this);
            }
            Set<Integer> changed = new HashSet<>();
            Arrays.stream(writes).map(memory).forEach(changed::add);
            int[] groups = new int[stages.size()];
            Map<Object, List<Touch>> touched = new HashMap<>();
            for (int i = 0; i < groups.length; i++) {
                groups[i] = i;
                for (Arg arg : stages.get(i).args()) {
                    Object shared = arg == null ? null : shared(arg, memory, changed);
                    if (arg != null && shared != null) {
                        List<Touch> others = touched.computeIfAbsent(shared, _ -> new ArrayList<>());
                        for (Touch other : others) {
                            if (!areApart.test(arg, other.arg())) {
                                join(groups, i, other.stage());
                            }
                        }
                        others.add(new Touch(i, arg));
                    }
                }
            }
            Map<Integer, List<Stage>> grouped = new LinkedHashMap<>();
            for (int i = 0; i < groups.length; i++) {
                grouped.computeIfAbsent(first(groups, i), _ -> new ArrayList<>()).add(stages.get(i));
            }
            if (grouped.size() == 1) {
                return List.of(this);
            }
            List<Compute> parts = new ArrayList<>();
            Set<Integer> written = new HashSet<>();
            for (List<Stage> own : grouped.values()) {
                Compute part = compact(operations, own, temporaries, place);
                Arrays.stream(part.writes).forEach(written::add);
                parts.add(part);
            }
            int[] left = Arrays.stream(writes).filter(value -> !written.contains(value)).toArray();
            if (left.length > 0) {
                Compute first = parts.getFirst();
                int[] all = Arrays.copyOf(first.writes, first.writes.length + left.length);
                System.arraycopy(left, 0, all, first.writes.length, left.length);
                parts.set(0, new Compute(operations, first.stages, first.temporaries, place, first.reads, all));
            }
            return parts;
        }

        /** An operand of a stage. */
        private record Touch(int stage, Arg arg) {
        }

        /**
         * Returns a key that is equal for operands whose stages must be in the same part; null if there is no
         * constraint.
         */
        private static @Nullable Object shared(Arg arg, IntUnaryOperator memory, Set<Integer> changed) {
            return switch (arg.source()) {
                case Arg.Temporary temporary -> temporary;
                case Arg.Value(int number) when changed.contains(memory.applyAsInt(number)) ->
                    memory.applyAsInt(number);
                default -> null;
            };
        }

        /** Returns the first stage of a group. */
        private static int first(int[] groups, int stage) {
            int at = stage;
            while (groups[at] != at) {
                groups[at] = groups[groups[at]];
                at = groups[at];
            }
            return at;
        }

        private static void join(int[] groups, int stage, int other) {
            int one = first(groups, stage);
            int two = first(groups, other);
            groups[Math.max(one, two)] = Math.min(one, two);
        }

        /** Returns the task with its temporaries numbered from {@code first}. */
        public Compute withTemporariesFrom(int first) {
            return new Compute(operations,
                    stages.stream().map(stage -> stage.withTemporaries(number -> first + number)).toList(),
                    temporaries, place,
                    reads, writes);
        }

        private static Compute of(List<Access> operations, Place place, List<Stage> stages,
                List<TensorSpec> temporaries) {
            IntSet reads = new IntSet();
            IntSet writes = new IntSet();
            for (Stage stage : stages) {
                Computation computation = stage.computation();
                for (int i = 0; i < stage.inputs().size(); i++) {
                    Arg arg = stage.inputs().get(i);
                    int value = arg == null ? -1 : arg.value();
                    if (value >= 0) {
                        reads.add(value);
                        if (computation != null && computation.mutates(i)) {
                            writes.add(value);
                        }
                    }
                }
                for (Arg arg : stage.outputs()) {
                    int value = arg == null ? -1 : arg.value();
                    if (value >= 0) {
                        writes.add(value);
                    }
                }
            }
            return new Compute(List.copyOf(operations), List.copyOf(stages), List.copyOf(temporaries), place,
                    reads.toArray(), writes.toArray());
        }

        @Override
        public String name() {
            List<String> names = new ArrayList<>();
            int from = 0;
            for (int i = 1; i <= operations.size(); i++) {
                String type = operations.get(from).op().type();
                if (i == operations.size() || !operations.get(i).op().type().equals(type)) {
                    // Many fused operations of the same type are abbreviated.
                    names.addAll(i - from > MOST_NAMED
                            ? List.of(type + "×" + (i - from))
                            : Collections.nCopies(i - from, type));
                    from = i;
                }
            }
            return String.join("+", names);
        }
    }

    /**
     * Copies a value to another place.
     *
     * @param from
     *            the value
     * @param to
     *            its copy
     * @param source
     *            the place of the value
     * @param target
     *            the place of the copy
     */
    record Transfer(int from, int to, Place source, Place target) implements Task {
        @Override
        public int[] reads() {
            return new int[]{from};
        }

        @Override
        public int[] writes() {
            return new int[]{to};
        }

        @Override
        public Place place() {
            return target.isHost() ? source : target;
        }

        @Override
        public List<Access> operations() {
            return List.of();
        }

        @Override
        public String name() {
            return source.isHost() ? "memcpy_h2d" : target.isHost() ? "memcpy_d2h" : "memcpy_d2d";
        }
    }

    /**
     * An operation that the interpreter executes on the host, because it depends on elements, runs blocks or has
     * effects.
     *
     * @param access
     *            the operation
     * @param because
     *            the reason why it has no kernels, for messages
     * @param reads
     *            for each value that the operation reads, the value or copy that holds its content on the host
     * @param writes
     *            for each value that the operation writes, the value or copy that receives its content on the host
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Interpreted(Access access, String because, int[] reads, int[] writes) implements Task {
        @Override
        public Place place() {
            return Place.CPU;
        }

        @Override
        public List<Access> operations() {
            return List.of(access);
        }

        @Override
        public String name() {
            return access.op().type();
        }
    }
    /**
     * The operations that follow values whose types and shapes are known only at run time. When the run reaches them,
     * they run as plans of their own, which are compiled for these shapes.
     *
     * @param operations
     *            the operations in order, up to the end of the block
     * @param parts
     *            the same operations, divided into those that run as one plan each, one after the other
     * @param slots
     *            how many values the parts give
     * @param writes
     *            the values that they write and that are used later: first the results of the parts
     * @param results
     *            for each of these results, the slot
     * @param condition
     *            the value of which each plan of the operations knows the element; −1 if there is none. If there is
     *            one, there is one part
     * @param outcomes
     *            what this may be, in the order of plans; empty if there is no condition
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Rest(List<Access> operations, List<Part> parts, int slots, int[] reads, int[] writes, int[] results,
            int condition, List<Tensor> outcomes) implements Task {
        /**
         * Operations that run as one plan.
         *
         * @param block
         *            the numbering of these operations
         * @param constants
         *            the constants that they read
         * @param externals
         *            for each external value of {@code block}, the value of the enclosing plan; −1 for constants and
         *            for what an earlier part gives
         * @param earlier
         *            for each external value of {@code block}, the slot of what an earlier part gives; −1 for others
         * @param results
         *            for each result of {@code block}, its slot
         * @param fetched
         *            how many of these results, the first ones, are results of the whole block
         * @param last
         *            the slots of values that no later part uses and this one does not keep, results of the whole
         *            block apart
         */
        @SuppressWarnings("ArrayRecordComponent") // Never compared.
        public record Part(ValueNumbering block, Map<String, Tensor> constants, int[] externals, int[] earlier,
                int[] results, int fetched, int[] last) {
        }

        @Override
        public Place place() {
            return Place.CPU;
        }

        @Override
        public String name() {
            return "rest of the block";
        }
    }
}
