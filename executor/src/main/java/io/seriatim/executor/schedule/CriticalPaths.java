package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;

/**
 * What tasks cost, in bytes that could be moved in the time that they take: a guess that needs no run.
 *
 * @param ways
 *            for each task the cost of the longest way from it to the end: how urgent it is
 * @param longest
 *            the cost of the longest way of all
 * @param sum
 *            the cost of all tasks
 * @param priorities
 *            of tasks, which count before their costs; none if all are equal
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record CriticalPaths(long[] ways, long longest, long sum, int[] priorities) {
    private static final int[] EQUAL = {};
    /** What a task costs whatever it does. */
    private static final long LEAST = 512;
    /** How many multiplications and additions take as long as moving a byte. */
    private static final long OPERATIONS_A_BYTE = 6;
    /** What an operation of the interpreter costs. */
    private static final long INTERPRETED = 50_000;
    /** What must be gained for threads to be thought of: some 10 µs. */
    private static final long LEAST_GAIN = 100_000;
    /** What is surely worth it, if it is a large part of all: some ms. */
    private static final long LARGE_GAIN = 10_000_000;

    /** What a guess is worth. */
    public enum Gain {
        /** One thread is best. */
        NONE,
        /** It depends on the machine. */
        UNCERTAIN,
        /** Threads gain, on any machine. */
        LARGE
    }

    public static CriticalPaths of(CompiledPlan plan) {
        return of(plan.tasks(), plan.after(), plan.values());
    }

    /** Of tasks that are known to wait for one another. */
    static CriticalPaths of(List<Task> tasks, int[][] after, ValueTable values) {
        long[] ways = new long[tasks.size()];
        long longest = 0;
        long sum = 0;
        for (int i = ways.length - 1; i >= 0; i--) {
            long way = 0;
            for (int successor : after[i]) {
                way = Math.max(way, ways[successor]);
            }
            long cost = cost(tasks.get(i), values);
            ways[i] = way + cost;
            longest = Math.max(longest, ways[i]);
            sum += cost;
        }
        int[] priorities = tasks.stream().mapToInt(Priorities::of).toArray();
        return new CriticalPaths(ways, longest, sum, Priorities.areEqual(priorities) ? EQUAL : priorities);
    }

    private static long cost(Task task, ValueTable values) {
        long cost = task instanceof Task.Interpreted ? INTERPRETED : LEAST;
        if (task instanceof Task.Compute compute) {
            for (Stage stage : compute.stages()) {
                cost += cost(stage);
            }
            return cost;
        }
        for (int value : task.reads()) {
            cost += bytes(values, value);
        }
        for (int value : task.writes()) {
            cost += bytes(values, value);
        }
        return cost;
    }

    /** What a kernel costs. */
    public static long cost(Stage stage) {
        long cost = arithmetic(stage) / OPERATIONS_A_BYTE;
        for (Arg arg : stage.args()) {
            cost += arg == null ? 0 : arg.spec().bytes();
        }
        return cost;
    }

    private static long bytes(ValueTable values, int value) {
        var spec = values.spec(value);
        return spec == null ? 0 : spec.bytes();
    }

    private static long arithmetic(Stage stage) {
        Computation computation = stage.computation();
        return switch (computation) {
            case MatMul matMul -> {
                Shape x = shape(stage.inputs().getFirst());
                long inner = x.rank() == 1 ? x.dim(0) : x.dim(matMul.transposeX() ? -2 : -1);
                yield 2 * inner * shape(stage.outputs().getFirst()).size();
            }
            case Convolution _ -> convolution(shape(stage.inputs().get(1)), shape(stage.outputs().getFirst()));
            case ConvolutionGradInput _ -> convolution(shape(stage.inputs().get(1)), shape(stage.inputs().getFirst()));
            case ConvolutionGradWeights _ ->
                convolution(shape(stage.outputs().getFirst()), shape(stage.inputs().get(1)));
            case null, default -> 0;
        };
    }

    private static Shape shape(@org.jspecify.annotations.Nullable Arg arg) {
        return arg == null ? Shape.of() : arg.spec().shape();
    }

    private static long convolution(Shape weights, Shape result) {
        return weights.rank() == 0 ? 0 : 2 * result.size() * weights.size() / Math.max(1, weights.dim(0));
    }

    /**
     * Whether a ready task begins before another: by priority, then by the longest way to the end, then by the order of
     * the program.
     */
    public boolean isBefore(int task, int other) {
        int order = priorities.length == 0 ? 0 : Integer.compare(priorities[task], priorities[other]);
        if (order == 0) {
            order = Long.compare(ways[other], ways[task]);
        }
        return order != 0 ? order < 0 : task < other;
    }

    /**
     * Whether a task has the lower scheduling_priority. A thread may go on with a successor whose input it has in its
     * cache, but not before such a task.
     */
    public boolean precedes(int task, int other) {
        return priorities.length > 0 && priorities[task] < priorities[other];
    }

    /** What several threads gain. */
    public Gain gain(int threads) {
        long gained = sum - Math.max(longest, sum / threads);
        if (gained < LEAST_GAIN) {
            return Gain.NONE;
        }
        return gained > LARGE_GAIN && gained > sum / 4 ? Gain.LARGE : Gain.UNCERTAIN;
    }
}
