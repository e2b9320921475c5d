/**
 * Programs: a network, its loss, backward and optimizer as data that can be analysed, saved, exchanged and run.
 * {@link io.seriatim.graph.Network} is the way in.
 */
@NullMarked
package io.seriatim.graph;

import org.jspecify.annotations.NullMarked;
