/** Tests of the benchmark of ranks. */
@NullMarked
package io.seriatim.benchmarks.cluster;

import org.jspecify.annotations.NullMarked;
