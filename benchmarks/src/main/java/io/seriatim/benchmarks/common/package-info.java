/** What several measurements use: tables, progress, processes of their own, and the jars of other systems. */
@NullMarked
package io.seriatim.benchmarks.common;

import org.jspecify.annotations.NullMarked;
