package io.seriatim.cluster;

/**
 * What a proxy does to one direction of one connection between two ranks.
 *
 * @param kind
 *            what happens
 * @param isControl
 *            whether it happens to the connection with heartbeats, or to that with data
 * @param from
 *            the rank that sends
 * @param to
 *            the rank that receives
 * @param frame
 *            the number of the frame to which it happens
 * @param position
 *            where in a frame, from 0 to 1
 */
record Fault(Kind kind, boolean isControl, int from, int to, int frame, double position) {
    /** What happens. */
    enum Kind {
        /** The connection is closed. */
        CLOSE,
        /** The connection is reset. */
        RESET,
        /** Bytes from here on are read and thrown away. */
        SWALLOW,
        /** Bytes from here on are not read. */
        BLOCK,
        /** A frame ends early: the next one follows at once. */
        TRUNCATE,
        /** A few bytes are missing. */
        LOSE,
        /** A frame comes twice. */
        DUPLICATE,
        /** A frame does not come. */
        OMIT,
        /** A bit is changed, behind the head. */
        FLIP,
        /** The head is that of another job. */
        OTHER_JOB,
        /** The head is that of another generation. */
        OTHER_GENERATION,
        /** The head is that of another rank. */
        OTHER_RANK,
        /** The head says another length. */
        LENGTH,
        /** The head says another number of the collective. */
        SEQUENCE,
        /** Random bytes come before a frame. */
        NOISE,
        /** Everything comes, but slowly and in small pieces. */
        SLOW
    }
}
