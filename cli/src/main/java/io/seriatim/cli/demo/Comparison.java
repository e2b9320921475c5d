package io.seriatim.cli.demo;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Recorder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs both programs alternately, so that other load on the machine slows both, and compares every result with the
 * first.
 */
final class Comparison {
    /** Groups of files that are being processed are in memory, so their number is limited. */
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

    /** Runs each program once as a warm-up. */
    void warmUp() throws IOException, InterruptedException {
        runSerial();
        runParallel(null);
    }

    /** Runs each program once, unrecorded. */
    void measure() throws IOException, InterruptedException {
        serial.add(runSerial());
        parallel.add(runParallel(null));
    }

    /**
     * Runs the parallel program once more with a recorder; its time is not counted, because recording adds overhead.
     */
    void record(Recorder recorder) throws InterruptedException {
        runParallel(recorder);
    }

    private double runSerial() throws IOException {
        long began = System.nanoTime();
        Result result = SerialProgram.run(groups);
        return check(result, System.nanoTime() - began);
    }

    /** The time includes starting and stopping the engine's threads. */
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
