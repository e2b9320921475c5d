/** A build tool: the engine applied to a non-numerical program. Start with {@link io.seriatim.examples.build.Build}. */
@NullMarked
package io.seriatim.examples.build;

import org.jspecify.annotations.NullMarked;
