package io.seriatim.benchmarks.cluster;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Trains a network on several places of this process, a thread for each. */
final class OneProcess implements AutoCloseable {
    private final Executor executor;
    private final Plan plan;
    private final Tensor[] data;
    private final String loss;

    /**
     * Compiles a step.
     *
     * @param batch
     *            the examples of a place
     */
    OneProcess(int places, TrainedNetwork network, int batch) {
        Model model = network.model();
        DataParallel parallel = DataParallel.of(model.main(), model.startup(), model.feeds(), model.loss(),
                List.of(model.loss()), Collections.nCopies(places, Place.CPU));
        executor = Executor.builder().threads(places).build();
        loss = parallel.loss();
        // Feeds of a place stand together.
        data = IntStream.range(0, places).boxed().flatMap(place -> Arrays.stream(network.data(model, batch, place)))
                .toArray(Tensor[]::new);
        executor.run(parallel.startup());
        model.schedules().forEach((name, schedule) -> executor.scope().set(name,
                Tensor.of(DType.FLOAT32, new double[]{schedule.rate(1)},
                        model.main().global().get(name).tensor().shape())));
        plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()), new Fetches(List.of(loss)));
    }

    /** Returns the least nanoseconds of some steps. */
    double steps(int count) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < count; i++) {
            long before = System.nanoTime();
            plan.run(data).get(loss).close();
            least = Math.min(least, System.nanoTime() - before);
        }
        return least;
    }

    @Override
    public void close() {
        executor.close();
    }
}
