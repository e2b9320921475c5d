/** Apache MXNet's dependency engine, driven through its C interface in a JVM of its own. */
@NullMarked
package io.seriatim.benchmarks.mxnet;

import org.jspecify.annotations.NullMarked;
