/** Tests. */
@NullMarked
package io.seriatim.benchmarks.train;

import org.jspecify.annotations.NullMarked;
