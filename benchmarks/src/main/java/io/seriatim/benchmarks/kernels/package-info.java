/**
 * The command {@code seriatim bench kernels}: compares each kernel with its limit in the same rounds: a bare call of
 * the library, a copy of the same number of bytes, or the measured peak.
 *
 * <p>
 * Data flow: {@code KernelCases} → {@code Case} → {@code Duel} (measures both sides in turn) → {@code Figure} → the
 * table.
 */
@NullMarked
package io.seriatim.benchmarks.kernels;

import org.jspecify.annotations.NullMarked;
