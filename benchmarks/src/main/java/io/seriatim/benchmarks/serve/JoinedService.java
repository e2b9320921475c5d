package io.seriatim.benchmarks.serve;

import io.seriatim.benchmarks.train.ServedNetwork;
import io.seriatim.executor.RequestBatcher;
import io.seriatim.tensor.Tensor;

/**
 * A plan for all callers, with a batcher that combines waiting requests.
 *
 * @param service
 *            the service with the plan
 * @param batcher
 *            the batcher of the plan
 */
record JoinedService(PlanService service, RequestBatcher batcher) implements ServePeer.Session {
    static JoinedService of(ServedNetwork served, int maxRows) {
        PlanService service = PlanService.open(served);
        RequestBatcher batcher = RequestBatcher.of(service.plan(), maxRows);
        return new JoinedService(service, batcher.prepare(Tensor.of(new float[service.size()], service.shape())));
    }

    @Override
    public float[] call(float... values) {
        return service.call(batcher::run, values);
    }

    @Override
    public void close() {
        service.close();
    }
}
