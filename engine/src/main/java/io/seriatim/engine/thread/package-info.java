/**
 * What belongs to one thread: the operation that it runs, and the states of a worker.
 *
 * <p>
 * In: operations whose bodies the thread runs. Out: for code that is called in a body, the operation and the worker that
 * call it.
 */
@NullMarked
package io.seriatim.engine.thread;

import org.jspecify.annotations.NullMarked;
