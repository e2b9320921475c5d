/**
 * Operations that move elements or change shapes and compute nothing: reshape, transpose, concatenation, padding,
 * copies.
 */
@NullMarked
package io.seriatim.graph.ops.shape;

import org.jspecify.annotations.NullMarked;
