package io.seriatim.benchmarks.executor;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Table;
import io.seriatim.executor.Executor;
import io.seriatim.graph.Network;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Measures the time of a loop's iteration above that of the same operations without a loop. */
final class LoopBench {
    static final int ITERATIONS = 64;

    private static final String GOALS = "One thread. Unrolled: the same operations in a program without a loop, each "
            + "on its own. Goal: at most 3 µs an iteration above it, for a body of 10 operations. New sizes: each call "
            + "has another batch than the 40 before.";
    private static final int BATCHES = 40;
    private static final int LONG = 200;

    private final Turns turns;
    private final long warmUpNanos;
    private final Progress progress;

    /**
     * Creates the benchmark.
     *
     * @param warmUpNanos
     *            the time for which each program runs first, so that its plans and their Java code are compiled
     */
    LoopBench(Turns turns, long warmUpNanos, Progress progress) {
        this.turns = turns;
        this.warmUpNanos = warmUpNanos;
        this.progress = progress;
    }

    void run(Printer printer) {
        Table table = new Table(
                List.of("µs per iteration", "unrolled", "loop", "above", "loop, new sizes", "loop, 200 iterations"));
        for (LoopProgram program : LoopProgram.values()) {
            progress.stage("loop, " + program.label());
            table.row(row(program));
        }
        progress.done();
        printer.print("Loops: " + ITERATIONS + " iterations, " + turns.rounds() + " rounds", table);
        printer.line(GOALS);
    }

    private List<String> row(LoopProgram program) {
        List<Tensor> batches = new ArrayList<>();
        for (int i = 0; i < BATCHES; i++) {
            batches.add(LoopProgram.feed(i + 1));
        }
        try (PlanRun unrolled = plan(program.unrolled(ITERATIONS), LoopProgram.feed(2));
                PlanRun loop = plan(program.loop(ITERATIONS), LoopProgram.feed(2));
                PlanRun others = plan(program.loop(ITERATIONS), LoopProgram.feed(2));
                PlanRun longer = plan(program.loop(LONG), LoopProgram.feed(2))) {
            int[] calls = {0};
            List<Runnable> contenders = List.of(unrolled, loop,
                    () -> others.plan().run(batches.get(calls[0]++ % BATCHES)), longer);
            contenders.forEach(this::warmUp);
            Timings timings = turns.run(contenders);
            return List.of(program.label(), each(timings.median(0), ITERATIONS), each(timings.median(1), ITERATIONS),
                    each(timings.difference(1, 0), ITERATIONS), each(timings.median(2), ITERATIONS),
                    each(timings.median(3), LONG));
        }
    }

    private void warmUp(Runnable contender) {
        for (long start = System.nanoTime(); System.nanoTime() - start < warmUpNanos;) {
            contender.run();
        }
    }

    private static PlanRun plan(Network network, Tensor feed) {
        return PlanRun.of(Executor.builder().threads(1).build(), network.startup(), network.main(), List.of("x"),
                network.outputs().get("y").name(), feed);
    }

    private static String each(double nanos, int iterations) {
        return String.format(Locale.ROOT, "%.2f", nanos / iterations / 1000);
    }
}
