/** Tests of plans. */
@NullMarked
package io.seriatim.executor;

import org.jspecify.annotations.NullMarked;
