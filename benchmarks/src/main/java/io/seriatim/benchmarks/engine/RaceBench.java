package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Printer;
import io.seriatim.benchmarks.common.Progress;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Compares all contenders, once for each number of pushing threads. */
final class RaceBench {
    private final BenchOptions options;
    private final Progress progress;
    private final Contenders contenders;

    RaceBench(BenchOptions options, Progress progress, Contenders contenders) {
        this.options = options;
        this.progress = progress;
        this.contenders = contenders;
        contenders.add(new SerialLoop());
        contenders.addOurs(options);
        contenders.addFutures(options);
    }

    void addCommands(Map<String, String> commands, int reps) {
        commands.forEach((name, line) -> contenders.add(new CommandPeer(name, line, reps)));
    }

    /** Adds the engines on the class path that are available. */
    void addServices() throws InterruptedException {
        try {
            for (EnginePeer peer : ServiceLoader.load(EnginePeer.class)) {
                addService(peer);
            }
        } catch (ServiceConfigurationError e) {
            progress.notice("another engine cannot be loaded: " + e.getMessage());
        }
    }

    private void addService(EnginePeer peer) throws InterruptedException {
        try {
            for (int workers : options.workers()) {
                contenders.add(ServicePeer.open(peer, workers, progress::notice));
            }
        } catch (PeerUnavailableException e) {
            progress.notice(peer.name() + " is not compared: " + e.getMessage());
        }
    }

    /** Returns whether all results were right. */
    boolean run(Printer printer) throws InterruptedException {
        boolean right = true;
        for (int pushers : options.pushers()) {
            String threads = pushers + (pushers == 1 ? " pushing thread" : " pushing threads");
            progress.stage(threads);
            Race race = new Race(contenders.pushedBy(pushers), progress);
            Standings standings = race.run(options.works(pushers, options.spin()), options.warmUps(), options.reps());
            RaceReport report = new RaceReport(standings);
            printer.print("Nanoseconds per operation, " + threads + ": " + options.extent(), report.times());
            printer.print("Our median divided by the other's, " + threads, report.ratios());
            right &= !standings.anyWrong();
        }
        return right;
    }
}
