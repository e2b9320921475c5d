package io.seriatim.benchmarks.serve;

import io.seriatim.benchmarks.train.ServedNetwork;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.graph.Network;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * A plan for all callers, each of which runs it on its own thread.
 *
 * @param executor
 *            the executor, with one thread per run
 * @param network
 *            the inference network
 * @param plan
 *            the plan of one request
 * @param fed
 *            the name of the input
 * @param fetched
 *            the name of the result
 * @param shape
 *            the shape of a request
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record PlanService(Executor executor, Program network, Plan plan, String fed, String fetched,
        long... shape) implements ServePeer.Session {
    static PlanService of(ServedNetwork served) {
        return of(served, false);
    }

    /** Requests may have any number of examples. */
    static PlanService open(ServedNetwork served) {
        return of(served, true);
    }

    private static PlanService of(ServedNetwork served, boolean isOpen) {
        Network network = served.network(isOpen);
        String fetched = ServedNetwork.fetched(network);
        Executor executor = Executor.builder().threads(1).build();
        executor.run(network.startup());
        long[] shape = Objects.requireNonNull(network.main().global().get(served.fed()).type().tensorType()).shape();
        shape[0] = 1;
        Plan plan = executor.compile(network.main(), Executor.feeds(served.fed()), Executor.fetches(fetched));
        return new PlanService(executor, network.main(), plan, served.fed(), fetched, shape);
    }

    @Override
    public float[] call(float... values) {
        return call(plan::run, values);
    }

    /** A request that runs on the plan by other means. */
    float[] call(Function<Tensor, Results> run, float... values) {
        try (Tensor x = Tensor.of(values, shape); Tensor y = run.apply(x).get(fetched)) {
            return y.toFloatArray();
        }
    }

    /** Returns the number of elements of a request. */
    int size() {
        long size = 1;
        for (long dim : shape) {
            size = Math.multiplyExact(size, dim);
        }
        return Math.toIntExact(size);
    }

    Map<String, Tensor> parameters() {
        Map<String, Tensor> parameters = new LinkedHashMap<>();
        for (VarDesc variable : network.parameters()) {
            parameters.put(variable.name(), executor.scope().get(variable.name()));
        }
        return parameters;
    }

    @Override
    public void close() {
        executor.close();
    }
}
