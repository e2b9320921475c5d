/** Tests. */
@NullMarked
package io.seriatim.benchmarks.serve;

import org.jspecify.annotations.NullMarked;
