/**
 * The dependency engine. Begin with {@link io.seriatim.engine.Engine}.
 *
 * <p>
 * This package is the whole API; the other packages are not exported. Bottom to top: {@code sync} has locks;
 * {@code dependency} derives what is ready; {@code queue} and {@code log} keep operations in their orders;
 * {@code thread} says what a thread runs; {@code core} joins these to one engine; {@code pending} waits, and
 * {@code dispatch} says who runs what is ready; {@code front} answers the API, which finds it through {@code runtime}.
 */
@NullMarked
package io.seriatim.engine;

import org.jspecify.annotations.NullMarked;
