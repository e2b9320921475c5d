package io.seriatim.engine.sync;

/** Room on the stack. */
public final class Reserve {
    /** So that they take more than the engine needs between two states, when they are compiled and it is not yet. */
    private static final int FRAMES = 96;

    private Reserve() {
    }

    /**
     * Uses as much of the stack as a step of the engine does at most, and nothing else.
     *
     * @throws StackOverflowError
     *             if so much is not left; nothing has been changed then
     */
    public static void take() {
        take(FRAMES);
    }

    /** As {@link #take}, for a step within which another one takes its own; that one then finds its room. */
    public static void takeTwice() {
        take(2 * FRAMES);
    }

    private static void take(int frames) {
        if (descend(frames, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 0) {
            throw new IllegalStateException("a sum of positive numbers is 0");
        }
    }

    private static long descend(int frames, long a, long b, long c, long d, long e, long f, long g, long h, long i,
            long j) {
        // Not a tail call, and with more arguments than there are registers: each frame takes its room.
        return frames == 0 ? a + j : descend(frames - 1, j, a, b, c, d, e, f, g, h, i) + 1;
    }
}
