package io.seriatim.tensor.internal.ffi;

/**
 * How the window of a convolution or pooling moves, with one element for each spatial dimension.
 *
 * @param strides
 *            the steps
 * @param dilations
 *            the numbers of elements that are skipped within a window, from 0
 * @param padBegin
 *            the padding before the first element
 * @param padEnd
 *            the padding after the last element
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record WindowGeometry(long[] strides, long[] dilations, long[] padBegin, long[] padEnd) {
}
