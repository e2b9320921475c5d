package io.seriatim.executor;

import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.executor.ir.Copies;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.List;

/** Splits and joins tensors along the first dimension. A row is a slice of it. */
final class Rows {
    private Rows() {
    }

    static long count(Tensor tensor) {
        return tensor.shape().dim(0);
    }

    /** Returns the shape of a row. */
    static Shape shape(Tensor tensor) {
        return tensor.shape().slice(1, tensor.shape().rank());
    }

    /** Concatenates tensors of the same type and row shape in host memory. */
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

    /** Copies some rows of a tensor in host memory. */
    static Tensor part(Tensor whole, long from, long count) {
        Tensor part = Tensor.allocate(host(), TensorSpec.of(whole.dtype(), whole.shape().with(0, count)));
        Copies.onHost(whole.slice(0, from, from + count), part);
        return part;
    }

    private static Device host() {
        return Devices.system().host();
    }
}
