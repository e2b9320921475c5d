package io.seriatim.tensor.array;

import io.seriatim.tensor.Tensor;
import java.util.List;

/** The body of a user's operation on arrays; see {@link NDArrays#push}. */
@FunctionalInterface
public interface ArrayBody {
    /**
     * Runs the operation.
     *
     * @param reads
     *            the elements of the arrays that it reads, in the host's memory; not to be kept or changed
     * @param writes
     *            where the elements of the arrays that it writes go, in the host's memory; all of them are to be set
     * @throws Exception
     *             any exception: the operation has failed, and the arrays that it writes carry the exception
     */
    void run(List<Tensor> reads, List<Tensor> writes) throws Exception;
}
