/**
 * The command {@code seriatim bench metg}: the minimum effective task granularity of task systems, METG(50 %), over the
 * dependency patterns of Task Bench (Slaughter et al., SC'20), written from their definitions.
 *
 * <p>
 * Data flow: {@code TaskPattern} → {@code TaskGraph} (a table of dependencies) → {@code MetgSystem} (runs a
 * {@code TaskRun}, which checks the values) → {@code Sweep} → {@code EfficiencyCurve} → {@code MetgResults} → tables,
 * JSON and a picture.
 */
@NullMarked
package io.seriatim.benchmarks.metg;

import org.jspecify.annotations.NullMarked;
