package io.seriatim.device;

import java.util.List;

/**
 * Work in order, on one device. Different streams are not ordered but by events. What is launched may run later, on
 * another thread.
 *
 * <p>
 * Failures: when something that was launched throws, the rest of the stream up to the next recorded event is skipped,
 * and that event carries the Throwable. The stream itself stays usable after that event. A stream that waits for a
 * failed event fails likewise.
 */
public interface Stream extends AutoCloseable {
    /** What is run on a device's memory. */
    @FunctionalInterface
    interface Body {
        /**
         * Does the work. The buffers that the launch declared can be touched here, and only here.
         *
         * @throws Exception
         *             what went wrong; the next event carries it
         */
        void run() throws Exception;
    }

    /**
     * Where its work runs.
     *
     * @return the device
     */
    Device device();

    /**
     * Its name.
     *
     * @return as given
     */
    String name();

    /**
     * Launches work. Returns before the work is done, except on the host.
     *
     * @param operation
     *            its name, for messages
     * @param accesses
     *            all bytes that it touches
     * @param body
     *            the work
     * @throws IllegalStateException
     *             if the stream or a buffer is closed
     * @throws DataRaceException
     *             if this is a device with a race detector and an access is not ordered with an earlier one
     */
    void launch(String operation, List<Access> accesses, Body body);

    /**
     * Copies bytes: between host and this device, within it, or from one device to another. Of two devices either one's
     * stream will do.
     *
     * @param operation
     *            its name, for messages
     * @param source
     *            the bytes to read
     * @param target
     *            the bytes to write, as many
     * @throws IllegalArgumentException
     *             if the lengths differ, or {@code source} is declared as written
     */
    void copy(String operation, Access source, Access target);

    /**
     * Marks this place in the stream.
     *
     * @return an event that is done when all work launched before it is
     */
    Event record();

    /**
     * Marks this place for someone who only needs to know when it has been passed, for instance to reuse memory.
     *
     * @return an event that is done when all work launched before it is; it carries no failure, but leaves it for the
     * next one that is {@linkplain #record recorded}
     */
    Event mark();

    /**
     * Work that is launched from now on begins after an event. The caller does not wait.
     *
     * @param event
     *            of any stream of any device
     */
    void waitFor(Event event);

    /**
     * Waits for all work launched so far.
     *
     * @throws InterruptedException
     *             if interrupted
     */
    default void synchronize() throws InterruptedException {
        record().synchronize();
    }

    /** Lets the launched work end, then releases the stream; does not wait. The default stream stays open. */
    @Override
    void close();
}
