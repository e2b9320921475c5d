/**
 * Algorithms on plain arrays that no kernel has yet: factorisations and special functions. They know
 * no tensors, operations or programs.
 */
@NullMarked
package io.seriatim.graph.numerics;

import org.jspecify.annotations.NullMarked;
