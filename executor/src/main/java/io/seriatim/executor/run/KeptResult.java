package io.seriatim.executor.run;

import io.seriatim.device.Devices;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Failures;
import io.seriatim.executor.ir.KeptResults;
import io.seriatim.executor.pass.ParameterResults;
import io.seriatim.executor.pass.ParameterResults.Operand;
import io.seriatim.executor.pass.ParameterResults.Step;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** Values of a frame that are bound to results of variables, which are computed again when one of them has changed. */
final class KeptResult {
    private final ParameterResults.Kept kept;
    private final Tensor[] variables;
    private KeptResults.@Nullable Entry entry;
    /**
     * Memory for the results if no scope keeps them: if changes of a variable are not counted, each run computes them;
     * if they are of constants alone, the first one.
     */
    private @Nullable List<Tensor> own;
    private boolean ofConstants;
    /** The entry in use from each scope, since runs on several scopes may alternate. */
    private final Map<KeptResults, KeptResults.Entry> taken = new WeakHashMap<>();

    KeptResult(ParameterResults.Kept kept) {
        this.kept = kept;
        this.variables = new Tensor[kept.sources().size()];
    }

    /** Binds the values before a run, when the variables are bound. */
    void bind(Storage storage, Bindings bindings) {
        for (int i = 0; i < variables.length; i++) {
            if (!(storage.get(kept.sources().get(i)) instanceof Tensor tensor)) {
                throw new IllegalStateException("The variable '" + kept.recipe().variables().get(i)
                        + "' held a tensor when the plan was compiled, but holds none");
            }
            variables[i] = tensor;
        }
        KeptResults.Entry now = entry;
        if (now == null || !now.isOf(variables)) {
            now = entry(bindings);
            entry = now;
        }
        List<Tensor> results = now == null ? computed() : now.results();
        for (int i = 0; i < results.size(); i++) {
            storage.bind(kept.values().get(i), results.get(i));
        }
    }

    private KeptResults.@Nullable Entry entry(Bindings bindings) {
        KeptResults results = variables.length == 0 ? null : bindings.kept(kept.recipe().variables().getFirst());
        if (results == null) {
            return null;
        }
        KeptResults.Entry now = KeptResults.areCounted(variables)
                ? results.get(kept.recipe(), variables, () -> compute(allocated(kept.recipe().results())))
                : null;
        KeptResults.Entry before = now == null ? taken.remove(results) : taken.put(results, now);
        if (before != null) {
            results.release(kept.recipe(), before);
        }
        return now;
    }

    private List<Tensor> computed() {
        List<Tensor> into = own;
        if (into == null) {
            into = allocated(kept.recipe().results());
            own = into;
        }
        if (!ofConstants) {
            compute(into);
            ofConstants = variables.length == 0;
        }
        return into;
    }

    private static List<Tensor> allocated(List<TensorSpec> specs) {
        List<Tensor> all = new ArrayList<>(specs.size());
        for (TensorSpec spec : specs) {
            Tensor tensor = Tensor.allocate(Devices.system().host(), spec);
            tensor.buffer().label("results of parameters");
            all.add(tensor);
        }
        return all;
    }

    private List<Tensor> compute(List<Tensor> into) {
        List<Tensor> temporaries = allocated(kept.recipe().temporaries());
        try {
            List<Tensor> memories = new ArrayList<>(List.of(variables));
            memories.addAll(into);
            memories.addAll(temporaries);
            List<Step> steps = kept.recipe().steps();
            for (int i = 0; i < steps.size(); i++) {
                List<@Nullable Operand> operands = steps.get(i).operands();
                @Nullable
                Tensor[] arguments = new Tensor[operands.size()];
                for (int j = 0; j < arguments.length; j++) {
                    Operand operand = operands.get(j);
                    arguments[j] = operand == null ? null : view(operand, memories);
                }
                try {
                    kept.kernels().get(i).run(arguments, KernelContext.current());
                } catch (RuntimeException | OutOfMemoryError e) {
                    throw Failures.of(List.of(kept.accesses().get(i)), this::shape, e);
                }
            }
            return into;
        } finally {
            temporaries.forEach(Tensor::close);
        }
    }

    /** Returns the type and shape of a variable by its value. */
    private @Nullable String shape(int value) {
        int source = kept.sources().indexOf(value);
        return source < 0 ? null : Failures.shape(variables[source].spec());
    }

    private static Tensor view(Operand operand, List<Tensor> memories) {
        Tensor base = Objects.requireNonNullElseGet(operand.constant(), () -> memories.get(operand.memory()));
        return new Tensor(base.buffer().declared(), base.offset() + operand.offset(), operand.spec());
    }

    /** Releases all entries when the frame is closed. */
    void close() {
        taken.forEach((results, used) -> results.release(kept.recipe(), used));
        taken.clear();
        entry = null;
        if (own != null) {
            own.forEach(Tensor::close);
            own = null;
            ofConstants = false;
        }
    }
}
