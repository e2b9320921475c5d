/** Authenticated connections between ranks: frames, heartbeats, and one failure for all ranks. */
@NullMarked
package io.seriatim.cluster.transport;

import org.jspecify.annotations.NullMarked;
