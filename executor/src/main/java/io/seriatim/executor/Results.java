package io.seriatim.executor;

import io.seriatim.tensor.Tensor;
import java.util.Collections;
import java.util.Map;

/** What a run has computed: tensors of the host, which belong to the caller. */
public final class Results {
    private final Map<String, Tensor> tensors;

    /** The map is the results' from now on. */
    Results(Map<String, Tensor> tensors) {
        this.tensors = Collections.unmodifiableMap(tensors);
    }

    /**
     * All.
     *
     * @return by name, in the order of the fetches
     */
    public Map<String, Tensor> all() {
        return tensors;
    }

    /**
     * One.
     *
     * @param name
     *            a variable that was fetched
     * @return its value
     * @throws IllegalArgumentException
     *             if it was not fetched
     */
    public Tensor get(String name) {
        Tensor tensor = tensors.get(name);
        if (tensor == null) {
            throw new IllegalArgumentException("'" + name + "' was not fetched; fetched were " + tensors.keySet());
        }
        return tensor;
    }

    /**
     * One of one element.
     *
     * @param name
     *            a variable that was fetched
     * @return its element
     * @throws IllegalArgumentException
     *             if it was not fetched, or has more elements or none
     */
    public double scalar(String name) {
        Tensor tensor = get(name);
        if (tensor.shape().size() != 1) {
            throw new IllegalArgumentException(
                    "'" + name + "' has " + tensor.shape().size() + " elements, but a scalar has one");
        }
        return tensor.toDoubleArray()[0];
    }
}
