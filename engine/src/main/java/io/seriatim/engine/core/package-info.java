/**
 * One engine: it combines the log, the tracker and a dispatcher, under the tracker lock.
 *
 * <p>
 * In: pushed operations, the results of bodies, and calls that close or cancel. Out: ready operations, for the
 * {@code Dispatcher}; ends of operations, for waiters, callbacks and recorders. Package {@code dispatch} decides which
 * threads run the operations; package {@code pending} checks waits inside operations.
 */
@NullMarked
package io.seriatim.engine.core;

import org.jspecify.annotations.NullMarked;
