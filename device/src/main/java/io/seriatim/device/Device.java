package io.seriatim.device;

/**
 * A device: its memory and its streams. Any thread may call any method.
 *
 * <p>
 * The interface is narrow on purpose: schedulers use a device through this interface, {@link Stream}, {@link Event} and
 * {@link Buffer} only, so that every schedule can be tested on the simulated accelerator.
 */
public interface Device extends AutoCloseable {
    /**
     * Returns the name of the device.
     *
     * @return for instance {@code sim:0}
     */
    Place place();

    /**
     * Describes the device in one line.
     *
     * @return for instance {@code simulated accelerator, 1.0 GiB}
     */
    String description();

    /**
     * Allocates memory for work on a stream. The memory is aligned to 64 bytes and not initialised.
     *
     * @param bytes
     *            the size in bytes, at least 0
     * @param stream
     *            the stream that will use the memory first; memory freed on this stream is reused at once, because the
     *            stream executes in order
     * @return the buffer, which the caller must close
     * @throws IllegalArgumentException
     *             if the size is negative, or the stream belongs to another device
     * @throws DeviceMemoryException
     *             if not enough memory is available, even after all cached memory was released
     */
    Buffer allocate(long bytes, Stream stream);

    /**
     * Allocates memory for work on the {@linkplain #defaultStream() default stream}.
     *
     * @param bytes
     *            the size in bytes, at least 0
     * @return the buffer
     */
    default Buffer allocate(long bytes) {
        return allocate(bytes, defaultStream());
    }

    /**
     * Returns the default stream of the device.
     *
     * @return always the same stream
     */
    Stream defaultStream();

    /**
     * Creates a stream.
     *
     * @param name
     *            the name used in messages and traces
     * @return a new stream, which is not ordered with any other
     */
    Stream newStream(String name);

    /**
     * Returns the memory use of the device.
     *
     * @return the figures at this moment
     */
    MemoryStats memory();

    /** Releases cached memory that is not in use to the system. */
    void trim();

    /**
     * Waits for all streams, then frees all memory and closes all buffers of the device. A second call has no effect,
     * and closing the host only trims its cache.
     */
    @Override
    void close();
}
