/**
 * Races on the engine's access chain, through its public API, under jcstress: each class is one race, with the outcomes
 * that serial order allows. A planted mutant shows that a race of this kind is found.
 */
@NullMarked
package io.seriatim.stress;

import org.jspecify.annotations.NullMarked;
