/**
 * Descriptions of computations, one record each: elementwise functions and their chains, products of matrices,
 * reductions, indexing, copies, random numbers. A record checks the specs of its inputs and infers those of its
 * outputs; it computes nothing. A new computation is a record here and a kernel in {@code kernel.portable}.
 */
@NullMarked
package io.seriatim.tensor.computation;

import org.jspecify.annotations.NullMarked;
