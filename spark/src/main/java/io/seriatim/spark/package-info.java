/** Seriatim on Apache Spark: models that score the rows of data frames. */
@NullMarked
package io.seriatim.spark;

import org.jspecify.annotations.NullMarked;
