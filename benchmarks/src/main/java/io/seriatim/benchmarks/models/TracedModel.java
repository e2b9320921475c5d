package io.seriatim.benchmarks.models;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.executor.trace.RunTrace;
import io.seriatim.executor.trace.TracedPlan;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The operations of a plan for a model, from recordings of its runs. */
final class TracedModel {
    private static final int WARM_UPS = 200;
    private static final double WARM_SECONDS = 2;

    private TracedModel() {
    }

    /**
     * Returns the operations in the order of the plan, the time of each as the median of some runs.
     *
     * @param nodes
     *            the number of the node that computes a variable
     */
    static List<Operation> profile(InferenceModel model, List<Tensor> inputs, int threads, int runs,
            Map<String, Integer> nodes) {
        RunRecorder recorder = new RunRecorder().pause();
        Tensor[] feeds = inputs.toArray(Tensor[]::new);
        try (Executor executor = Executor.builder().threads(threads).recorder(recorder).build()) {
            model.parameters().forEach(executor.scope()::set);
            Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
            long start = System.nanoTime();
            for (int i = 0; i < WARM_UPS && System.nanoTime() - start < WARM_SECONDS * 1e9; i++) {
                run(plan, feeds);
            }
            recorder.resume();
            for (int i = 0; i < runs; i++) {
                run(plan, feeds);
            }
            recorder.pause();
            return operations(recorder.trace().runs(), nodes);
        }
    }

    private static void run(Plan plan, Tensor[] feeds) {
        plan.run(feeds).all().values().forEach(Tensor::close);
    }

    private static List<Operation> operations(List<RunTrace.Run> runs, Map<String, Integer> nodes) {
        TracedPlan plan = runs.getLast().plan();
        List<TracedPlan.Instruction> instructions = plan.instructions();
        List<List<Double>> micros = new ArrayList<>();
        instructions.forEach(_ -> micros.add(new ArrayList<>()));
        for (RunTrace.Run run : runs.stream().filter(run -> run.plan().equals(plan)).toList()) {
            for (RunTrace.Span span : run.spans()) {
                micros.get(span.instruction()).add(span.duration() / 1e3);
            }
        }
        List<Operation> operations = new ArrayList<>();
        for (int i = 0; i < instructions.size(); i++) {
            TracedPlan.Instruction each = instructions.get(i);
            if (!micros.get(i).isEmpty()) {
                operations.add(new Operation(nodes.getOrDefault(each.name(), -1),
                        each.type() + " (" + each.provider() + ")", ModelFigures.median(micros.get(i))));
            }
        }
        return operations;
    }
}
