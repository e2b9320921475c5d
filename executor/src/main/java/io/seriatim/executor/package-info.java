/**
 * Plans of programs: analysed once, run many times, in parallel. {@link io.seriatim.executor.Executor} is the way in.
 */
@NullMarked
package io.seriatim.executor;

import org.jspecify.annotations.NullMarked;
