package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The outputs of an operation whose shapes depend on the values of its inputs: computed when their shapes are asked
 * for.
 */
public final class ComputedOutputs {
    private final List<Output> outputs = new ArrayList<>();
    private final List<Offsets> offsets = new ArrayList<>();

    private record Output(String slot, int index, Tensor value) {
    }

    private record Offsets(String slot, int index, Lod lod) {
    }

    /** Adds one. */
    public ComputedOutputs add(String slot, DType dtype, double[] values, long... dims) {
        return add(slot, 0, dtype, values, dims);
    }

    /** Adds one at a place of a slot. */
    public ComputedOutputs add(String slot, int index, DType dtype, double[] values, long... dims) {
        outputs.add(new Output(slot, index, Tensor.of(dtype, values, dims)));
        return this;
    }

    /** Adds one of whole numbers. */
    public ComputedOutputs addInts(String slot, int[] values, long... dims) {
        return addInts(slot, 0, values, dims);
    }

    /** Adds one of whole numbers at a place of a slot. */
    public ComputedOutputs addInts(String slot, int index, int[] values, long... dims) {
        double[] numbers = new double[values.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = values[i];
        }
        return add(slot, index, DType.INT32, numbers, dims);
    }

    /** Adds one, which offsets divide; {@link Lod#NONE} for none. */
    public ComputedOutputs add(String slot, DType dtype, double[] values, Lod lod, long... dims) {
        if (!lod.isEmpty()) {
            offsets.add(new Offsets(slot, 0, lod));
        }
        return add(slot, dtype, values, dims);
    }

    /** Divides one into the rows of images, of which each has a number. */
    public ComputedOutputs divide(String slot, int index, int... counts) {
        offsets.add(new Offsets(slot, index, Lod.ofLengths(Arrays.stream(counts).asLongStream().toArray())));
        return this;
    }

    void infer(Inference inference) {
        outputs.forEach(each -> inference.set(each.slot, each.index,
                ArgType.dense(each.value.dtype(), each.value.shape().dims())));
        offsets.forEach(each -> inference.set(LodSlot.of(each.slot), each.index,
                ArgType.dense(DType.INT64, each.lod.toTensor().shape().dims())));
    }

    void lower(Lowering l) {
        outputs.forEach(each -> {
            if (l.wants(each.slot, each.index)) {
                l.out(each.slot, each.index, l.constant(each.value));
            }
        });
        offsets.forEach(each -> l.outLod(each.slot, each.index, each.lod));
    }
}
