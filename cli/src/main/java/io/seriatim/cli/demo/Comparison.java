package io.seriatim.cli.demo;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Recorder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs both programs in turn, so that a machine that is busy for a while slows both, and compares every result with the
 * first.
 */
final class Comparison {
    /** Each group of files waits in memory, so not too many of them. */
    private static final int MAX_PENDING = 1024;

    private final List<Group> groups;
    private final int threads;
    private final Result expected;
    private final List<Double> serial = new ArrayList<>();
    private final List<Double> parallel = new ArrayList<>();
    private boolean same = true;

    /** Runs the serial program a first time. */
    Comparison(List<Group> groups, int threads) throws IOException {
        this.groups = groups;
        this.threads = threads;
        expected = SerialProgram.run(groups);
    }

    /** Runs each program once without counting the time. */
    void warmUp() throws IOException, InterruptedException {
        runSerial();
        runParallel(null);
    }

    /** Runs each program once, unrecorded. */
    void measure() throws IOException, InterruptedException {
        serial.add(runSerial());
        parallel.add(runParallel(null));
    }

    /** Runs the parallel program once more; its time does not count, since recording takes some. */
    void record(Recorder recorder) throws InterruptedException {
        runParallel(recorder);
    }

    private double runSerial() throws IOException {
        long began = System.nanoTime();
        Result result = SerialProgram.run(groups);
        return check(result, System.nanoTime() - began);
    }

    /** The time includes starting the engine's threads and ending them. */
    private double runParallel(@Nullable Recorder recorder) throws InterruptedException {
        long began = System.nanoTime();
        Result result;
        try (Engine engine = Engine.builder().name("demo").pooled(threads).maxPending(MAX_PENDING).build()) {
            engine.record(recorder);
            result = EngineProgram.run(engine, groups);
        }
        return check(result, System.nanoTime() - began);
    }

    private double check(Result result, long nanos) {
        same &= result.isSameAs(expected);
        return nanos / 1e9;
    }

    Result result() {
        return expected;
    }

    /** Whether all runs so far had the same result. */
    boolean isSame() {
        return same;
    }

    List<Double> serialSeconds() {
        return List.copyOf(serial);
    }

    List<Double> parallelSeconds() {
        return List.copyOf(parallel);
    }
}
