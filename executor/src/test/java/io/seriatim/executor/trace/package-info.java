/** Tests of traces and reports. */
@NullMarked
package io.seriatim.executor.trace;

import org.jspecify.annotations.NullMarked;
