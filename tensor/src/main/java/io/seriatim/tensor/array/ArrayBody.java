package io.seriatim.tensor.array;

import io.seriatim.tensor.Tensor;
import java.util.List;

/** What an operation of your own does with arrays; see {@link NDArrays#push}. */
@FunctionalInterface
public interface ArrayBody {
    /**
     * Does it.
     *
     * @param reads
     *            the elements of the arrays that it reads, in the host's memory; not to be kept or changed
     * @param writes
     *            where the elements of the arrays that it writes go, in the host's memory; all of them are to be set
     * @throws Exception
     *             anything: the operation has failed, and the arrays that it writes carry what was thrown
     */
    void run(List<Tensor> reads, List<Tensor> writes) throws Exception;
}
