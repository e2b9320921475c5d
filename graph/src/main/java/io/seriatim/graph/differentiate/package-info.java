/**
 * Gradients that no schema defines: the steps of an operation are differentiated in reverse, by a rule for each
 * computation.
 */
@NullMarked
package io.seriatim.graph.differentiate;

import org.jspecify.annotations.NullMarked;
