package io.seriatim.device;

import java.time.Duration;

/**
 * How a simulated accelerator behaves.
 *
 * @param launchLatency
 *            how long each piece of work waits before it runs
 * @param copyBandwidth
 *            bytes a second of copies to and from it; 0 for as fast as the host
 * @param memory
 *            its memory in bytes
 * @param raceDetection
 *            whether unordered accesses are found
 */
public record SimOptions(Duration launchLatency, long copyBandwidth, long memory, boolean raceDetection) {
    /** No latency, no limit of bandwidth, 1 GiB, with race detection. */
    public static final SimOptions DEFAULT = new SimOptions(Duration.ZERO, 0, 1L << 30, true);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException
     *             if one is negative
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
     * With another latency.
     *
     * @param latency
     *            how long each piece of work waits before it runs
     * @return changed options
     */
    public SimOptions withLaunchLatency(Duration latency) {
        return new SimOptions(latency, copyBandwidth, memory, raceDetection);
    }

    /**
     * With another bandwidth.
     *
     * @param bytesPerSecond
     *            of copies; 0 for as fast as the host
     * @return changed options
     */
    public SimOptions withCopyBandwidth(long bytesPerSecond) {
        return new SimOptions(launchLatency, bytesPerSecond, memory, raceDetection);
    }

    /**
     * With another size.
     *
     * @param bytes
     *            of memory
     * @return changed options
     */
    public SimOptions withMemory(long bytes) {
        return new SimOptions(launchLatency, copyBandwidth, bytes, raceDetection);
    }

    /**
     * With or without the race detector.
     *
     * @param on
     *            whether unordered accesses are found
     * @return changed options
     */
    public SimOptions withRaceDetection(boolean on) {
        return new SimOptions(launchLatency, copyBandwidth, memory, on);
    }
}
