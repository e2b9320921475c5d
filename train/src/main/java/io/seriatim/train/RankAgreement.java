package io.seriatim.train;

import io.seriatim.graph.parallel.Communicator;
import io.seriatim.tensor.DType;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the ranks of a training agree on between its steps: where it begins, when it is stopped, and the results of
 * evaluations, which rank 0 makes. All ranks call the same methods in the same order. Alone, nothing is exchanged.
 */
final class RankAgreement {
    private final @Nullable Communicator ranks;

    RankAgreement(@Nullable Communicator ranks) {
        this.ranks = ranks;
    }

    /** Returns whether this process evaluates the model and writes files. */
    boolean isFirst() {
        return ranks == null || ranks.rank() == 0;
    }

    int size() {
        return ranks == null ? 1 : ranks.size();
    }

    int rank() {
        return ranks == null ? 0 : ranks.rank();
    }

    /** Returns whether the value is true on any rank. */
    boolean any(boolean mine) {
        if (ranks == null) {
            return mine;
        }
        int[] count = {mine ? 1 : 0};
        ranks.allReduce(MemorySegment.ofArray(count), DType.INT32);
        return count[0] > 0;
    }

    /** Returns the smallest value of any rank. */
    long least(long mine) {
        if (ranks == null) {
            return mine;
        }
        long[] all = new long[ranks.size()];
        ranks.allGather(MemorySegment.ofArray(new long[]{mine}), MemorySegment.ofArray(all));
        return Arrays.stream(all).min().orElseThrow();
    }

    /** Returns the texts of all ranks, which have the same number of bytes, one behind the other. */
    String joined(String mine) {
        if (ranks == null) {
            return mine;
        }
        byte[] own = mine.getBytes(StandardCharsets.UTF_8);
        byte[] all = new byte[own.length * ranks.size()];
        ranks.allGather(MemorySegment.ofArray(own), MemorySegment.ofArray(all));
        return new String(all, StandardCharsets.UTF_8);
    }

    /** Returns the value of rank 0. */
    double first(double value) {
        return Double.longBitsToDouble(fromFirst(Double.doubleToRawLongBits(value))[0]);
    }

    private long[] fromFirst(long... values) {
        if (ranks != null) {
            ranks.broadcast(MemorySegment.ofArray(values), 0);
        }
        return values;
    }

    /** Returns where the training of rank 0 begins. */
    TrainingState first(TrainingState state) {
        long[] values = fromFirst(state.step(), state.epoch(), state.batchOfEpoch(), state.bestStep(),
                Double.doubleToRawLongBits(state.bestLoss()), state.since());
        return state.at(values[0], Math.toIntExact(values[1]), values[2], values[3],
                Double.longBitsToDouble(values[4]), Math.toIntExact(values[5]));
    }

    /**
     * Checks that all ranks have the same text as rank 0.
     *
     * @throws IllegalArgumentException
     *             on all ranks if one has another text
     */
    void requireSame(String training) {
        if (ranks == null) {
            return;
        }
        byte[] mine = training.getBytes(StandardCharsets.UTF_8);
        int length = Math.toIntExact(fromFirst(mine.length)[0]);
        byte[] others = isFirst() ? mine : new byte[length];
        ranks.broadcast(MemorySegment.ofArray(others), 0);
        String first = new String(others, StandardCharsets.UTF_8);
        boolean differs = !first.equals(training);
        if (any(differs) && !differs) {
            throw new IllegalArgumentException(
                    "A rank trains something else than rank 0: start all ranks with the same "
                            + "model, data and options; the error of that rank says what differs");
        }
        if (differs) {
            throw new IllegalArgumentException("Rank " + rank() + " trains something else than rank 0: start all ranks "
                    + "with the same model, data and options. Here: " + training + "; rank 0: " + first);
        }
    }
}
