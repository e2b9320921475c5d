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
 * A plan that runs step by step, after its startup program has run.
 *
 * @param executor
 *            the executor
 * @param recorder
 *            the executor's recorder, which is paused
 * @param plan
 *            the plan of one step
 * @param out
 *            the variable of the result
 * @param data
 *            the feeds, if they are always the same
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record PlannedSteps(Executor executor, RunRecorder recorder, Plan plan, String out,
        Tensor... data) implements AutoCloseable {
    /** One plan of the whole program. */
    static PlannedSteps of(TrainPrograms.Task task, int threads, Setting setting) {
        return of(task.network().main(), task.network().startup(), task.feeds(), task.out(), setting.builder(threads),
                task.data());
    }

    /** A plan with a replica for each thread, which gets a part of the batch. */
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

    /** Runs the plan without reading the result. */
    void run() {
        plan.run(data).get(out).close();
    }

    /** An inference call with an array as input. */
    float[] call(float... values) {
        try (Tensor x = Tensor.of(values, data[0].shape().dims()); Tensor y = plan.run(x).get(out)) {
            return y.toFloatArray();
        }
    }

    /**
     * Records further runs and returns the split of the time of the fastest.
     *
     * @param threads
     *            the number of the executor's threads
     * @param repetitions
     *            the number of runs
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

    /** Returns the total size of the temporaries. */
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
