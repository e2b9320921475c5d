/** Tests of the ways of sums. */
@NullMarked
package io.seriatim.cluster.collective;

import org.jspecify.annotations.NullMarked;
