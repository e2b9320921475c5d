/** Seriatim on Apache Spark: trains models on data frames, and scores their rows. */
@NullMarked
package io.seriatim.spark;

import org.jspecify.annotations.NullMarked;
