package io.seriatim.executor.compile;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The kernels that the runs of a plan use, made ready before the first run. */
public final class Preparation {
    private Preparation() {
    }

    /** All kernels that runs of a specialisation may use. */
    public static Set<Kernel> used(CompiledPlan plan) {
        Set<Kernel> used = new LinkedHashSet<>();
        Task.stages(plan.tasks()).forEach(stage -> {
            Kernel kernel = stage.kernel();
            if (kernel != null) {
                used.add(kernel);
            }
        });
        plan.layouts().forEach(each -> Collections.addAll(used, each.kernel(), each.packing()));
        return used;
    }

    /**
     * Has those that will run make what they need for it. Others were only asked for to be compared with them, or take
     * packed weights in place of those of a stage.
     */
    static void load(List<Task> tasks, List<Layouts.Packed> packed) {
        Set<Kernel> used = new LinkedHashSet<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute compute) {
                for (int j = 0; j < compute.stages().size(); j++) {
                    Kernel kernel = compute.stages().get(j).kernel();
                    int task = i;
                    int stage = j;
                    if (kernel != null
                            && packed.stream().noneMatch(each -> each.task() == task && each.stage() == stage)) {
                        used.add(kernel);
                    }
                }
            }
        }
        packed.forEach(each -> Collections.addAll(used, each.kernel(), each.packing()));
        PreparedKernels.load(used);
    }
}
