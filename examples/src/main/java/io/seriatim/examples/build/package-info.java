/**
 * A build tool: the engine where there is not a number in sight. {@link io.seriatim.examples.build.Build} is where to
 * begin.
 */
@NullMarked
package io.seriatim.examples.build;

import org.jspecify.annotations.NullMarked;
