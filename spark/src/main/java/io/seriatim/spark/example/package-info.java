/** Programs for {@code spark-submit}, which show the classes of Seriatim for Spark. */
@NullMarked
package io.seriatim.spark.example;

import org.jspecify.annotations.NullMarked;
