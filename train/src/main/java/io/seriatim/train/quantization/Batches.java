package io.seriatim.train.quantization;

import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;

/** The values of feeds in a batch. */
final class Batches {
    private Batches() {
    }

    /** The values in the order of the feeds. */
    static Tensor[] feeds(List<String> feeds, Map<String, Tensor> batch, int number) {
        return feeds.stream().map(name -> {
            Tensor value = batch.get(name);
            if (value == null) {
                throw new IllegalArgumentException("Batch " + number + " has no value for the feed '" + name
                        + "'; it has " + batch.keySet());
            }
            return value;
        }).toArray(Tensor[]::new);
    }
}
