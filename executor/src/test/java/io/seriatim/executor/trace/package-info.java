/** Tests of traces and reports. */
@org.jspecify.annotations.NullMarked
package io.seriatim.executor.trace;
