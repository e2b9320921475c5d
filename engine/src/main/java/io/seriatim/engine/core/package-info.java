/**
 * One engine: joins the log, the tracker and a dispatcher, under the tracker lock.
 *
 * <p>
 * In: operations that threads push, what bodies threw, and calls that close or cancel. Out: ready operations, to the
 * {@code Dispatcher}; ends of operations, to waiters, callbacks and recorders. Which threads run the operations, and how a
 * wait inside an operation is checked, is decided in the packages {@code dispatch} and {@code pending}.
 */
@NullMarked
package io.seriatim.engine.core;

import org.jspecify.annotations.NullMarked;
