package io.seriatim.device;

/**
 * The memory use of a device. All sizes are in bytes.
 *
 * @param used
 *            the size of all open buffers
 * @param cached
 *            freed memory that is kept for later buffers
 * @param peak
 *            the maximum of {@code used} so far
 * @param limit
 *            the limit of used and cached memory; {@link Long#MAX_VALUE} if there is none
 * @param buffers
 *            the number of open buffers
 */
public record MemoryStats(long used, long cached, long peak, long limit, long buffers) {
}
