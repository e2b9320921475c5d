package io.seriatim.device;

/**
 * One device: memory, and streams that work on it. All methods may be called by any thread.
 *
 * <p>
 * The seam is narrow on purpose: whatever schedules work knows a device through this interface, {@link Stream},
 * {@link Event} and {@link Buffer} only, so that every schedule can be tested on the simulated accelerator.
 */
public interface Device extends AutoCloseable {
    /**
     * Its name.
     *
     * @return for instance {@code sim:0}
     */
    Place place();

    /**
     * What it is, in a line for people.
     *
     * @return for instance {@code simulated accelerator, 1.0 GiB}
     */
    String description();

    /**
     * Takes memory for work on a stream. It is aligned to 64 bytes and holds anything: nothing is zeroed.
     *
     * @param bytes
     *            how many, from 0
     * @param stream
     *            where it will be used first: memory that was freed on this stream is reused at once, since the stream
     *            is in order
     * @return the memory, which belongs to the caller
     * @throws IllegalArgumentException
     *             if the size is negative, or the stream is of another device
     * @throws DeviceMemoryException
     *             if there is not enough, even after everything that is cached was given back
     */
    Buffer allocate(long bytes, Stream stream);

    /**
     * Takes memory for work on the {@linkplain #defaultStream() default stream}.
     *
     * @param bytes
     *            how many, from 0
     * @return the memory
     */
    default Buffer allocate(long bytes) {
        return allocate(bytes, defaultStream());
    }

    /**
     * The stream that is there without being made.
     *
     * @return always the same
     */
    Stream defaultStream();

    /**
     * Makes a stream.
     *
     * @param name
     *            for messages and pictures
     * @return a new one, unordered with all others
     */
    Stream newStream(String name);

    /**
     * How its memory is used.
     *
     * @return the figures of this moment
     */
    MemoryStats memory();

    /** Gives memory that is cached and not in use back to where it came from. */
    void trim();

    /**
     * Waits for all streams, then frees all memory. Buffers of a closed device are closed. Does nothing the second
     * time, nor for the host.
     */
    @Override
    void close();
}
