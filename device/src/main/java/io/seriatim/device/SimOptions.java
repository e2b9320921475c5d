package io.seriatim.device;

import java.time.Duration;

/**
 * The options of a simulated accelerator.
 *
 * @param launchLatency
 *            the delay of each launch and copy before it runs
 * @param copyBandwidth
 *            the bandwidth of copies in bytes per second; 0 for no limit
 * @param memory
 *            the size of its memory in bytes
 * @param raceDetection
 *            whether unordered accesses are detected
 */
public record SimOptions(Duration launchLatency, long copyBandwidth, long memory, boolean raceDetection) {
    /** No latency, no limit of the bandwidth, 1 GiB of memory, with race detection. */
    public static final SimOptions DEFAULT = new SimOptions(Duration.ZERO, 0, 1L << 30, true);

    /**
     * Validates the values.
     *
     * @throws IllegalArgumentException
     *             if a value is negative
     */
    public SimOptions {
        if (launchLatency.isNegative() || copyBandwidth < 0 || memory < 0) {
            throw new IllegalArgumentException(
                    "Latency, bandwidth and memory must not be negative, but are " + launchLatency + ", "
                            + copyBandwidth + " bytes/s and "
                            + memory + " bytes");
        }
    }

    /**
     * Returns these options with another latency.
     *
     * @param latency
     *            the delay of each launch and copy before it runs
     * @return the changed options
     */
    public SimOptions withLaunchLatency(Duration latency) {
        return new SimOptions(latency, copyBandwidth, memory, raceDetection);
    }

    /**
     * Returns these options with another bandwidth.
     *
     * @param bytesPerSecond
     *            the bandwidth of copies; 0 for no limit
     * @return the changed options
     */
    public SimOptions withCopyBandwidth(long bytesPerSecond) {
        return new SimOptions(launchLatency, bytesPerSecond, memory, raceDetection);
    }

    /**
     * Returns these options with another size of memory.
     *
     * @param bytes
     *            the size of the memory
     * @return the changed options
     */
    public SimOptions withMemory(long bytes) {
        return new SimOptions(launchLatency, copyBandwidth, bytes, raceDetection);
    }

    /**
     * Returns these options with the race detector on or off.
     *
     * @param on
     *            whether unordered accesses are detected
     * @return the changed options
     */
    public SimOptions withRaceDetection(boolean on) {
        return new SimOptions(launchLatency, copyBandwidth, memory, on);
    }
}
