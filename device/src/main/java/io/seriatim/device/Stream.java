package io.seriatim.device;

import java.util.List;

/**
 * An in-order queue of work on one device. Only events order the work of different streams. Launched work may run
 * later, on another thread.
 *
 * <p>
 * The body of a launch <em>issues</em> work. The host and the simulated accelerator run it at its point of the stream,
 * and it computes. A device with a queue in hardware runs it in the call of {@link #launch}, and it only adds kernels
 * to that queue. A body that must run on the host, at its point of the stream, is launched by {@link #launchHost}.
 *
 * <p>
 * Failures: if launched work throws, the work up to the next recorded event is skipped, and that event carries the
 * exception. The stream stays usable after that event. If a stream waits for a failed event, its own work up to its
 * next recorded event is skipped in the same way.
 */
public interface Stream extends AutoCloseable {
    /** Work on a device's memory. */
    @FunctionalInterface
    interface Body {
        /**
         * Issues the work. The declared buffers can be accessed here, and only here.
         *
         * @throws Exception
         *             any exception fails the work, and the next event carries it
         */
        void run() throws Exception;
    }

    /**
     * Returns the device that runs the work.
     *
     * @return the device
     */
    Device device();

    /**
     * Returns the name of the stream.
     *
     * @return the name given at its creation
     */
    String name();

    /**
     * Launches work. Returns before the work is done, except on the host, where the work runs in this call.
     *
     * @param operation
     *            the name of the work in messages
     * @param accesses
     *            all bytes that the work accesses
     * @param body
     *            the work
     * @throws IllegalStateException
     *             if the stream or a buffer is closed
     * @throws DataRaceException
     *             if the device has a race detector and an access is not ordered after an earlier conflicting one
     */
    void launch(String operation, List<Access> accesses, Body body);

    /**
     * Launches work that runs on the host after all work that was launched on this stream before it, and before all
     * work that is launched later. Failures are treated as those of {@link #launch}. On the host, the work runs in this
     * call.
     *
     * @param operation
     *            the name of the work in messages
     * @param accesses
     *            all bytes that the work accesses, in memory of the host
     * @param body
     *            the work; it must not wait for work that is launched later on this stream
     * @throws IllegalArgumentException
     *             if an access is to memory of another device
     * @throws IllegalStateException
     *             if the stream or a buffer is closed
     * @throws DataRaceException
     *             if the device has a race detector and an access is not ordered after an earlier conflicting one
     */
    void launchHost(String operation, List<Access> accesses, Body body);

    /**
     * Copies bytes between the host and this device, within this device, or between this device and another one.
     *
     * @param operation
     *            the name of the work in messages
     * @param source
     *            the bytes to read
     * @param target
     *            the bytes to write, of the same length
     * @throws IllegalArgumentException
     *             if the lengths differ, {@code source} is declared as written, or {@code target} as read
     */
    void copy(String operation, Access source, Access target);

    /**
     * Records an event.
     *
     * @return an event that is done when all work launched before it is done
     */
    Event record();

    /**
     * Records an event that carries no failure, for a caller that only needs to know when the work is done, for
     * instance to reuse memory.
     *
     * @return an event that is done when all work launched before it is done; the next {@linkplain #record recorded}
     * event carries a failure of that work
     */
    Event mark();

    /**
     * Orders all work that is launched from now on after an event. The caller does not wait.
     *
     * @param event
     *            an event of any stream of any device
     */
    void waitFor(Event event);

    /**
     * Waits until all work launched so far is done.
     *
     * @throws InterruptedException
     *             if the calling thread is interrupted
     */
    default void synchronize() throws InterruptedException {
        record().synchronize();
    }

    /**
     * Closes the stream without waiting; launched work still runs. The default stream cannot be closed and stays open.
     */
    @Override
    void close();
}
