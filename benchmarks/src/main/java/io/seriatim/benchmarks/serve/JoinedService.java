package io.seriatim.benchmarks.serve;

import io.seriatim.benchmarks.train.ServedNetwork;
import io.seriatim.executor.RequestBatcher;
import io.seriatim.tensor.Tensor;

/**
 * One plan for all callers, of whose requests those that wait are joined.
 *
 * @param service
 *            whose plan it is
 * @param batcher
 *            of that plan
 */
record JoinedService(PlanService service, RequestBatcher batcher) implements ServePeer.Session {
    static JoinedService of(ServedNetwork served, int mostRows) {
        PlanService service = PlanService.open(served);
        RequestBatcher batcher = RequestBatcher.of(service.plan(), mostRows);
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
