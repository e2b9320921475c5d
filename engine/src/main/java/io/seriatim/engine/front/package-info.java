/**
 * The entry points of the API: the builder, the handle of an engine, and the provider of the static methods.
 *
 * <p>
 * In: calls of users. Out: operations and waits, for {@code core} and {@code pending}. It is the only package that
 * imports both {@code pending} and {@code dispatch}. No other package imports it; the service loader finds it.
 */
@NullMarked
package io.seriatim.engine.front;

import org.jspecify.annotations.NullMarked;
