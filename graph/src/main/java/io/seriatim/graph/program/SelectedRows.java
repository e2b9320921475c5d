package io.seriatim.graph.program;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;

/**
 * Some rows of a tensor whose other rows are zero: the gradient of an embedding. A row may occur several times, and
 * then counts as their sum.
 *
 * @param rows
 *            int64 [n]: which rows, in any order
 * @param values
 *            [n, ...]: what they hold
 * @param height
 *            how many rows the whole has
 */
public record SelectedRows(Tensor rows, Tensor values, long height) {
    private static final Kernels PORTABLE = Kernels.portable();

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException
     *             if they do not fit
     */
    public SelectedRows {
        if (rows.dtype() != DType.INT64 || rows.shape().rank() != 1 || values.shape().rank() < 1
                || values.shape().dim(0) != rows.shape().dim(0) || height < 0) {
            throw new IllegalArgumentException(
                    "Rows must be int64 [n] and their values [n, ...], but are " + rows.spec() + " and "
                            + values.spec() + ", of a height of " + height);
        }
    }

    /**
     * The shape of the whole.
     *
     * @return [height, ...]
     */
    public Shape shape() {
        return values.shape().with(0, height);
    }

    /**
     * All rows, those that are not held as zeros.
     *
     * @return a tensor of its own
     */
    public Tensor whole() {
        Tensor whole = Tensor.allocate(values.dtype(), shape().dims());
        List<Long> dims = Arrays.stream(shape().dims()).boxed().toList();
        GatherGrad scatter = new GatherGrad(Gather.of(0), dims);
        try (Kernel kernel = PORTABLE.prepare(scatter, Devices.system().host().place(), values.spec(),
                rows.spec(), whole.spec())) {
            kernel.run(new Tensor[]{values, rows, whole}, KernelContext.current());
        }
        return whole;
    }
}
