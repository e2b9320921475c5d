package io.seriatim.executor;

import io.seriatim.tensor.Tensor;
import java.util.Collections;
import java.util.Map;

/** The results of a run: tensors in host memory, which belong to the caller. */
public final class Results {
    private final Map<String, Tensor> tensors;

    /** Takes ownership of the map. */
    Results(Map<String, Tensor> tensors) {
        this.tensors = Collections.unmodifiableMap(tensors);
    }

    /**
     * Returns all results.
     *
     * @return the tensors by name, in the order of the fetches
     */
    public Map<String, Tensor> all() {
        return tensors;
    }

    /**
     * Returns a result.
     *
     * @param name
     *            the name of a fetched variable
     * @return its value
     * @throws IllegalArgumentException
     *             if the variable was not fetched
     */
    public Tensor get(String name) {
        Tensor tensor = tensors.get(name);
        if (tensor == null) {
            throw new IllegalArgumentException("'" + name + "' was not fetched; the fetches are " + tensors.keySet());
        }
        return tensor;
    }

    /**
     * Returns a result that has one element.
     *
     * @param name
     *            the name of a fetched variable
     * @return the element
     * @throws IllegalArgumentException
     *             if the variable was not fetched, or does not have exactly one element
     */
    public double scalar(String name) {
        Tensor tensor = get(name);
        if (tensor.shape().size() != 1) {
            throw new IllegalArgumentException(
                    "'" + name + "' has " + tensor.shape().size() + " elements, but a scalar has one: use get(name)");
        }
        return tensor.toDoubleArray()[0];
    }
}
