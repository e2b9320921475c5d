package io.seriatim.benchmarks.engine;

import java.util.List;

/** The serial program: runs the operations one after the other in the calling thread. */
final class SerialLoop implements Contender {
    @Override
    public String name() {
        return "serial loop";
    }

    @Override
    public int workers() {
        return 0;
    }

    @Override
    public Lap run(Work work) {
        List<WorkloadRun> runs = work.begin();
        long start = System.nanoTime();
        for (WorkloadRun run : runs) {
            run.serially();
        }
        return work.lap(System.nanoTime() - start, runs);
    }
}
