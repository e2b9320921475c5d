@NullMarked
package io.seriatim.benchmarks.kernels;

import org.jspecify.annotations.NullMarked;
