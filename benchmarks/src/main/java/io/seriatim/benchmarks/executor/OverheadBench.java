package io.seriatim.benchmarks.executor;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Table;
import io.seriatim.executor.Executor;
import io.seriatim.executor.PlanProbe;
import io.seriatim.graph.Network;
import java.util.List;
import java.util.Locale;

/** Measures the overhead of a plan over the time of its kernels. */
final class OverheadBench {
    static final int OPERATIONS = 1000;

    private static final String GOALS = "Two threads work here even where the plan would leave it to one. Goals: "
            + "at most 100 ns of overhead with one thread, 200 with two. Known for the chain, in all: PyTorch "
            + "2,200 ns, "
            + "PaddlePaddle's StandaloneExecutor 5,700 ns.";

    private final Turns turns;
    private final Progress progress;

    OverheadBench(Turns turns, Progress progress) {
        this.turns = turns;
        this.progress = progress;
    }

    void run(Printer printer) {
        Table table = new Table(
                List.of("ns per operation", "kernels", "bare loop", "plan, 1 thread", "overhead", "plan, 2 threads",
                        "overhead",
                        "1 thread, fused", "2 threads, fused"));
        for (TinyProgram program : TinyProgram.values()) {
            progress.stage("overhead, " + program.label());
            table.row(row(program));
        }
        progress.done();
        printer.print(
                "Overhead: " + Printer.count(OPERATIONS) + " operations of " + TinyProgram.ELEMENTS + " floats, "
                        + turns.rounds()
                        + " rounds",
                table);
        printer.line(GOALS);
    }

    private List<String> row(TinyProgram program) {
        Network network = program.network(OPERATIONS);
        try (PlanRun one = plan(network, 1, false);
                PlanRun two = plan(network, 2, false);
                PlanRun fused = plan(network, 1, true);
                PlanRun bothFused = plan(network, 2, true);
                PlanProbe probe = one.probe()) {
            Timings timings = turns.run(List.of(probe.bareLoop(1), one, two, fused, bothFused));
            return List.of(program.label(), Printer.count(probe.kernels()), each(timings.median(0)),
                    each(timings.median(1)),
                    each(timings.difference(1, 0)),
                    each(timings.median(2)),
                    each(timings.difference(2, 0)), each(timings.median(3)), each(timings.median(4)));
        }
    }

    private static PlanRun plan(Network network, int threads, boolean fusion) {
        Executor.Builder builder = Executor.builder().threads(threads).fusion(fusion);
        return PlanRun.of(threads == 1 ? builder.build() : PlanProbe.eager(builder).build(), null, network.main(),
                List.of("x"),
                network.outputs().get("y").name(), TinyProgram.feed());
    }

    private static String each(double nanos) {
        return String.format(Locale.ROOT, "%.0f", nanos / OPERATIONS);
    }
}
