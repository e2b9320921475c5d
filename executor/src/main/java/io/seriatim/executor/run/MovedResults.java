package io.seriatim.executor.run;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.op.Operations;
import java.util.Arrays;

/**
 * The interpreted copies at the end of a block that need not copy: the variable of a loop gets what the block has
 * computed, in memory of its own, and nothing else keeps. So what has grown in an iteration, such as a cache, is passed
 * on to the next one as it is. Results of that kind are also given to the caller of a program as they are.
 */
final class MovedResults {
    private final boolean[] isMove;
    private final boolean[] isMoved;
    private final boolean[] isGiven;
    private final boolean[] isReadOnce;

    /** Creates those that are given, by task, by memory and twice by value. */
    MovedResults(boolean[] isMove, boolean[] isMoved, boolean[] isGiven, boolean[] isReadOnce) {
        this.isReadOnce = isReadOnce;
        this.isMove = isMove;
        this.isMoved = isMoved;
        this.isGiven = isGiven;
    }

    /** Returns those of a plan. */
    static MovedResults of(CompiledPlan plan) {
        Rules rules = new Rules(plan);
        boolean[] isMove = new boolean[plan.tasks().size()];
        for (int i = 0; i < isMove.length; i++) {
            if (plan.tasks().get(i) instanceof Task.Interpreted task && rules.isFree(i, task)) {
                isMove[i] = true;
                rules.isMoved[task.reads()[0]] = true;
            }
        }
        boolean[] isGiven = new boolean[plan.values().size()];
        for (int result : plan.accesses().wanted()) {
            isGiven[result] = rules.isOwn(result)
                    && plan.tasks().stream().noneMatch(task -> Rules.keeps(task, result));
        }
        return new MovedResults(isMove, rules.isMoved, isGiven, rules.isReadOnce());
    }

    /**
     * Returns by memory whether anything but its value may have a reference to it: an operation that is not lowered
     * reads it, or the rest of the block gives it, which may give one tensor as several results.
     */
    static boolean[] kept(CompiledPlan plan) {
        ValueTable values = plan.values();
        boolean[] isKept = new boolean[values.size()];
        for (Task task : plan.tasks()) {
            for (int value : task.reads()) {
                isKept[values.memory(value)] |= Rules.keeps(task, value);
            }
            if (task instanceof Task.Rest) {
                Arrays.stream(task.writes()).forEach(value -> isKept[values.memory(value)] = true);
            }
        }
        return isKept;
    }

    /** Returns whether a task may give its result the memory of its operand, if that is new in this run. */
    boolean isMove(int task) {
        return isMove[task];
    }

    /** Returns whether a task gives the memory of a value to a result, so that it must not be closed. */
    boolean isMoved(int memory) {
        return isMoved[memory];
    }

    /** Returns whether nothing but the caller keeps a result that is given new memory. */
    boolean isGiven(int result) {
        return isGiven[result];
    }

    /** Returns whether one task writes a value and one reads it, and it has memory of its own and is no result. */
    boolean isReadOnce(int value) {
        return isReadOnce[value];
    }

    /** Finds those of a plan. */
    private static final class Rules {
        private final CompiledPlan plan;
        private final ValueTable values;
        private final boolean[] isMoved;
        /** By memory, how many values have it. */
        private final int[] sharing;

        Rules(CompiledPlan plan) {
            this.plan = plan;
            this.values = plan.values();
            this.isMoved = new boolean[values.size()];
            this.sharing = new int[values.size()];
            for (int i = 0; i < sharing.length; i++) {
                sharing[values.memory(i)]++;
            }
        }

        boolean[] isReadOnce() {
            int[] readers = new int[values.size()];
            int[] writers = new int[values.size()];
            plan.tasks().forEach(task -> {
                Arrays.stream(task.reads()).forEach(value -> readers[value]++);
                Arrays.stream(task.writes()).forEach(value -> writers[value]++);
            });
            boolean[] isReadOnce = new boolean[readers.length];
            for (int i = 0; i < readers.length; i++) {
                isReadOnce[i] = readers[i] == 1 && writers[i] == 1 && isOwn(i) && !values.isWanted(i);
            }
            return isReadOnce;
        }

        boolean isFree(int index, Task.Interpreted task) {
            Access access = task.access();
            if (!Operations.system().get(access.op().type()).isCopy() || task.reads().length != 1
                    || task.writes().length != 1) {
                return false;
            }
            int from = task.reads()[0];
            int to = task.writes()[0];
            if (!isOwn(from) || !isOwn(to) || values.isWanted(from) || !values.isWanted(to) || isMoved[from]) {
                return false;
            }
            for (int i = 0; i < plan.tasks().size(); i++) {
                Task other = plan.tasks().get(i);
                boolean usesResult = has(other.reads(), to) || (i != index && has(other.writes(), to));
                boolean isKept = keeps(other, from);
                boolean comes = has(other.writes(), from) && !(other instanceof Task.Interpreted);
                if (usesResult || isKept || comes) {
                    return false;
                }
            }
            return true;
        }

        /** Returns whether a task may keep a reference to what it reads. */
        static boolean keeps(Task task, int value) {
            return has(task.reads(), value) && (task instanceof Task.Rest || task.needsInterpreter());
        }

        private static boolean has(int[] all, int value) {
            return Arrays.stream(all).anyMatch(each -> each == value);
        }

        /** Returns whether a run gives a value memory that no other value has, and whose size is not known before. */
        boolean isOwn(int value) {
            return values.memory(value) == value && sharing[value] == 1 && values.result(value) == value
                    && values.spec(value) == null && !values.isDeclared(value) && !values.isPersistable(value)
                    && values.constant(value) == null && !values.isPart(value) && !values.hasParts(value)
                    && values.origin(value) == ValueNumbering.Origin.COMPUTED;
        }
    }
}
