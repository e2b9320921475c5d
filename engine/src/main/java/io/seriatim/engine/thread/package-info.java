/**
 * The state of one thread: the operation that it runs, and the user's states of a worker.
 *
 * <p>
 * In: operations whose bodies the thread runs. Out: for code inside a body, the current operation and worker.
 */
@NullMarked
package io.seriatim.engine.thread;

import org.jspecify.annotations.NullMarked;
