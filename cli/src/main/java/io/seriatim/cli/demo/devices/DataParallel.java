package io.seriatim.cli.demo.devices;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.array.Generator;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import java.util.ArrayList;
import java.util.List;

/** Trains a two-layer network on several devices, written as a serial program. */
final class DataParallel {
    private static final int FEATURES = 256;
    private static final int HIDDEN = 512;
    private static final int CLASSES = 10;
    private static final double RATE = 0.1;

    private final NDArrays nd;
    private final int batch;
    private final List<NDArray> weights;
    private final List<Replica> replicas;
    private final Generator data;
    private final NDArray truth;

    DataParallel(NDArrays nd, List<Place> devices, int batch, long seed) {
        this.nd = nd;
        this.batch = batch;
        Generator initial = nd.generator(seed);
        weights = List.of(initial.normal(0, 1 / Math.sqrt(FEATURES), FEATURES, HIDDEN), nd.zeros(HIDDEN),
                initial.normal(0, 1 / Math.sqrt(HIDDEN), HIDDEN, CLASSES), nd.zeros(CLASSES));
        replicas = devices.stream().map(place -> new Replica(place, weights)).toList();
        data = nd.generator(seed + 1);
        truth = initial.normal(0, 1, FEATURES, CLASSES);
    }

    List<NDArray> weights() {
        return weights;
    }

    /**
     * Pushes one step on a new batch, whose classes are determined by a hidden linear map. Returns the loss, which is
     * computed later.
     */
    NDArray step() {
        NDArray x = data.normal(0, 1, batch, FEATURES);
        NDArray y = x.matmul(truth).argMax(1).oneHot(CLASSES, DType.FLOAT32);

        List<Replica.Share> shares = new ArrayList<>();
        int part = batch / replicas.size();
        for (int i = 0; i < replicas.size(); i++) {
            shares.add(
                    replicas.get(i).run(x.slice(0, (long) i * part, (i + 1L) * part),
                            y.slice(0, (long) i * part, (i + 1L) * part), batch));
        }

        // The gradients of the last layer are computed first.
        for (int w = weights.size() - 1; w >= 0; w--) {
            NDArray gradient = shares.getFirst().gradients().get(w);
            for (Replica.Share share : shares.subList(1, shares.size())) {
                gradient.addAssign(share.gradients().get(w));
            }
            weights.get(w).subtractAssign(gradient.multiply(RATE));
            for (Replica replica : replicas) {
                replica.weights().get(w).copyFrom(weights.get(w));
            }
        }

        NDArray loss = nd.zeros();
        shares.forEach(share -> loss.addAssign(share.loss()));
        return loss;
    }
}
