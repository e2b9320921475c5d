/**
 * Other systems, driven for comparison by {@code seriatim bench engine} and {@code seriatim bench serve}. Not part of
 * the product: nothing of this is published.
 */
@NullMarked
package io.seriatim.benchmarks;

import org.jspecify.annotations.NullMarked;
