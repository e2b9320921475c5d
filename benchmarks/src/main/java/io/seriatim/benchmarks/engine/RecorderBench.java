package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import io.seriatim.cli.text.Table;
import io.seriatim.engine.Recorder;
import java.util.ArrayList;
import java.util.List;

/** Measures the cost of recording: the same engine without a recorder and with the aggregate recorder. */
final class RecorderBench {
    private final BenchOptions options;
    private final Progress progress;

    RecorderBench(BenchOptions options, Progress progress) {
        this.options = options;
        this.progress = progress;
    }

    /** Returns whether all results were right. */
    boolean run(Printer printer) throws InterruptedException {
        boolean right = true;
        for (int workers : options.workers()) {
            right &= run(printer, workers);
        }
        return right;
    }

    private boolean run(Printer printer, int workers) throws InterruptedException {
        progress.stage("recorder" + Workers.text(workers));
        EngineSetting setting = EngineSetting.PER_DEVICE;
        try (Contenders contenders = new Contenders()) {
            Contender off = new SeriatimEngine("recorder off", workers, setting.builder(workers).build());
            contenders.add(off);
            Contender on = new SeriatimEngine("aggregate table", workers,
                    setting.builder(workers).recorder(Recorder.aggregate()).build());
            contenders.add(on);
            Race race = new Race(contenders.pushedBy(1), progress);
            Standings standings = race.run(options.works(1, options.spin()), options.warmUps(), options.reps());
            Table times = new RaceReport(standings).times();
            times.row(difference(standings, off, on));
            printer.print("Recorder" + Workers.text(workers) + ", nanoseconds per operation: " + options.extent(),
                    times);
            return !standings.anyWrong();
        }
    }

    private static List<String> difference(Standings standings, Contender off, Contender on) {
        List<String> row = new ArrayList<>();
        row.add("aggregate − off, medians");
        for (Work work : standings.works()) {
            double without = standings.of(off, work).median();
            double with = standings.of(on, work).median();
            row.add(Printer.nanos(with - without) + " (×" + Printer.times(with / without) + ")");
        }
        row.add("");
        return row;
    }
}
