/**
 * Lowers operations to tasks. Each operation of a block becomes a task of the kernels that its schema names, or a task
 * for the interpreter.
 *
 * <p>
 * Input: a numbered block and the external values of a run. Output: tasks in program order, and a value table that
 * contains types and shapes. No task is rewritten here.
 */
@NullMarked
package io.seriatim.executor.lower;

import org.jspecify.annotations.NullMarked;
