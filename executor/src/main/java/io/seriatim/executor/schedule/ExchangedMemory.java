package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Task;
import java.util.Arrays;
import java.util.List;

/**
 * The memory that collectives hold while other tasks could run. A gradient is summed over all ranks while backward
 * computes the next ones; a task of backward that got the memory of the gradient would have to wait for the end of the
 * sum.
 *
 * <p>
 * All ranks call collectives in one order, so that one number says which of them end before a task does: the position
 * of the last one. Memory is held if a user of it waits for a later collective than some task behind the last user does
 * that needs memory of its own. The memory of activations behind a collective of forward is not held: backward waits
 * for that collective in any case.
 */
final class ExchangedMemory {
    private static final int[] NONE = {};

    private final Lifetimes lifetimes;
    /** For each task, the position of the last collective that ends before it does; 0 if there is none. */
    private final int[] last;
    /** For each task, the least position among it and all tasks behind it that need memory. */
    private final int[] least;
    private final boolean[] isOperand;

    private ExchangedMemory(Lifetimes lifetimes, int[] last, int[] least, boolean[] isOperand) {
        this.lifetimes = lifetimes;
        this.last = last;
        this.least = least;
        this.isOperand = isOperand;
    }

    /**
     * Finds the collectives.
     *
     * @param tasks
     *            in program order
     * @param lifetimes
     *            of all memory
     * @param before
     *            for each task, the tasks that it waits for
     * @param planned
     *            for each memory, whether it is in an arena
     */
    static ExchangedMemory of(List<Task> tasks, Lifetimes lifetimes, int[][] before, boolean[] planned) {
        boolean[] communicates = new boolean[tasks.size()];
        int[] last = new int[communicates.length];
        int collectives = 0;
        for (int i = 0; i < last.length; i++) {
            for (int other : before[i]) {
                last[i] = Math.max(last[i], last[other]);
            }
            communicates[i] = Priorities.communicates(tasks.get(i));
            if (communicates[i]) {
                last[i] = ++collectives;
            }
        }
        if (collectives == 0) {
            return new ExchangedMemory(lifetimes, NONE, NONE, new boolean[0]);
        }
        boolean[] takes = new boolean[last.length];
        boolean[] isOperand = new boolean[planned.length];
        for (int i = 0; i < planned.length; i++) {
            if (planned[i]) {
                takes[lifetimes.first()[i]] = true;
                isOperand[i] = Arrays.stream(lifetimes.users()[i]).anyMatch(user -> communicates[user]);
            }
        }
        int[] least = new int[last.length + 1];
        least[last.length] = Integer.MAX_VALUE;
        for (int i = last.length - 1; i >= 0; i--) {
            takes[i] |= tasks.get(i) instanceof Task.Compute compute && !compute.temporaries().isEmpty();
            least[i] = takes[i] ? Math.min(least[i + 1], last[i]) : least[i + 1];
        }
        return new ExchangedMemory(lifetimes, last, least, isOperand);
    }

    /** Returns whether a task could run that would have to wait for a collective if it got some memory. */
    boolean isHeld(int memory) {
        return last.length > 0
                && Arrays.stream(lifetimes.users()[memory]).map(user -> last[user]).max()
                        .orElse(0) > least[lifetimes.last(memory) + 1];
    }

    /** Returns whether that is so for memory that only one task uses. */
    boolean isHeldBy(int task) {
        return last.length > 0 && last[task] > least[task + 1];
    }

    /** Returns whether a collective reads or writes some memory of an arena. */
    boolean isOperand(int memory) {
        return last.length > 0 && isOperand[memory];
    }
}
