/**
 * The command {@code seriatim bench kernels}: each kernel against its limit in the same rounds: a bare call of the
 * library, a copy of as many bytes, the measured peak.
 *
 * <p>
 * Data passes the types in this order: {@code KernelCases} (what is measured) → {@code Case} → {@code Duel} (both sides
 * in turn) → {@code Figure} → the table.
 */
@NullMarked
package io.seriatim.benchmarks.kernels;

import org.jspecify.annotations.NullMarked;
