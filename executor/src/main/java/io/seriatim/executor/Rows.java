package io.seriatim.executor;

import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.executor.ir.Copies;
import io.seriatim.graph.program.VarType;
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

    /** Throws an exception if requests to the plan cannot be batched, as far as its program tells. */
    static void require(Plan plan) {
        if (plan.writesScope()) {
            throw new IllegalArgumentException(
                    "Requests cannot be batched, because the plan changes variables of the scope"
                            + (plan.stored().isEmpty() ? "" : ", as it is fed the persistable ones " + plan.stored())
                            + ": compile the program for inference, such as the result of Program.copyForTest, and "
                            + "without feeds that are persistable");
        }
        if (plan.feeds().names().isEmpty()) {
            throw new IllegalArgumentException(
                    "Requests cannot be batched, because the plan has no feeds: compile it with at least one");
        }
        plan.feeds().names().forEach(name -> requireRows(plan, "feed", name));
        plan.fetches().names().forEach(name -> requireRows(plan, "fetch", name));
    }

    private static void requireRows(Plan plan, String what, String name) {
        VarType type = plan.program().global().get(name).type();
        VarType.TensorType tensor = type.tensorType();
        if (tensor == null || tensor.shape().length == 0 || tensor.shape()[0] >= 0) {
            throw new IllegalArgumentException(
                    "Requests cannot be batched, because " + what + " '" + name
                            + "' has no rows: its first dimension must be unknown (-1), but it is "
                            + (tensor == null ? type : tensor) + ": export the model with an open number of rows, or "
                            + "serve it without batching");
        }
    }
}
