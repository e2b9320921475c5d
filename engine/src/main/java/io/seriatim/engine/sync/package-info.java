/**
 * Building blocks of synchronisation: a spin lock, padding against false sharing, deadlines, a check of the remaining
 * stack, and early initialisation of classes.
 *
 * <p>
 * Depends on no other package of the engine.
 */
@NullMarked
package io.seriatim.engine.sync;

import org.jspecify.annotations.NullMarked;
