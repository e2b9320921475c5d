package io.seriatim.executor.run;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.PackedWeights;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** An argument of a kernel that is bound to a variable, or to the packed copy of it. */
final class Packing {
    private final Layouts.Packed packed;
    private final Work work;
    private final Arg arg;
    private final PackedWeights.Form form;
    /** Those of the same stage, this one too. */
    private List<Packing> ofStage = List.of();
    private @Nullable Tensor variable;
    private PackedWeights.@Nullable Entry entry;
    /**
     * The entry in use from each scope, since runs on several scopes may alternate. The map is weak, so that it does
     * not keep a scope reachable.
     */
    private final Map<PackedWeights, PackedWeights.Entry> taken = new WeakHashMap<>();

    private Packing(Layouts.Packed packed, Work work, Arg arg) {
        this.packed = packed;
        this.work = work;
        this.arg = arg;
        this.form = new PackedWeights.Form(arg.offset(), packed.source(), packed.wanted());
    }

    /** Creates the bindings of all packed arguments of a plan in the works of a frame. */
    static Packing[] of(CompiledPlan plan, Work[][] works) {
        List<Packing> all = plan.layouts().stream().map(packed -> {
            Work work = works[packed.task()][packed.stage()];
            return new Packing(packed, work, Objects.requireNonNull(work.stage().inputs().get(packed.input())));
        }).toList();
        IdentityHashMap<Work, List<Packing>> stages = new IdentityHashMap<>();
        all.forEach(each -> stages.computeIfAbsent(each.work, _ -> new ArrayList<>()).add(each));
        all.forEach(each -> each.ofStage = Objects.requireNonNull(stages.get(each.work)));
        return all.toArray(Packing[]::new);
    }

    /** Returns the number of the argument's value. */
    int value() {
        return arg.value();
    }

    /** Binds the argument before a run. {@code tensor} is the variable's tensor, or null if it has none. */
    void bind(String name, @Nullable Tensor tensor, Bindings bindings) {
        boolean known = tensor != null && variable == tensor && entry != null && entry.isOf(tensor);
        if (known) {
            return;
        }
        PackedWeights weights = bindings.packed(name);
        PackedWeights.Entry now = tensor == null || weights == null
                ? null
                : weights.get(name, tensor, form, packed.packing());
        entry = now;
        variable = tensor;
        choose();
        if (weights != null) {
            PackedWeights.Entry before = now == null ? taken.remove(weights) : taken.put(weights, now);
            if (before != null) {
                weights.release(name, form, before);
            }
        }
    }

    /** The kernel of a stage reads all of these arguments packed, or none. */
    private void choose() {
        boolean all = ofStage.stream().allMatch(each -> each.entry != null);
        for (Packing each : ofStage) {
            if (all) {
                work.use(packed.kernel(), each.packed.input(), Objects.requireNonNull(each.entry).packed());
            } else {
                work.use(work.stage().kernel(), each.packed.input(),
                        each.variable == null ? null : Storage.view(each.variable.declared(), each.arg));
            }
        }
    }

    /** Releases all entries when the frame is closed. */
    void close(String name) {
        taken.forEach((weights, used) -> weights.release(name, form, used));
        taken.clear();
        entry = null;
        variable = null;
    }
}
