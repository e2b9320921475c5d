package io.seriatim.executor;

import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.executor.ir.Copies;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.List;

/** Tensors as rows: what all but the first of their dimensions span. */
final class Rows {
    private Rows() {
    }

    static long count(Tensor tensor) {
        return tensor.shape().dim(0);
    }

    /** The shape of a row. */
    static Shape shape(Tensor tensor) {
        return tensor.shape().slice(1, tensor.shape().rank());
    }

    /** A tensor of the host with the rows of some, which differ in the number of rows at most. */
    static Tensor joined(List<Tensor> tensors) {
        Tensor first = tensors.getFirst();
        Tensor whole = Tensor.allocate(host(),
                TensorSpec.of(first.dtype(), first.shape().with(0, tensors.stream().mapToLong(Rows::count).sum())));
        long at = 0;
        for (Tensor tensor : tensors) {
            Copies.onHost(Copies.toHost(tensor), whole.slice(0, at, at + count(tensor)));
            at += count(tensor);
        }
        return whole;
    }

    /** A copy of some rows of a tensor of the host. */
    static Tensor part(Tensor whole, long from, long count) {
        Tensor part = Tensor.allocate(host(), TensorSpec.of(whole.dtype(), whole.shape().with(0, count)));
        Copies.onHost(whole.slice(0, from, from + count), part);
        return part;
    }

    private static Device host() {
        return Devices.system().host();
    }
}
