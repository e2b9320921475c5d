/** Tests of memory that processes share. */
@NullMarked
package io.seriatim.cluster.transport;

import org.jspecify.annotations.NullMarked;
