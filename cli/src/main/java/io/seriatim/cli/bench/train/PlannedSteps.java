package io.seriatim.cli.bench.train;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Results;
import io.seriatim.graph.DataParallel;
import io.seriatim.tensor.Tensor;
import java.util.Collections;
import java.util.List;

/**
 * A plan that is run step by step, with its startup program behind it.
 *
 * @param executor
 *            its own
 * @param plan
 *            of one step
 * @param out
 *            the variable of its result
 * @param data
 *            what it is fed, if it is always the same
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record PlannedSteps(Executor executor, Plan plan, String out, Tensor... data) implements AutoCloseable {
    /** One plan of the whole program. */
    static PlannedSteps of(TrainPrograms.Task task, int threads) {
        Executor executor = Executor.builder().threads(threads).build();
        executor.run(task.network().startup());
        Plan plan = executor.compile(task.network().main(), new Feeds(task.feeds()), Executor.fetches(task.out()));
        return new PlannedSteps(executor, plan, task.out(), task.data());
    }

    /** A part of the batch for each thread. */
    static PlannedSteps split(TrainPrograms.Task task, int threads) {
        DataParallel parallel = DataParallel.of(task.network().main(), task.network().startup(), task.feeds(), task.out(),
                List.of(task.out()), Collections.nCopies(threads, Place.CPU));
        Executor executor = Executor.builder().threads(threads).build();
        executor.run(parallel.startup());
        Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()), new Fetches(List.of(parallel.loss())));
        return new PlannedSteps(executor, plan, parallel.loss(), parallel.split(task.data()));
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
