/**
 * Races on the engine's access chain, through its public API, under jcstress: each class is one race, with the outcomes
 * that a serial order permits. A mutant shows that races of this kind are detected.
 */
@NullMarked
package io.seriatim.stress;

import org.jspecify.annotations.NullMarked;
