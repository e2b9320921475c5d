/**
 * Builds programs: a {@link io.seriatim.graph.Network} describes layers, losses and training through {@link
 * io.seriatim.graph.Graph} and {@link io.seriatim.graph.Value}, and yields a {@link
 * io.seriatim.graph.program.Program}. Nothing below imports this package, except the interpreter and the classes that
 * run programs of whole networks.
 */
@NullMarked
package io.seriatim.graph;

import org.jspecify.annotations.NullMarked;
