package io.seriatim.cluster.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of a frame go.
 *
 * @param into
 *            native memory of as many bytes as the frame must have
 * @param combine
 *            null if the bytes are stored as they are
 * @param element
 *            the size of what is combined at a time, in bytes
 */
public record Receipt(MemorySegment into, @Nullable Combine combine, int element) {
    /** Combines received elements with others, and stores the result. */
    public interface Combine {
        /**
         * Combines some elements.
         *
         * @param received
         *            memory that begins with the received elements
         * @param into
         *            the destination of the whole frame
         * @param at
         *            where they belong in the frame, in bytes
         * @param bytes
         *            their size, a multiple of an element's
         */
        void accept(MemorySegment received, MemorySegment into, long at, long bytes);
    }

    /**
     * Stores the bytes.
     *
     * @param into
     *            native memory of the frame's size
     * @return where a frame goes
     */
    public static Receipt store(MemorySegment into) {
        return new Receipt(into, null, 1);
    }
}
