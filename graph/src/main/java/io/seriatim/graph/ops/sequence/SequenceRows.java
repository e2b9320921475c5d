package io.seriatim.graph.ops.sequence;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.LongToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Steps that move or add up whole rows, whose indexes follow from the offsets of a run. */
final class SequenceRows {
    /** The index of a row of zeros. */
    static final long NONE = -1;
    private static final Gather ROWS = new Gather(0, NONE);

    /** Computes an index for each row of a result. */
    @FunctionalInterface
    interface Rule {
        /**
         * Computes.
         *
         * @param offsets
         *            the row offsets of the sequences
         * @param indexes
         *            takes the result, filled with {@link #NONE}
         */
        void write(long[] offsets, long[] indexes);
    }

    private SequenceRows() {
    }

    /** The indexes that follow from the last level of an input's offsets. */
    static Operand indexes(Lowering l, String slot, long count, Rule rule) {
        long rows = l.in(slot).dim(0);
        return indexes(l, count, List.of(l.lod(slot)),
                (in, indexes) -> rule.write(SequenceOffsets.of(l.type(), slot, in.getFirst(), rows), indexes));
    }

    /** Computes indexes from tensors. */
    @FunctionalInterface
    interface Function {
        void write(List<@Nullable Tensor> in, long[] indexes);
    }

    /** The indexes that follow from the values of operands. */
    static Operand indexes(Lowering l, long count, List<Operand> from, Function function) {
        Operand result = l.temporary(TensorSpec.of(DType.INT64, count));
        l.call(l.type() + " rows", (in, out) -> {
            long[] indexes = new long[WorkingMemory.length(count)];
            Arrays.fill(indexes, NONE);
            function.write(in, indexes);
            Elements.write(indexes, Objects.requireNonNull(out.getFirst()));
        }, from, List.of(result));
        return result;
    }

    /** Rows at indexes; zeros for {@link #NONE}. */
    static Operand take(Lowering l, Operand x, Operand indexes) {
        return l.run(ROWS, x, indexes);
    }

    /** Rows added up at indexes of a result of some dimensions; those of {@link #NONE} are left out. */
    static Operand add(Lowering l, Operand rows, Operand indexes, long... dims) {
        return l.run(new GatherGrad(ROWS, Arrays.stream(dims).boxed().toList()), rows, indexes);
    }

    /** For each row the number of its sequence. */
    static void numbers(long[] offsets, long[] indexes) {
        for (int i = 0; i + 1 < offsets.length; i++) {
            Arrays.fill(indexes, (int) offsets[i], (int) offsets[i + 1], i);
        }
    }

    /** A factor for each sequence, to be multiplied with its row. */
    static Operand factors(Lowering l, String slot, DType dtype, long sequences, int rank,
            LongToDoubleFunction ofLength) {
        long[] dims = new long[rank];
        Arrays.fill(dims, 1);
        dims[0] = sequences;
        Operand result = l.temporary(TensorSpec.of(dtype, dims));
        long rows = l.in(slot).dim(0);
        l.call(l.type() + " factors", (in, out) -> {
            long[] offsets = SequenceOffsets.of(l.type(), slot, in.getFirst(), rows);
            double[] factors = new double[offsets.length - 1];
            for (int i = 0; i < factors.length; i++) {
                factors[i] = ofLength.applyAsDouble(offsets[i + 1] - offsets[i]);
            }
            Elements.write(factors, Objects.requireNonNull(out.getFirst()));
        }, List.of(l.lod(slot)), List.of(result));
        return result;
    }
}
