/** Ranks that train together: how they find each other, and the collectives that operations of programs call. */
@NullMarked
package io.seriatim.cluster;

import org.jspecify.annotations.NullMarked;
