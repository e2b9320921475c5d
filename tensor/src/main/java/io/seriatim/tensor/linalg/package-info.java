/**
 * Linear algebra on batches of dense matrices, computed in double precision. {@link MatrixBatch} applies a function to
 * the matrices of tensors. The QR, eigenvalue and singular value decompositions are those of EJML, brought to the
 * conventions of LAPACK.
 */
@NullMarked
package io.seriatim.tensor.linalg;

import org.jspecify.annotations.NullMarked;
