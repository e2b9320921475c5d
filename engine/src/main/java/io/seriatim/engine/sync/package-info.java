/**
 * What synchronisation is made of: a spin lock, padding against false sharing, deadlines, room on the stack, and classes
 * initialised before an engine runs.
 *
 * <p>
 * Knows neither operations nor variables, and imports no other package of the engine.
 */
@NullMarked
package io.seriatim.engine.sync;

import org.jspecify.annotations.NullMarked;
