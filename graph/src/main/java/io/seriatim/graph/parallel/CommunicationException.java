package io.seriatim.graph.parallel;

import org.jspecify.annotations.Nullable;

/** Ranks cannot train together any longer, or cannot begin to: a rank is dead, silent, or does something else. */
public class CommunicationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The rank of a failure that no single rank has caused. */
    public static final int NO_RANK = -1;

    /** The rank at fault, or {@link #NO_RANK}. */
    private final int rank;

    /**
     * Describes a failure.
     *
     * @param message
     *            which rule was broken, with the values and the rank
     * @param rank
     *            the rank at fault, or {@link #NO_RANK}
     * @param cause
     *            null if it was not thrown
     */
    public CommunicationException(String message, int rank, @Nullable Throwable cause) {
        super(message, cause);
        this.rank = rank;
    }

    /**
     * The rank at fault: the one that died, was silent, sent something unexpected, or was closed or interrupted. It may
     * be the caller's own.
     *
     * @return from 0, or {@link #NO_RANK} if it is unknown or all are
     */
    public int rank() {
        return rank;
    }
}
