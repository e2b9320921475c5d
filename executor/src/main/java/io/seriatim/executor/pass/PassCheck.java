package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PlaceRequest;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Verifies the task graph after each pass: no task reads a value before it is written, all results are written,
 * temporaries of a task are written before they are read, the operations of a task request the same place, and the
 * graph's use-def index is consistent with its tasks.
 * The verification takes time; tests enable it by the system property {@value #PROPERTY}.
 */
abstract sealed class PassCheck {
    /** Set to {@code true} before the class is loaded to check every plan. */
    static final String PROPERTY = "seriatim.checkPasses";
    private static final boolean ON = Boolean.getBoolean(PROPERTY);

    private PassCheck() {
    }

    static PassCheck of(TaskGraph lowered) {
        return ON ? new On(lowered) : new Off();
    }

    /**
     * @throws IllegalStateException
     *             if a pass has violated a rule; the message names the pass, the task and the values
     */
    abstract void after(RewritePass pass, TaskGraph graph);

    /** Checks nothing. */
    private static final class Off extends PassCheck {
        @Override
        void after(RewritePass pass, TaskGraph graph) {
            // Verification is disabled.
        }
    }

    /** Verifies everything. Tests create it regardless of the property. */
    static final class On extends PassCheck {
        private final ValueTable values;
        /** The values that the program reads before they are written; passes are not responsible for them. */
        private final Set<Integer> unwritten;
        private final Set<Integer> wanted;

        On(TaskGraph lowered) {
            values = lowered.values();
            unwritten = unwritten(lowered.tasks());
            wanted = wanted(lowered.tasks());
        }

        @Override
        void after(RewritePass pass, TaskGraph graph) {
            String wrong = graph.wrongUse();
            if (wrong != null) {
                throw new IllegalStateException("After pass " + pass.name() + " " + wrong
                        + ": a pass may change tasks only through the graph; disable it, and report the program");
            }
            List<Task> tasks = graph.tasks();
            Set<Integer> now = unwritten(tasks);
            now.removeAll(unwritten);
            require(now, pass, "are read before they are written");
            Set<Integer> lost = new TreeSet<>(wanted);
            lost.removeAll(wanted(tasks));
            require(lost, pass, "are results of the run but no longer written");
            for (Task task : tasks) {
                if (task instanceof Task.Compute compute) {
                    temporaries(pass, compute);
                    requests(pass, compute);
                }
            }
        }

        private void require(Set<Integer> broken, RewritePass pass, String how) {
            if (!broken.isEmpty()) {
                throw new IllegalStateException("After pass " + pass.name() + " the values "
                        + broken.stream().map(values::name).toList() + " " + how
                        + ": the pass has removed or moved a task in use; disable it, and report the program");
            }
        }

        /** Returns the values that kernels read before any task has computed them. */
        private Set<Integer> unwritten(List<Task> tasks) {
            Set<Integer> written = new HashSet<>();
            Set<Integer> missing = new TreeSet<>();
            for (Task task : tasks) {
                if (task instanceof Task.Compute) {
                    Arrays.stream(task.reads())
                            .filter(value -> values.origin(values.memory(value)) == ValueNumbering.Origin.COMPUTED
                                    && values.constant(value) == null && !written.contains(values.memory(value)))
                            .forEach(missing::add);
                }
                Arrays.stream(task.writes()).map(values::memory).forEach(written::add);
            }
            return missing;
        }

        private Set<Integer> wanted(List<Task> tasks) {
            Set<Integer> written = new TreeSet<>();
            tasks.forEach(task -> Arrays.stream(task.writes()).forEach(value -> {
                if (values.isWanted(value) || values.isPersistable(value)) {
                    written.add(value);
                }
            }));
            return written;
        }

        private static void requests(RewritePass pass, Task.Compute task) {
            List<PlaceRequest> requests = task.operations().stream().map(Access::placeRequest)
                    .distinct().toList();
            if (requests.size() > 1) {
                throw new IllegalStateException("After pass " + pass.name() + " task " + task.name()
                        + " consists of operations that request different places, " + requests
                        + ": disable the pass, and report the program");
            }
        }

        private static void temporaries(RewritePass pass, Task.Compute task) {
            Set<Integer> written = new HashSet<>();
            for (Stage stage : task.stages()) {
                for (Arg arg : stage.inputs()) {
                    if (arg != null && arg.source() instanceof Arg.Temporary(int number)
                            && (number >= task.temporaries().size()
                                    || !written.contains(number))) {
                        throw new IllegalStateException(
                                "After pass " + pass.name() + " task " + task.name() + " reads its temporary " + number
                                        + ", of " + task.temporaries().size()
                                        + ", before a stage writes it: disable the pass, and report the program");
                    }
                }
                for (Arg arg : stage.outputs()) {
                    if (arg != null && arg.source() instanceof Arg.Temporary(int number)) {
                        written.add(number);
                    }
                }
            }
        }
    }
}
