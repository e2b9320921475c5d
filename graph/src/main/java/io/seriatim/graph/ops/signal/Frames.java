package io.seriatim.graph.ops.signal;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Signals as overlapping frames. A signal's samples are along its last axis; in its frames, the last two axes are the
 * frames and the samples of each.
 *
 * @param length
 *            the samples of a frame
 * @param hop
 *            the samples between the beginnings of neighbouring frames
 */
record Frames(long length, long hop) {
    /** Up to so many overlapping frames are added up in steps, frames that do not overlap at once. */
    private static final long MOST_STEPS = 64;

    /** How many frames a signal has. */
    long count(long samples) {
        return 1 + (samples - length) / hop;
    }

    /** The length of the signal that frames make. */
    long samples(long frames) {
        return (frames - 1) * hop + length;
    }

    /** All frames of a signal, a view in which samples are repeated, only to be read. */
    Operand of(Operand signal) {
        int axis = signal.rank() - 1;
        return view(signal, 0, count(signal.dim(axis)), hop);
    }

    /** Every frame that begins at a multiple of a number of samples. */
    private Operand view(Operand signal, long first, long count, long apart) {
        int axis = signal.rank() - 1;
        long[] dims = Arrays.copyOf(signal.shape().dims(), axis + 2);
        long[] strides = Arrays.copyOf(signal.spec().strides(), axis + 2);
        long sample = strides[axis];
        dims[axis] = count;
        dims[axis + 1] = length;
        strides[axis] = apart * sample;
        strides[axis + 1] = sample;
        return new Operand(signal.source(), signal.offset() + first * sample * signal.dtype().bytes(),
                new TensorSpec(signal.dtype(), Shape.of(dims), Layout.strided(strides)));
    }

    /** The sum of all frames at their places in a signal, to which frames may not reach the end. */
    Operand sum(Lowering l, Operand frames, long samples) {
        int rank = frames.rank();
        long[] dims = Arrays.copyOf(frames.shape().dims(), rank - 1);
        dims[rank - 2] = samples;
        long count = frames.dim(rank - 2);
        long steps = Math.min(count, (length + hop - 1) / hop);
        TensorSpec spec = TensorSpec.of(frames.dtype(), dims);
        if (steps > MOST_STEPS && frames.dtype().isDifferentiable()) {
            return gathered(l, frames, spec);
        }
        Operand signal = l.fill(0, spec);
        for (long step = 0; step < steps; step++) {
            // Frames that are so far apart do not overlap.
            long some = (count - step + steps - 1) / steps;
            Operand to = view(signal, step * hop, some, steps * hop);
            l.into(Binary.of(Binary.Function.ADD), List.of(to, frames.slice(rank - 2, step, steps, some)), List.of(to));
        }
        return signal;
    }

    /** The gradient of taking the frames' samples by their indexes. */
    private Operand gathered(Lowering l, Operand frames, TensorSpec signal) {
        int count = Math.toIntExact(frames.dim(-2));
        int width = Math.toIntExact(length);
        long[] indexes = new long[WorkingMemory.length(count, width)];
        for (int i = 0; i < indexes.length; i++) {
            indexes[i] = i / width * hop + i % width;
        }
        List<Long> shape = new ArrayList<>();
        for (long dim : signal.shape().dims()) {
            shape.add(dim);
        }
        Operand places = l.constant(Tensor.of(indexes, count, width));
        return l.run(new GatherGrad(Gather.of(signal.shape().rank() - 1), shape), l.copy(frames), places);
    }
}
