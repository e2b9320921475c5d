package io.seriatim.cli.demo.devices;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.array.NDArray;
import java.util.List;

/** The network's weights on one device, and its forward and backward computation there. */
final class Replica {
    private final Place place;
    private final NDArray w1;
    private final NDArray b1;
    private final NDArray w2;
    private final NDArray b2;

    Replica(Place place, List<NDArray> weights) {
        this.place = place;
        w1 = weights.get(0).copyTo(place);
        b1 = weights.get(1).copyTo(place);
        w2 = weights.get(2).copyTo(place);
        b2 = weights.get(3).copyTo(place);
    }

    List<NDArray> weights() {
        return List.of(w1, b1, w2, b2);
    }

    /**
     * The result for a part of a batch.
     *
     * @param loss
     *            its share of the mean loss, on the host
     * @param gradients
     *            its share of the gradients, in the order of the weights, on the host
     */
    record Share(NDArray loss, List<NDArray> gradients) {
    }

    /** Copies a part of a batch to the device, and copies each layer's gradients back as soon as they are computed. */
    Share run(NDArray inputs, NDArray labels, int batch) {
        NDArray x = inputs.copyTo(place);
        NDArray y = labels.copyTo(place);

        NDArray hidden = x.matmul(w1).add(b1).relu();
        NDArray logits = hidden.matmul(w2).add(b2);
        NDArray loss = logits.logSoftmax(1).multiply(y).sum().divide(-batch);

        NDArray dLogits = logits.softmax(1).subtract(y).divide(batch);
        NDArray dW2 = hidden.matmul(dLogits, true, false).copyTo(Place.CPU);
        NDArray dB2 = dLogits.sum(0).copyTo(Place.CPU);
        NDArray active = hidden.greater(hidden.subtract(hidden)).cast(DType.FLOAT32);
        NDArray dHidden = dLogits.matmul(w2, false, true).multiply(active);
        NDArray dW1 = x.matmul(dHidden, true, false).copyTo(Place.CPU);
        NDArray dB1 = dHidden.sum(0).copyTo(Place.CPU);
        return new Share(loss.copyTo(Place.CPU), List.of(dW1, dB1, dW2, dB2));
    }
}
