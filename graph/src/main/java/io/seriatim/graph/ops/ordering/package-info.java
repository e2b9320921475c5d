/** Sorting, the largest elements, searching sorted values, and unique values. */
@NullMarked
package io.seriatim.graph.ops.ordering;

import org.jspecify.annotations.NullMarked;
