/**
 * Compiles programs to plans, which run many times and in parallel. {@link io.seriatim.executor.Executor} is the entry
 * point.
 */
@NullMarked
package io.seriatim.executor;

import org.jspecify.annotations.NullMarked;
