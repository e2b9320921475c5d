/**
 * How the static methods of the API reach the implementation: one interface, found as a service.
 *
 * <p>
 * In: calls of {@code Engine}, {@code RunContext} and {@code Guarded}. Out: the answers of {@code front}. Imports no other
 * package of the engine.
 */
@NullMarked
package io.seriatim.engine.runtime;

import org.jspecify.annotations.NullMarked;
