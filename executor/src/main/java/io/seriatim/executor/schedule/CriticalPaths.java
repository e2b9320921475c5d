package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionAddWeights;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import io.seriatim.tensor.kernel.Computation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The estimated costs of tasks and of their longest paths to the end of the plan. The unit is the time in which memory
 * can transfer one byte. The estimate depends on shapes only.
 *
 * @param ways
 *            for each task, the cost of the longest path from it to the end
 * @param longest
 *            the cost of the critical path
 * @param sum
 *            the cost of all tasks
 * @param priorities
 *            the priority of each task, which is compared before the costs; empty if all are equal
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record CriticalPaths(long[] ways, long longest, long sum, int[] priorities) {
    private static final int[] EQUAL = {};
    /** The fixed cost of a task. */
    private static final long LEAST = 512;
    /** The number of arithmetic operations that take as long as transferring one byte. */
    private static final long OPERATIONS_A_BYTE = 6;
    /** The cost of an interpreted operation. */
    private static final long INTERPRETED = 50_000;
    /**
     * The cost of the messages of a collective without content, some tenths of a millisecond: collectives follow each
     * other, so that what they send should be computed early.
     */
    private static final long MESSAGES = 2_000_000;
    /** How many times longer than memory a network takes for a byte. */
    private static final long SLOWER = 16;
    /** The smallest saving for which parallel execution is considered: about 10 µs. */
    private static final long LEAST_GAIN = 100_000;
    /**
     * The saving above which parallel execution is faster on any machine, if it is also a large part of the sum: some
     * ms.
     */
    private static final long LARGE_GAIN = 10_000_000;

    private static final long FEW_SEQUENCES = 4;

    /** The expected gain from running tasks in parallel. */
    public enum Gain {
        /** One thread is faster. */
        NONE,
        /** Depends on the machine; to be measured. */
        UNCERTAIN,
        /** Several threads are faster on any machine. */
        LARGE
    }

    public static CriticalPaths of(CompiledPlan plan) {
        return of(plan.tasks(), plan.after(), plan.values());
    }

    /** Computes the costs of tasks with the given direct successors. */
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
        long cost = task.isUnplanned() ? INTERPRETED : LEAST;
        if (task instanceof Task.Compute compute) {
            for (Stage stage : compute.stages()) {
                cost += cost(stage);
            }
            return Priorities.communicates(task) ? MESSAGES + SLOWER * cost : cost;
        }
        for (int value : task.reads()) {
            cost += bytes(values, value);
        }
        for (int value : task.writes()) {
            cost += bytes(values, value);
        }
        return cost;
    }

    /** Returns the estimated cost of a stage. */
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
            case ConvolutionGradWeights _,ConvolutionAddWeights _ ->
                convolution(shape(stage.outputs().getFirst()), shape(stage.inputs().get(1)));
            case Recurrence _ -> recurrence(shape(stage.inputs().getFirst()), shape(stage.inputs().get(1)));
            case RecurrenceGrad grad ->
                recurrence(shape(stage.inputs().getFirst()), shape(stage.inputs().get(grad.weights())));
            case null, default -> 0;
        };
    }

    /** Each step reads all weights, for few sequences as long as for {@link #FEW_SEQUENCES}. */
    private static long recurrence(Shape steps, Shape weights) {
        return 2 * steps.dim(0) * Math.max(FEW_SEQUENCES, steps.dim(1)) * weights.size();
    }

    private static Shape shape(@Nullable Arg arg) {
        return arg == null ? Shape.of() : arg.spec().shape();
    }

    private static long convolution(Shape weights, Shape result) {
        return weights.rank() == 0 ? 0 : 2 * result.size() * weights.size() / Math.max(1, weights.dim(0));
    }

    /**
     * Returns whether a ready task should start before another: by priority, then by the longest path to the end, then
     * by program order.
     */
    public boolean isBefore(int task, int other) {
        int order = priorities.length == 0 ? 0 : Integer.compare(priorities[task], priorities[other]);
        if (order == 0) {
            order = Long.compare(ways[other], ways[task]);
        }
        return order != 0 ? order < 0 : task < other;
    }

    /**
     * Returns whether a task has a lower {@code scheduling_priority} than another. After a task, a thread prefers a
     * successor, whose input is in its cache, but not to a ready task that precedes it.
     */
    public boolean precedes(int task, int other) {
        return priorities.length > 0 && priorities[task] < priorities[other];
    }

    /** Estimates the gain of running tasks on several threads. */
    public Gain gain(int threads) {
        long gained = sum - Math.max(longest, sum / threads);
        if (gained < LEAST_GAIN) {
            return Gain.NONE;
        }
        return gained > LARGE_GAIN && gained > sum / 4 ? Gain.LARGE : Gain.UNCERTAIN;
    }
}
