/**
 * The interface through which the static methods of the API reach the implementation.
 *
 * <p>
 * In: calls of {@code Engine}, {@code RunContext} and {@code Guarded}. Out: calls of {@code front}. It imports no other
 * package of the engine.
 */
@NullMarked
package io.seriatim.engine.runtime;

import org.jspecify.annotations.NullMarked;
