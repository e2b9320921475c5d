package io.seriatim.executor;

import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Convolution;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.MatMul;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Has the kernels of tasks made on several threads, before they are asked for one after the other: making one and its code takes up to some milliseconds. Nothing is decided here, and
 * a kernel that cannot be made is told of by whoever needs it.
 */
final class Preparation {
    private Preparation() {
    }

    /** All of them. */
    static void of(List<Task> tasks, Options options, PreparedKernels kernels) {
        ahead(tasks, options, kernels, _ -> true);
    }

    /** Those that {@link Epilogue} compares others with. */
    static void ofProducts(List<Task> tasks, Options options, PreparedKernels kernels) {
        ahead(tasks, options, kernels, computation -> computation instanceof MatMul || computation instanceof Convolution);
    }

    /** All kernels that runs of a specialisation may use. */
    static Set<Kernel> used(Specialisation plan) {
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

    /** Has those that will run make what they need for it. Others were only asked for to be compared with them, or take packed weights in place of those of a stage. */
    static void load(List<Task> tasks, List<Layouts.Packed> packed) {
        Set<Kernel> used = new LinkedHashSet<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute compute) {
                for (int j = 0; j < compute.stages().size(); j++) {
                    Kernel kernel = compute.stages().get(j).kernel();
                    int task = i;
                    int stage = j;
                    if (kernel != null && packed.stream().noneMatch(each -> each.task() == task && each.stage() == stage)) {
                        used.add(kernel);
                    }
                }
            }
        }
        packed.forEach(each -> Collections.addAll(used, each.kernel(), each.packing()));
        PreparedKernels.load(used);
    }

    private static void ahead(List<Task> tasks, Options options, PreparedKernels kernels, Predicate<Computation> which) {
        kernels.makeAhead(Task.stages(tasks).<PreparedKernels.Request>mapMulti((stage, requests) -> {
            Computation computation = stage.computation();
            if (computation != null && which.test(computation)) {
                requests.accept(new PreparedKernels.Request(computation, options.place(), Arrays.asList(stage.specs())));
            }
        }).toList());
    }
}
