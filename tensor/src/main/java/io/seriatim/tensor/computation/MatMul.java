package io.seriatim.tensor.computation;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Inputs x [..., m, k], y [..., k, n], bias (broadcasts to the result; left out unless given), one more for each
 * {@link PostOp.Combine}; output [..., m, n]. Leading dimensions broadcast. A vector x counts as [1, k], a vector y as
 * [k, 1], and that dimension is left out of the result.
 *
 * @param transposeX
 *            whether the last two dimensions of x are exchanged; vectors stay as they are
 * @param transposeY
 *            whether those of y are
 * @param bias
 *            whether there is a bias
 * @param postOps
 *            the functions applied to each element of the result, in order
 */
public record MatMul(boolean transposeX, boolean transposeY, boolean bias,
        List<PostOp> postOps) implements Computation {
    /** Neither transposed nor biased, without post-ops. */
    public static final MatMul PLAIN = new MatMul(false, false, false, List.of());

    /**
     * Products of one row for each of a batch of so few elements of y in all may be computed by other kernels than
     * larger ones, so a part of a larger one has more.
     */
    public static final long FEW = 1 << 15;

    /** Copies the list. */
    public MatMul {
        postOps = List.copyOf(postOps);
    }

    @Override
    public String operation() {
        return "matmul";
    }

    /** The result. */
    @Override
    public boolean mixes(int argument) {
        return argument == inputs();
    }

    int inputs() {
        return 2 + (bias ? 1 : 0) + (int) postOps.stream().filter(PostOp.Combine.class::isInstance).count();
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        Operands in = Operands.of(operation(), inputs, inputs(), inputs());
        TensorSpec x = in.get(0, "x");
        TensorSpec y = in.get(1, "y");
        in.sameType(x, y, "x and y");
        in.require(x.shape().rank() >= 1 && y.shape().rank() >= 1, "x and y need at least one dimension");
        boolean vectorX = x.shape().rank() == 1;
        boolean vectorY = y.shape().rank() == 1;
        long m = vectorX ? 1 : x.shape().dim(transposeX ? -1 : -2);
        long kx = vectorX ? x.shape().dim(0) : x.shape().dim(transposeX ? -2 : -1);
        long ky = vectorY ? y.shape().dim(0) : y.shape().dim(transposeY ? -1 : -2);
        long n = vectorY ? 1 : y.shape().dim(transposeY ? -2 : -1);
        in.require(kx == ky, "the inner dimensions of x%s and y%s must be equal, but are %d and %d",
                transposeX ? " (transposed)" : "",
                transposeY ? " (transposed)" : "", kx, ky);
        Shape batchX = x.shape().slice(0, Math.max(0, x.shape().rank() - 2));
        Shape batchY = y.shape().slice(0, Math.max(0, y.shape().rank() - 2));
        Shape batch;
        try {
            batch = batchX.broadcast(batchY);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    operation() + ": the leading dimensions of " + x.shape() + " and " + y.shape()
                            + " do not broadcast",
                    e);
        }
        long[] dims = Arrays.copyOf(batch.dims(), batch.rank() + (vectorX ? 0 : 1) + (vectorY ? 0 : 1));
        int at = batch.rank();
        if (!vectorX) {
            dims[at++] = m;
        }
        if (!vectorY) {
            dims[at] = n;
        }
        Shape out = Shape.of(dims);
        for (int i = 2; i < inputs(); i++) {
            String name = i == 2 && bias ? "bias" : "of post-op number " + (i - (bias ? 3 : 2));
            in.addend(in.get(i, name), x.dtype(), out, "the input " + name);
        }
        return new TensorSpec[]{TensorSpec.of(x.dtype(), out)};
    }

    /** By batches, by rows of the result, or by its columns; sums are not divided. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec x = arguments[0];
        TensorSpec y = arguments[1];
        TensorSpec out = arguments[arguments.length - 1];
        if (x == null || y == null || out == null || x.shape().rank() < 2 || y.shape().rank() < 2) {
            return List.of();
        }
        int rank = out.shape().rank();
        boolean batched = rank > 2 && y.shape().rank() == rank && out.shape().dim(-2) == 1;
        List<Split> splits = new ArrayList<>();
        for (int axis = 0; axis < rank; axis++) {
            int[] axes = new int[arguments.length];
            for (int i = 2; i < axes.length; i++) {
                TensorSpec other = arguments[i];
                axes[i] = other == null ? Split.WHOLE : Split.broadcast(other.shape(), out.shape(), axis);
            }
            axes[0] = axis == rank - 1
                    ? Split.WHOLE
                    : axis == rank - 2 ? x.shape().rank() - (transposeX ? 1 : 2) : batch(x, rank, axis);
            axes[1] = axis == rank - 2
                    ? Split.WHOLE
                    : axis == rank - 1 ? y.shape().rank() - (transposeY ? 2 : 1) : batch(y, rank, axis);
            long size = y.shape().size();
            if (out.shape().dim(axis) > 1 && !(batched && axis == rank - 1 && size <= FEW)) {
                // A single row is multiplied in another order.
                boolean rows = axis >= rank - 2 || y.shape().rank() == 2;
                int least = batched ? Split.leastBeyond(FEW, size, out.shape().dim(axis)) : 1;
                splits.add(new Split(Arrays.stream(axes).boxed().toList(), Math.max(least, rows ? 2 : 1)));
            }
        }
        // With 16 bits it takes longer to bring operands into pairs of numbers than to multiply: the larger one is
        // divided.
        boolean paired = transposeX && rank == 2 && x.dtype().bytes() == 2 && out.shape().dim(1) > out.shape().dim(0);
        return paired ? splits.reversed() : splits;
    }

    /** The axis of an operand that is a batch dimension of the result. */
    private static int batch(TensorSpec operand, int rank, int axis) {
        int own = axis - (rank - operand.shape().rank());
        return own >= 0 && operand.shape().dim(own) > 1 ? own : Split.WHOLE;
    }
}
