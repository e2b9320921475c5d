package io.seriatim.benchmarks.train;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Results;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.executor.trace.RunTrace;
import io.seriatim.executor.trace.TimeShares;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * A plan that is run step by step, with its startup program behind it.
 *
 * @param executor
 *            its own
 * @param recorder
 *            of the executor, which pauses
 * @param plan
 *            of one step
 * @param out
 *            the variable of its result
 * @param data
 *            what it is fed, if it is always the same
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record PlannedSteps(Executor executor, RunRecorder recorder, Plan plan, String out,
        Tensor... data) implements AutoCloseable {
    /** One plan of the whole program. */
    static PlannedSteps of(TrainPrograms.Task task, int threads, Setting setting) {
        return of(task.network().main(), task.network().startup(), task.feeds(), task.out(), setting.builder(threads),
                task.data());
    }

    /** A part of the batch for each thread. */
    static PlannedSteps split(TrainPrograms.Task task, int threads, Setting setting) {
        DataParallel parallel = DataParallel.of(task.network().main(), task.network().startup(), task.feeds(),
                task.out(),
                List.of(task.out()), Collections.nCopies(threads, Place.CPU));
        return of(parallel.main(), parallel.startup(), parallel.feedNames(), parallel.loss(), setting.builder(threads),
                parallel.split(task.data()));
    }

    private static PlannedSteps of(Program main, Program startup, List<String> feeds, String out,
            Executor.Builder builder,
            Tensor... data) {
        RunRecorder recorder = new RunRecorder().pause();
        Executor executor = builder.recorder(recorder).build();
        executor.run(startup);
        return new PlannedSteps(executor, recorder, executor.compile(main, new Feeds(feeds), new Fetches(List.of(out))),
                out, data);
    }

    /** A training step; returns the loss. */
    double step() {
        Results results = plan.run(data);
        double loss = results.scalar(out);
        results.get(out).close();
        return loss;
    }

    /** Runs it without looking at the result. */
    void run() {
        plan.run(data).get(out).close();
    }

    /** A call with numbers that are not yet in a tensor. */
    float[] call(float... values) {
        try (Tensor x = Tensor.of(values, data[0].shape().dims()); Tensor y = plan.run(x).get(out)) {
            return y.toFloatArray();
        }
    }

    /**
     * Where the time of one more run goes.
     *
     * @param threads
     *            that the executor has
     * @param repetitions
     *            of which the shortest counts
     */
    TimeShares shares(int threads, int repetitions) {
        recorder.resume();
        for (int i = 0; i < repetitions; i++) {
            run();
        }
        recorder.pause();
        RunTrace trace = recorder.trace();
        return trace.shares(Collections.min(trace.runs(), Comparator.comparingLong(RunTrace.Run::duration)), threads);
    }

    /** What its temporaries take together. */
    long arenaBytes() {
        try (PlanProbe probe = PlanProbe.of(plan, data)) {
            return probe.arenaBytes();
        }
    }

    @Override
    public void close() {
        executor.close();
    }
}
