package io.seriatim.engine;

import java.util.Objects;

/**
 * Where operations queue: a place, and one of its queues. Equal lanes are the same lane.
 *
 * @param place
 *            the name of a device: {@code cpu}, {@code cpu:N}, {@code sim:N}, {@code cuda:N}, or any other word without
 *            blanks
 * @param queue
 *            the queue there
 */
public record Lane(String place, Queue queue) {
    /** The processor's compute lane, where operations run by default. */
    public static final Lane CPU = new Lane("cpu", Queue.COMPUTE);

    /** The queues of one place. */
    public enum Queue {
        /** Ordinary work. */
        COMPUTE,
        /** Copies to and from the place. */
        COPY,
        /**
         * Urgent work. On {@code cpu} a lane of its own, shared by all; elsewhere the head of the place's compute lane.
         */
        PRIORITY
    }

    /**
     * Checks the name.
     *
     * @throws IllegalArgumentException
     *             if the place is empty or holds a blank
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
     * The compute lane of a place.
     *
     * @param place
     *            the name of a device
     * @return its lane for ordinary work
     */
    public static Lane of(String place) {
        return new Lane(place, Queue.COMPUTE);
    }

    /**
     * A readable form.
     *
     * @return for instance {@code cpu}, {@code cuda:0/copy}
     */
    @Override
    public String toString() {
        return queue == Queue.COMPUTE ? place : place + "/" + queue.name().toLowerCase(java.util.Locale.ROOT);
    }
}
