/**
 * The entry points of the API: the builder, the handle of an engine, and the provider of the static methods.
 *
 * <p>
 * In: calls of users. Out: operations and waits, for {@code core} and {@code pending}. The only package that knows both
 * {@code pending} and {@code dispatch}; no other package imports it, the service loader finds it.
 */
@NullMarked
package io.seriatim.engine.front;

import org.jspecify.annotations.NullMarked;
