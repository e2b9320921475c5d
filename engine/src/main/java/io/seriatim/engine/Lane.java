package io.seriatim.engine;

import java.util.Locale;
import java.util.Objects;

/**
 * A queue of a place, which operations are sent to. Equal instances denote the same lane.
 *
 * @param place
 *            the name of a device: {@code cpu}, {@code cpu:N}, {@code sim:N}, {@code cuda:N}, or any other word without
 *            blanks
 * @param queue
 *            which of the place's queues
 */
public record Lane(String place, Queue queue) {
    /** The compute lane of {@code cpu}, which is the default of an operation. */
    public static final Lane CPU = new Lane("cpu", Queue.COMPUTE);

    /** The queues of one place. */
    public enum Queue {
        /** Ordinary work. */
        COMPUTE,
        /** Copies to and from the place. */
        COPY,
        /**
         * Urgent work. On {@code cpu} and every {@code cpu:N} this is one shared lane; on other places it is the head
         * of the place's compute lane.
         */
        PRIORITY
    }

    /**
     * Validates the name of the place.
     *
     * @throws IllegalArgumentException
     *             if the place is empty or contains white space
     */
    public Lane {
        Objects.requireNonNull(place, "place");
        Objects.requireNonNull(queue, "queue");
        if (place.isEmpty() || place.chars().anyMatch(Character::isWhitespace)) {
            throw new IllegalArgumentException(
                    "A lane's place must be a word such as 'cpu', 'sim:0' or 'cuda:0', but is '" + place + "'");
        }
    }

    /**
     * Returns the compute lane of a place.
     *
     * @param place
     *            the name of a device
     * @return the lane for ordinary work
     */
    public static Lane of(String place) {
        return new Lane(place, Queue.COMPUTE);
    }

    /**
     * Formats the lane.
     *
     * @return for instance {@code cpu} or {@code cuda:0/copy}
     */
    @Override
    public String toString() {
        return queue == Queue.COMPUTE ? place : place + "/" + queue.name().toLowerCase(Locale.ROOT);
    }
}
