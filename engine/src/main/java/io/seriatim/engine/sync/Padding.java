package io.seriatim.engine.sync;

/**
 * Keeps a word that many threads write away from its neighbours, whose readers would otherwise lose the cache line at
 * each write. Fields of a superclass are laid out before those of its subclass.
 */
public final class Padding {
    private Padding() {
    }

    /** A line's worth of nothing. */
    @SuppressWarnings("unused")
    public abstract static class Before {
        private long p0;
        private long p1;
        private long p2;
        private long p3;
        private long p4;
        private long p5;
        private long p6;
        private long p7;
    }

    /** The word. */
    public abstract static class Held extends Before {
        public volatile int held;
    }

    /** Another line's worth. */
    @SuppressWarnings("unused")
    abstract static class Around extends Held {
        private long q0;
        private long q1;
        private long q2;
        private long q3;
        private long q4;
        private long q5;
        private long q6;
        private long q7;
    }
}
