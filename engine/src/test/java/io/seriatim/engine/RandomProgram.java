package io.seriatim.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A random serial program over slots. Each slot holds a variable, which is replaced by a new one when it is deleted.
 */
final class RandomProgram {
    static final int SLOTS = 100;
    private static final Lane[] LANES = {Lane.CPU, Lane.CPU, Lane.of("sim:0"), Lane.of("cuda:1"),
            new Lane("cpu", Lane.Queue.COPY),
            new Lane("cpu", Lane.Queue.PRIORITY)};

    /** The kinds of steps. */
    enum What {
        OPERATION, DELETE, CLEAR, WAIT_TO_READ
    }

    /** The ways to push and complete an operation. */
    enum How {
        PUSH, ASYNC_AT_ONCE, ASYNC_ELSEWHERE, SUBMIT, CALL, PREPARED
    }

    /**
     * The frequencies of kinds of steps in parts per thousand, the number of reads of an operation, and the frequency
     * of clearing all failures.
     */
    record Mix(int minReads, int maxReads, int failing, int evenIfFailed, int deletes, int clears, int waits,
            int clearAllEvery) {
        /** The mix of the reference engine: many reads and no failures. */
        static final Mix SUMS = new Mix(2, 19, 0, 10, 0, 0, 1, 0);
        /** Many reads, with failures: many operations are skipped. */
        static final Mix WIDE = new Mix(2, 19, 15, 60, 20, 20, 5, 350);
        /** Few reads, so that failures propagate through long chains. */
        static final Mix NARROW = new Mix(0, 3, 40, 50, 30, 30, 10, 0);
    }

    /** One step. The sets of an operation are disjoint; the runner adds repeated and redundant declarations. */
    @SuppressWarnings("ArrayRecordComponent") // Neither compared nor changed.
    record Step(What what, int[] reads, int[] mutates, int[] overwrites, boolean evenIfFailed, boolean fails, How how,
            OpKind kind,
            Lane lane,
            int priority) {
    }

    final long seed;
    final List<Step> steps = new ArrayList<>();

    RandomProgram(long seed, int length, Mix mix) {
        this.seed = seed;
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < length; i++) {
            boolean clearing = mix.clearAllEvery > 0 && i % mix.clearAllEvery < SLOTS;
            steps.add(clearing ? onSlot(What.CLEAR, i % mix.clearAllEvery) : step(random, mix));
        }
    }

    static String name(int step) {
        return "op" + step;
    }

    private static Step onSlot(What what, int slot) {
        return new Step(what, new int[0], new int[]{slot}, new int[0], true, false, How.PUSH, OpKind.NORMAL, Lane.CPU,
                0);
    }

    private static Step step(SplittableRandom random, Mix mix) {
        int dice = random.nextInt(1000);
        if (dice < mix.deletes + mix.clears + mix.waits) {
            What what = dice < mix.deletes
                    ? What.DELETE
                    : dice < mix.deletes + mix.clears ? What.CLEAR : What.WAIT_TO_READ;
            return onSlot(what, random.nextInt(SLOTS));
        }
        int reads = random.nextInt(mix.minReads, mix.maxReads + 1);
        int writes = random.nextInt(1, 3);
        int[] slots = IntStream.generate(() -> random.nextInt(SLOTS)).distinct().limit(reads + writes).toArray();
        int[] written = Arrays.copyOfRange(slots, reads, slots.length);
        int mutated = random.nextInt(written.length + 1);
        OpKind[] kinds = {OpKind.NORMAL, OpKind.NORMAL, OpKind.NORMAL, OpKind.COPY_IN, OpKind.COPY_OUT,
                OpKind.PRIORITIZED, OpKind.ASYNC};
        return new Step(What.OPERATION, Arrays.copyOf(slots, reads), Arrays.copyOf(written, mutated),
                Arrays.copyOfRange(written, mutated, written.length), random.nextInt(1000) < mix.evenIfFailed,
                random.nextInt(1000) < mix.failing, How.values()[random.nextInt(How.values().length)],
                kinds[random.nextInt(kinds.length)],
                LANES[random.nextInt(LANES.length)], random.nextInt(-2, 3));
    }

    /**
     * Computes the effect of a step's body on the values. A failing body has the same effect before it throws.
     *
     * @param read
     *            the values that it reads
     * @param mutated
     *            the values that it mutates, changed in place
     * @param overwritten
     *            the new values that it assigns
     */
    static void compute(int at, long[] read, long[] mutated, long[] overwritten) {
        long sum = at;
        for (long value : read) {
            sum = sum * 31 + value;
        }
        for (long value : mutated) {
            sum = sum * 37 + value;
        }
        for (int i = 0; i < mutated.length; i++) {
            mutated[i] = mutated[i] * 41 + sum;
        }
        for (int i = 0; i < overwritten.length; i++) {
            overwritten[i] = sum ^ i;
        }
    }
}
