package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Lifetimes;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.executor.trace.TracedPlan;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records a run, including nested runs of blocks. A nested run belongs to the task that the interpreter is currently
 * executing.
 */
public final class Recording {
    private final RunRecorder recorder;
    private @Nullable RunLog around;
    private int task;

    public Recording(RunRecorder recorder) {
        this.recorder = recorder;
    }

    /** Begins recording the run of a block. */
    public RunLog begin(TracedPlan plan) {
        RunLog outer = around;
        return outer == null ? recorder.begin(plan) : outer.nested(task, plan);
    }

    /** Runs a task that may run blocks, and returns its result. At most one thread may call this method at a time. */
    <T> T inside(@Nullable RunLog log, int index, Supplier<T> body) {
        RunLog before = around;
        int beforeTask = task;
        around = log;
        task = index;
        try {
            return body.get();
        } finally {
            around = before;
            task = beforeTask;
        }
    }

    /** Describes a compiled plan for recordings. */
    public static TracedPlan describe(CompiledPlan plan) {
        List<TracedPlan.Instruction> instructions = new ArrayList<>();
        for (int i = 0; i < plan.tasks().size(); i++) {
            Task each = plan.tasks().get(i);
            String name = each.writes().length == 0 ? "" : plan.values().name(each.writes()[0]);
            instructions
                    .add(new TracedPlan.Instruction(name, each.name(), provider(each), each.place().toString(),
                            plan.streams().stream()[i],
                            Arrays.stream(plan.before()[i]).boxed().toList()));
        }
        List<TracedPlan.Value> values = new ArrayList<>();
        Lifetimes lifetimes = Lifetimes.of(plan);
        long parameters = 0;
        for (int i = 0; i < plan.values().size(); i++) {
            TensorSpec spec = plan.values().spec(i);
            if (spec != null && plan.values().memory(i) == i) {
                if (lifetimes.first()[i] >= 0 && !plan.values().isPersistable(i)) {
                    values.add(new TracedPlan.Value(plan.values().name(i), spec.bytes(), lifetimes.first()[i],
                            Arrays.stream(lifetimes.users()[i]).boxed().toList(), plan.values().isWanted(i)));
                } else if (plan.values().isPersistable(i)) {
                    parameters += spec.bytes();
                }
            }
        }
        String program = "block " + plan.accesses().block().index() + ", " + plan.tasks().size() + " tasks";
        return new TracedPlan(program, instructions, values, plan.memory().arenaBytes(), parameters);
    }

    private static String provider(Task task) {
        return switch (task) {
            case Task.Transfer _ -> "copy";
            case Task.Interpreted _ -> "interpreter";
            case Task.Rest _ -> "plan";
            case Task.Compute compute -> {
                TreeSet<String> providers = new TreeSet<>();
                compute.stages()
                        .forEach(stage -> providers.add(stage.kernel() == null ? "java" : stage.kernel().provider()));
                yield String.join("+", providers);
            }
        };
    }
}
