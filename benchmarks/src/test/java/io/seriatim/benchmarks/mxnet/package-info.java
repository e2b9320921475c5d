@NullMarked
package io.seriatim.benchmarks.mxnet;

import org.jspecify.annotations.NullMarked;
