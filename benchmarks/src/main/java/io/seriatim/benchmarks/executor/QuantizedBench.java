package io.seriatim.benchmarks.executor;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Table;
import io.seriatim.executor.Executor;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.quantization.PostTrainingQuantization;
import io.seriatim.train.quantization.QuantizedModel;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Measures networks in float32 and with int8 products. */
final class QuantizedBench {
    private static final String GOAL = "Goal: int8 at least 2 times as fast. Ratios are medians of the rounds' ratios.";

    private final Turns turns;
    private final Progress progress;
    private final Table table = new Table(List.of("ms per run", "int8 products", "float32, 1 thread", "int8, 1 thread",
            "float32 ÷ int8", "float32, 2 threads", "int8, 2 threads", "float32 ÷ int8"));

    QuantizedBench(Turns turns, Progress progress) {
        this.turns = turns;
        this.progress = progress;
    }

    void run(Printer printer, List<Model> models) {
        models.forEach(this::measure);
        progress.done();
        printer.print("Inference in float32 and with int8 products, " + turns.rounds()
                + (turns.rounds() == 1 ? " round" : " rounds"), table);
        printer.line(GOAL);
    }

    private void measure(Model model) {
        progress.stage(model.name());
        Model.Task task = model.inference();
        Tensor x = model.feeds(task)[0];
        try (Executor initial = Executor.builder().build()) {
            initial.run(task.startup());
            InferenceModel original = InferenceModels.of(task.program(), task.feeds(), List.of(task.fetch()),
                    initial.scope()::find);
            try (QuantizedModel quantized = PostTrainingQuantization.of(original).quantize(List.of(Map.of("x", x)));
                    PlanRun one = plan(original, 1, x);
                    PlanRun oneOfBytes = plan(quantized.model(), 1, x);
                    PlanRun two = plan(original, 2, x);
                    PlanRun twoOfBytes = plan(quantized.model(), 2, x)) {
                Timings timings = turns.run(List.of(one, oneOfBytes, two, twoOfBytes));
                table.row(List.of(model.name(), Printer.count(quantized.quantized()), millis(timings.median(0)),
                        millis(timings.median(1)), times(timings.ratio(0, 1)), millis(timings.median(2)),
                        millis(timings.median(3)), times(timings.ratio(2, 3))));
            }
        }
    }

    private static PlanRun plan(InferenceModel model, int threads, Tensor x) {
        Executor executor = Executor.builder().threads(threads).build();
        model.parameters().forEach(executor.scope()::set);
        return PlanRun.of(executor, null, model.program(), model.feeds(), model.fetches().getFirst(), x);
    }

    private static String millis(double nanos) {
        return String.format(Locale.ROOT, "%.2f", nanos / 1e6);
    }

    private static String times(double ratio) {
        return String.format(Locale.ROOT, "%.2f", ratio);
    }
}
