package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Fuses tasks so that intermediate values are not written to memory. A bias, a residual or an activation becomes part
 * of the preceding matrix product or convolution, and a chain of elementwise operations becomes one kernel.
 *
 * <p>
 * A task is fused with the reader of its result if there is no other reader, and if none of its operands is overwritten
 * between the two tasks. It can then run at the position of the reader.
 */
final class Fusion {
    /** This pass, as {@link PassPipeline} runs it; each of its rules has a separate switch. */
    static final RewritePass PASS = new RewritePass("FUSION", _ -> true, Fusion::byRules);

    private final TaskGraph tasks;
    private final ValueTable values;
    private final List<Rule> rules;

    /** A rule by which two stages are fused. */
    interface Rule {
        /**
         * Returns one stage that replaces two, of which the second reads the only result of the first as an input; null
         * if that is impossible or does not pay off.
         */
        @Nullable
        Stage joined(Stage first, Stage second, int input);

        /**
         * Returns whether the second stage may come after others of its task, before which the first one does not run
         * then.
         */
        default boolean joinsLaterStages() {
            return false;
        }
    }

    private Fusion(TaskGraph tasks, List<Rule> rules) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.rules = rules;
    }

    private static void byRules(TaskGraph tasks, PassContext context) {
        List<Rule> rules = new ArrayList<>();
        if (context.isOn(PassName.EPILOGUES)) {
            KernelsAhead.ofProducts(tasks, context.options(), context.kernels());
            rules.add(new Epilogue(context.kernels(), context.mayLoseNaN()));
            rules.add(new WeightSums(context.kernels()));
        }
        if (context.isOnForHost(PassName.CASTS)) {
            rules.add(Casts.WIDE_PRODUCTS);
        }
        if (context.isOn(PassName.CHAINS)) {
            rules.add(new ElementwiseChains());
        }
        if (context.isOnForHost(PassName.FOLDING)) {
            Folding folding = new Folding(tasks);
            rules.add(folding);
            folding.addFactors();
            new Fusion(tasks, rules).join();
            folding.removeUnused();
        } else {
            new Fusion(tasks, rules).join();
        }
    }

    private void join() {
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task) {
                int reader = onlyReader(i, task);
                Task.Compute joined = reader < 0 ? null : join(task, tasks.compute(reader));
                if (joined != null) {
                    tasks.remove(i);
                    tasks.put(reader, joined);
                }
            }
        }
    }

    /** Returns the task with which a task may be fused, or {@link TaskSet#NONE}. */
    private int onlyReader(int index, Task.Compute task) {
        if (task.writes().length != 1 || !task.isPure()) {
            return TaskSet.NONE;
        }
        int value = task.writes()[0];
        if (!tasks.isTemporaryOf(value, index) || tasks.readers(value).size() != 1) {
            return TaskSet.NONE;
        }
        int reader = tasks.readers(value).first();
        boolean fits = tasks.get(reader) instanceof Task.Compute other && other.stages().size() <= Task.MOST_STAGES
                && other.isPure() && task.placeRequest().equals(other.placeRequest())
                && !isAnyWritten(task.reads(), index + 1, reader);
        return fits ? reader : TaskSet.NONE;
    }

    /** Returns whether a task in a range writes any of some values. */
    private boolean isAnyWritten(int[] read, int from, int to) {
        for (int value : read) {
            if (tasks.writers(value).isAnyIn(from, to)) {
                return true;
            }
        }
        return false;
    }

    private Task.@Nullable Compute join(Task.Compute first, Task.Compute second) {
        int value = first.writes()[0];
        Stage last = first.stages().getLast();
        Task.Compute behind = second.temporaries().isEmpty()
                ? second
                : second.withTemporariesFrom(first.temporaries().size());
        int at = firstReader(behind.stages(), 0, value);
        if (at < 0 || last.outputs().size() != 1 || !isWhole(last.outputs().getFirst(), value)
                || firstReader(behind.stages(), at + 1, value) >= 0
                || firstReader(first.stages(), 0, value) >= 0) {
            return null;
        }
        Stage next = behind.stages().get(at);
        int input = -1;
        for (int i = 0; i < next.inputs().size(); i++) {
            Arg arg = next.inputs().get(i);
            if (arg != null && arg.value() == value) {
                if (input >= 0 || !isWhole(arg, value)) {
                    return null;
                }
                input = i;
            }
        }
        if (input < 0) {
            return null;
        }
        for (Rule rule : rules) {
            Stage joined = at == 0 || rule.joinsLaterStages() ? rule.joined(last, next, input) : null;
            if (joined != null) {
                List<Stage> stages = new ArrayList<>(behind.stages().subList(0, at));
                stages.addAll(first.stages().subList(0, first.stages().size() - 1));
                stages.add(joined);
                stages.addAll(behind.stages().subList(at + 1, behind.stages().size()));
                List<Access> operations = new ArrayList<>(first.operations());
                operations.addAll(second.operations());
                List<TensorSpec> temporaries = new ArrayList<>(first.temporaries());
                temporaries.addAll(second.temporaries());
                // Such as the shape that a reshape keeps for a gradient in a loop.
                return second.with(operations, stages, temporaries)
                        .withoutUnwritten(each -> !tasks.isNeeded(each));
            }
        }
        return null;
    }

    private boolean isWhole(@Nullable Arg arg, int value) {
        return arg != null && arg.value() == value && arg.isWhole(values);
    }

    /** Returns the first stage from a given one on that reads a value, or −1. */
    private static int firstReader(List<Stage> stages, int from, int value) {
        for (int i = from; i < stages.size(); i++) {
            for (Arg arg : stages.get(i).inputs()) {
                if (arg != null && arg.value() == value) {
                    return i;
                }
            }
        }
        return -1;
    }
}
