package io.seriatim.engine.sync;

/** Checks that enough stack is left for a step of the engine. */
public final class StackReserve {
    /**
     * Enough frames to exceed the stack that a step of the engine needs, even if these frames are compiled and the
     * engine is still interpreted.
     */
    private static final int FRAMES = 96;

    private StackReserve() {
    }

    /**
     * Touches as much stack as a step of the engine needs at most, and has no other effect.
     *
     * @throws StackOverflowError
     *             if that much stack is not left; no state has been changed then
     */
    public static void check() {
        check(FRAMES);
    }

    /** As {@link #check}, for a step that contains another step, which calls {@link #check} itself. */
    public static void checkTwice() {
        check(2 * FRAMES);
    }

    private static void check(int frames) {
        if (descend(frames, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 0) {
            throw new IllegalStateException("a sum of positive numbers is 0");
        }
    }

    private static long descend(int frames, long a, long b, long c, long d, long e, long f, long g, long h, long i,
            long j) {
        // The call is not a tail call and has more arguments than there are registers, so that each frame occupies
        // stack.
        return frames == 0 ? a + j : descend(frames - 1, j, a, b, c, d, e, f, g, h, i) + 1;
    }
}
