package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.Tensor;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of sequences in the order in which a recurrence computes them: the first rows of all sequences, then the
 * second rows, and so on, with the longest sequences first. Backwards, the first row of a sequence is its last.
 */
final class SequenceBatch {
    /** For each row in the order of the recurrence, which row of the sequences it is. */
    final int[] rows;
    /** For each sequence in the order of the recurrence, which one it is. */
    final int[] sequences;
    /** For each step, the first of its rows in the order of the recurrence; at last the end. */
    final int[] steps;

    private SequenceBatch(int[] rows, int[] sequences, int[] steps) {
        this.rows = rows;
        this.sequences = sequences;
        this.steps = steps;
    }

    static SequenceBatch of(long[] offsets, boolean backwards) {
        int count = offsets.length - 1;
        int[] sequences = IntStream.range(0, count).boxed()
                .sorted(Comparator.comparingLong((Integer i) -> offsets[i] - offsets[i + 1]))
                .mapToInt(Integer::intValue).toArray();
        int longest = count == 0 ? 0 : (int) (offsets[sequences[0] + 1] - offsets[sequences[0]]);
        int[] rows = new int[(int) offsets[count]];
        int[] steps = new int[longest + 1];
        int at = 0;
        for (int t = 0; t < longest; t++) {
            for (int i = 0; i < count && offsets[sequences[i] + 1] - offsets[sequences[i]] > t; i++) {
                long row = backwards ? offsets[sequences[i] + 1] - 1 - t : offsets[sequences[i]] + t;
                rows[at++] = (int) row;
            }
            steps[t + 1] = at;
        }
        return new SequenceBatch(rows, sequences, steps);
    }

    int longest() {
        return steps.length - 1;
    }

    int size(int step) {
        return steps[step + 1] - steps[step];
    }

    /** Rows of the sequences in the order of the recurrence. */
    double[] ordered(double[] values, int width) {
        double[] ordered = new double[values.length];
        for (int i = 0; i < rows.length; i++) {
            System.arraycopy(values, rows[i] * width, ordered, i * width, width);
        }
        return ordered;
    }

    /** Rows in the order of the recurrence as rows of the sequences. */
    double[] restored(double[] values, int width) {
        double[] restored = new double[values.length];
        for (int i = 0; i < rows.length; i++) {
            System.arraycopy(values, i * width, restored, rows[i] * width, width);
        }
        return restored;
    }

    /** The first states of the sequences in the order of the recurrence; zeros unless given. */
    double[] firstStates(@Nullable Tensor given, int width) {
        return given == null
                ? new double[WorkingMemory.length(sequences.length, width)]
                : orderedStates(given.toDoubleArray(), width);
    }

    private double[] orderedStates(double[] states, int width) {
        double[] ordered = new double[states.length];
        for (int i = 0; i < sequences.length; i++) {
            System.arraycopy(states, sequences[i] * width, ordered, i * width, width);
        }
        return ordered;
    }

    /** First states in the order of the recurrence as those of the sequences. */
    double[] restoredStates(double[] states, int width) {
        double[] restored = new double[states.length];
        for (int i = 0; i < sequences.length; i++) {
            System.arraycopy(states, i * width, restored, sequences[i] * width, width);
        }
        return restored;
    }
}
