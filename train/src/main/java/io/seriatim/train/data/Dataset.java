package io.seriatim.train.data;

import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.List;

/** A collection of examples with random access. Thread-safe. */
public interface Dataset {
    /**
     * Returns the fields of an example.
     *
     * @return at least one field, always the same
     */
    List<Field> fields();

    /**
     * Returns the number of examples.
     *
     * @return at least 1
     */
    int size();

    /**
     * Reads a batch.
     *
     * @param examples
     *            at least one index from 0 to {@link #size} − 1
     * @return for each field a new tensor on the host, [number of examples, shape of the field]
     * @throws IOException
     *             if a file cannot be read or is invalid
     */
    List<Tensor> batch(int[] examples) throws IOException;
}
