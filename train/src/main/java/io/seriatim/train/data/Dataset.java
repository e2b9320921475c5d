package io.seriatim.train.data;

import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.List;

/** Examples that can be read in any order, each as often as is wanted. For many threads. */
public interface Dataset {
    /**
     * The fields of an example.
     *
     * @return at least one field, always the same
     */
    List<Field> fields();

    /**
     * How many examples there are.
     *
     * @return from 1
     */
    int size();

    /**
     * Reads a batch.
     *
     * @param examples
     *            numbers from 0 to {@link #size} − 1, at least one
     * @return for each field a new tensor of the host, [number of examples, shape of the field]
     * @throws IOException
     *             if a file cannot be read, or has other content than it should
     */
    List<Tensor> batch(int[] examples) throws IOException;
}
