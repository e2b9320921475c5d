/** Tests with a Spark of two task threads in this process. */
@NullMarked
package io.seriatim.spark;

import org.jspecify.annotations.NullMarked;
