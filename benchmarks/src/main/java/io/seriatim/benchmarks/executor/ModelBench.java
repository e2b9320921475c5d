package io.seriatim.benchmarks.executor;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Table;
import io.seriatim.executor.Executor;
import io.seriatim.executor.PlanProbe;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Measures steps of networks against bare loops over the same kernels, their memory, and their allocations. */
final class ModelBench {
    private static final double MEGABYTE = 1 << 20;

    private static final String GOALS = "Goals: one thread at most 1.02 times the bare loop; two threads faster "
            + "than kernels that use two threads each; nothing allocated but the "
            + "results and a few hundred bytes a run. Ratios are medians of the rounds' ratios.";

    private final Turns turns;
    private final int calls;
    private final Progress progress;
    private final Table times = new Table(
            List.of("ms per run", "operations", "kernels", "bare loop", "plan, 1 thread", "÷ loop",
                    "loop, kernels with 2 threads", "plan, 2 threads", "÷ that loop"));
    private final Table memory = new Table(
            List.of("memory, MiB", "all temporaries", "largest live set", "arena, 1 thread", "÷ live", "2 threads",
                    "heap bytes a run, bare loop", "1 thread", "2 threads", "bytes left open a run"));

    ModelBench(Turns turns, int calls, Progress progress) {
        this.turns = turns;
        this.calls = calls;
        this.progress = progress;
    }

    void run(Printer printer, List<Model> models) {
        for (Model model : models) {
            measure(model, model.name() + ", training", model.training());
            measure(model, model.name() + ", inference", model.inference());
        }
        progress.done();
        printer.print("Networks: a step of training or inference, " + turns.rounds()
                + (turns.rounds() == 1 ? " round" : " rounds"), times);
        printer.print("Memory of temporaries, and what a run allocates in the steady state", memory);
        printer.line(GOALS);
    }

    private void measure(Model model, String name, Model.Task task) {
        progress.stage(name);
        Tensor[] feeds = model.feeds(task);
        try (PlanRun one = plan(task, 1, feeds);
                PlanRun two = plan(task, 2, feeds);
                PlanProbe probe = one.probe();
                PlanProbe twoProbe = two.probe()) {
            times(name, probe, turns.run(List.of(probe.bareLoop(1), one, probe.bareLoop(2), two)));
            memory(name, probe, twoProbe.arenaBytes(),
                    Stream.of(probe.bareLoop(1), one, two).map(call -> Allocations.of(call, calls)).toList());
        }
    }

    private void times(String name, PlanProbe probe, Timings timings) {
        times.row(List.of(name, Printer.count(probe.operations()), Printer.count(probe.kernels()),
                millis(timings.median(0)),
                millis(timings.median(1)), times(timings.ratio(1, 0)), millis(timings.median(2)),
                millis(timings.median(3)),
                times(timings.ratio(3, 2))));
    }

    private void memory(String name, PlanProbe probe, long arenaOfTwo, List<Allocations> allocations) {
        List<String> row = new ArrayList<>(List.of(name, megabytes(probe.temporaryBytes()),
                megabytes(probe.largestLiveSet()),
                megabytes(probe.arenaBytes()), times((double) probe.arenaBytes() / Math.max(1, probe.largestLiveSet())),
                megabytes(arenaOfTwo)));
        allocations.forEach(each -> row.add(Printer.count(Math.round(each.heap()))));
        row.add(Printer
                .count(Math.round(allocations.stream().skip(1).mapToDouble(Allocations::memory).max().orElseThrow())));
        memory.row(row);
    }

    private static PlanRun plan(Model.Task task, int threads, Tensor... feeds) {
        return PlanRun.of(Executor.builder().threads(threads).build(), task.startup(), task.program(), task.feeds(),
                task.fetch(), feeds);
    }

    private static String millis(double nanos) {
        return String.format(Locale.ROOT, "%.2f", nanos / 1e6);
    }

    private static String times(double ratio) {
        return String.format(Locale.ROOT, "%.3f", ratio);
    }

    private static String megabytes(long bytes) {
        return String.format(Locale.ROOT, "%.2f", bytes / MEGABYTE);
    }
}
