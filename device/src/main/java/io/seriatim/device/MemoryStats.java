package io.seriatim.device;

/**
 * How a device's memory is used, in bytes.
 *
 * @param used
 *            in buffers that are open
 * @param cached
 *            freed, and kept for the next buffer
 * @param peak
 *            the most that was used at once
 * @param limit
 *            the most that may be taken; {@link Long#MAX_VALUE} if there is no limit
 * @param buffers
 *            how many are open
 */
public record MemoryStats(long used, long cached, long peak, long limit, long buffers) {
}
