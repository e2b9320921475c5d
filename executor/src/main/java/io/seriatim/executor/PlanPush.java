package io.seriatim.executor;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import io.seriatim.executor.run.OpenRuns;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Pushes a run of a plan as one operation of an engine.
 *
 * @param plan
 *            the plan
 * @param feeds
 *            the names of its feeds
 * @param fetches
 *            the names of its fetches
 */
record PlanPush(Plan plan, List<String> feeds, List<String> fetches) {
    private static final String NAME = "run of a plan";
    private static final String FEEDS = "feeds";

    void push(Engine engine, Scope scope, Map<String, NDArray> inputs, Map<String, NDArray> outputs) {
        List<NDArray> reads = new ArrayList<>();
        for (String feed : feeds) {
            NDArray array = inputs.get(feed);
            if (array == null) {
                throw new BadRequestException(
                        "Each feed of " + feeds + " needs an array, but none is given for '" + feed + "'");
            }
            reads.add(array);
        }
        requireKnown(FEEDS, feeds, inputs.keySet());
        requireKnown("fetches", fetches, outputs.keySet());
        List<String> wanted = List.copyOf(outputs.keySet());
        push(engine, scope, reads, wanted, wanted.stream().map(outputs::get).toList());
    }

    void push(Engine engine, Scope scope, List<NDArray> inputs, List<NDArray> outputs) {
        if (inputs.size() != feeds.size() || outputs.size() != fetches.size()) {
            throw new IllegalArgumentException(
                    "The plan has the feeds " + feeds + " and the fetches " + fetches + ", but is given "
                            + inputs.size()
                            + " and "
                            + outputs.size() + " arrays");
        }
        push(engine, scope, inputs, fetches, outputs);
    }

    private void push(Engine engine, Scope scope, List<NDArray> reads, List<String> wanted, List<NDArray> writes) {
        plan.requirements().require(reads.stream().map(array -> TensorSpec.of(array.dtype(), array.shape())).toList());
        requireOn(engine, feeds, reads);
        requireOn(engine, wanted, writes);
        OpenRuns runs = plan.executor().openRuns();
        // The push counts as an open run until the engine has the operation; from then on, the executor waits for that
        // operation.
        OpenRuns.Inside inside = runs.begin();
        try {
            Var turn = scope.var(engine);
            runs.pushed(engine, turn);
            push(engine, scope, turn, reads, wanted, writes);
        } finally {
            runs.end(inside);
        }
    }

    private void push(Engine engine, Scope scope, Var turn, List<NDArray> reads, List<String> wanted,
            List<NDArray> writes) {
        // Results are copied to the outputs after the run has ended, so an array may be both a feed and an output.
        NDArrays.on(engine).push(NAME, reads, writes, (in, out) -> {
            Results results = plan.runPushed(scope, in.toArray(Tensor[]::new));
            for (int i = 0; i < out.size(); i++) {
                requireFits(wanted.get(i), results.get(wanted.get(i)), out.get(i));
            }
            for (int i = 0; i < out.size(); i++) {
                copy(results.get(wanted.get(i)), out.get(i));
            }
        }, turn);
    }

    private static void requireKnown(String kind, List<String> known, Set<String> given) {
        Set<String> others = new HashSet<>(given);
        known.forEach(others::remove);
        if (!others.isEmpty()) {
            String message = "The " + kind + " of the plan are " + known + ", but an array is given for " + others
                    + ": compile the plan with these " + kind;
            throw kind.equals(FEEDS) ? new BadRequestException(message) : new IllegalArgumentException(message);
        }
    }

    private static void requireOn(Engine engine, List<String> names, List<NDArray> arrays) {
        for (int i = 0; i < names.size(); i++) {
            if (!arrays.get(i).engine().equals(engine)) {
                throw new IllegalArgumentException("The array for '" + names.get(i) + "', " + arrays.get(i)
                        + ", belongs to another engine than the one that the plan is pushed on: push on the "
                        + "array's engine");
            }
        }
    }

    private static void requireFits(String name, Tensor result, Tensor array) {
        if (result.dtype() != array.dtype() || !result.shape().equals(array.shape())) {
            throw new IllegalArgumentException(
                    "The result '" + name + "' is " + result.dtype() + " " + result.shape()
                            + ", but the array for it is "
                            + array.dtype() + " " + array.shape() + ": give an array of the result's type and shape");
        }
    }

    private static void copy(Tensor from, Tensor to) {
        PreparedKernels.system().get(Copy.PLAIN, to.place(), from.spec(), to.spec()).run(new Tensor[]{from, to},
                KernelContext.current());
    }
}
