package io.seriatim.benchmarks.engine;

import java.util.ArrayList;
import java.util.List;

/** The contenders of one benchmark; {@code close} closes all of them. */
final class Contenders implements AutoCloseable {
    private final List<Contender> all = new ArrayList<>();

    void add(Contender contender) {
        all.add(contender);
    }

    void addOurs(BenchOptions options) {
        for (EngineSetting setting : options.engines()) {
            for (int workers : setting.hasWorkers() ? options.workers() : List.of(1)) {
                add(SeriatimEngine.of(setting, workers));
            }
        }
    }

    void addFutures(BenchOptions options) {
        options.workers().forEach(workers -> add(new FutureChains(workers)));
    }

    /** Returns the contenders that support a number of pushing threads. */
    List<Contender> pushedBy(int pushers) {
        return all.stream().filter(c -> pushers == 1 || c.takesPushers()).toList();
    }

    @Override
    public void close() {
        all.forEach(Contender::close);
    }
}
