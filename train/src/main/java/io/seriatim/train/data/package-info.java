/** Data sets, their files, and the order in which training reads them. */
@NullMarked
package io.seriatim.train.data;

import org.jspecify.annotations.NullMarked;
