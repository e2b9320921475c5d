/**
 * Recordings of runs. A {@link io.seriatim.executor.trace.RunRecorder} records the times of instructions; a {@link
 * io.seriatim.executor.trace.RunTrace} writes them as a trace for Perfetto or as a report for a browser.
 */
@NullMarked
package io.seriatim.executor.trace;

import org.jspecify.annotations.NullMarked;
