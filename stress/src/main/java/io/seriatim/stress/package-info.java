/**
 * Races on the engine's access chain, through its public API, under jcstress: each class is one race, with the outcomes
 * that a serial order permits. Mutants show that races of this kind are detected. Races between package-private parts
 * of the engine are in the engine's package, which works on the class path.
 */
@NullMarked
package io.seriatim.stress;

import org.jspecify.annotations.NullMarked;
