/**
 * Other engines, driven for comparison by {@code seriatim bench engine}. Not part of the product: nothing of this is published.
 */
@NullMarked
package io.seriatim.benchmarks;

import org.jspecify.annotations.NullMarked;
