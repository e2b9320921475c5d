/** Tests of the executor through its API. */
@NullMarked
package io.seriatim.executor;

import org.jspecify.annotations.NullMarked;
