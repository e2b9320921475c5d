/** Shared code of the benchmarks: tables, progress, separate processes, and the jars of other systems. */
@NullMarked
package io.seriatim.benchmarks.common;

import org.jspecify.annotations.NullMarked;
