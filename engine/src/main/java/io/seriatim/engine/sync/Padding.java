package io.seriatim.engine.sync;

/**
 * Padding against false sharing: it keeps a field that many threads write on a cache line of its own. The JVM lays out
 * the fields of a superclass before those of its subclasses.
 */
public final class Padding {
    private Padding() {
    }

    /** A cache line of padding before the field. */
    @SuppressWarnings("unused")
    public abstract static class Before {
        /** Fills the gap behind the object's header, into which the JVM would move a small field of a subclass. */
        private int p00;

        private long p0;
        private long p1;
        private long p2;
        private long p3;
        private long p4;
        private long p5;
        private long p6;
        private long p7;
    }

    /** The padded field. */
    public abstract static class Held extends Before {
        /** 1 while a thread holds the lock, otherwise 0. */
        protected volatile int held;
    }

    /** A cache line of padding after the field. */
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
