/** Tests. */
@NullMarked
package io.seriatim.benchmarks.executor;

import org.jspecify.annotations.NullMarked;
