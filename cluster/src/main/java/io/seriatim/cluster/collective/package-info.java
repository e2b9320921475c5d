/** Collectives as steps of frames, in a fixed order of summation. */
@NullMarked
package io.seriatim.cluster.collective;

import org.jspecify.annotations.NullMarked;
