/** Products of matrices, factorisations, solvers and eigenvalues. */
@NullMarked
package io.seriatim.graph.ops.linalg;

import org.jspecify.annotations.NullMarked;
