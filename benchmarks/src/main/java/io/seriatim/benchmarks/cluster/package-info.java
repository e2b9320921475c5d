/** Data-parallel training over an emulated network, and a model of it for many ranks. */
@NullMarked
package io.seriatim.benchmarks.cluster;

import org.jspecify.annotations.NullMarked;
