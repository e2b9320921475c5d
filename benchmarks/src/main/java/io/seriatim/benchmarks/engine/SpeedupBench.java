package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import java.util.stream.IntStream;

/** Measures the speed-up of engines over the serial loop for operations of about a microsecond. */
final class SpeedupBench {
    private static final double BODY_NANOS = 1000;
    private static final int TRIAL_TURNS = 500;
    private static final int TRIAL_OPS = 4000;
    private static final int TRIALS = 20;

    private final BenchOptions options;
    private final Progress progress;

    SpeedupBench(BenchOptions options, Progress progress) {
        this.options = options;
        this.progress = progress;
    }

    /** Returns whether all results were right. */
    boolean run(Printer printer) throws InterruptedException {
        progress.stage("speed-up");
        int turns = turnsOfOneMicrosecond();
        try (Contenders contenders = new Contenders()) {
            SerialLoop serial = new SerialLoop();
            contenders.add(serial);
            contenders.addOurs(options);
            contenders.addFutures(options);
            Race race = new Race(contenders.pushedBy(1), progress);
            Standings standings = race.run(options.works(1, turns), options.warmUps(), options.reps());
            RaceReport report = new RaceReport(standings);
            String extent = Printer.count(options.ops()) + " operations of about 1 µs (" + turns + " turns), "
                    + options.reps() + " rounds";
            printer.print("Speed-up against the serial loop, by medians: " + extent, report.speedUps(serial));
            printer.print("Nanoseconds per operation in the same rounds", report.times());
            return !standings.anyWrong();
        }
    }

    /** Returns the minimum of several trials, because the first ones run before JIT compilation. */
    private static int turnsOfOneMicrosecond() {
        Work work = Work.of("independent", TRIAL_OPS, TRIAL_TURNS, 1);
        SerialLoop serial = new SerialLoop();
        double nanos = IntStream.range(0, TRIALS).mapToDouble(i -> serial.run(work).best()).min().orElseThrow();
        return (int) Math.max(1, Math.round(BODY_NANOS / nanos * TRIAL_TURNS));
    }
}
