/** Tests of data sets. */
@NullMarked
package io.seriatim.train.data;

import org.jspecify.annotations.NullMarked;
