package io.seriatim.executor.compile;

import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.executor.pass.ParameterResults;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Prepares the kernels of a plan before its first run. */
public final class Preparation {
    private Preparation() {
    }

    /** Returns all kernels that runs of a plan may use. */
    public static Set<Kernel> used(CompiledPlan plan) {
        Set<Kernel> used = new LinkedHashSet<>();
        Task.stages(plan.tasks()).forEach(stage -> {
            Kernel kernel = stage.kernel();
            if (kernel != null) {
                used.add(kernel);
            }
        });
        plan.layouts().forEach(each -> Collections.addAll(used, each.kernel(), each.packing()));
        plan.kept().forEach(each -> used.addAll(each.kernels()));
        return used;
    }

    /**
     * Loads the kernels that runs will execute. The compiler also requested other kernels, only to compare them, and a
     * kernel for packed weights replaces the kernel of its stage; these are not loaded.
     */
    static void load(List<Task> tasks, List<Layouts.Packed> packed, List<ParameterResults.Kept> kept) {
        Set<Stage> ofPacked = Collections.newSetFromMap(new IdentityHashMap<>());
        packed.forEach(each -> ofPacked.add(((Task.Compute) tasks.get(each.task())).stages().get(each.stage())));
        Set<Kernel> used = new LinkedHashSet<>();
        for (Task task : tasks) {
            if (task instanceof Task.Compute compute) {
                for (Stage stage : compute.stages()) {
                    Kernel kernel = stage.kernel();
                    if (kernel != null && !ofPacked.contains(stage)) {
                        used.add(kernel);
                    }
                }
            }
        }
        packed.forEach(each -> Collections.addAll(used, each.kernel(), each.packing()));
        kept.forEach(each -> used.addAll(each.kernels()));
        PreparedKernels.load(used);
    }
}
