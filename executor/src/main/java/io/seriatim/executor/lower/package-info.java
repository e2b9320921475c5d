/**
 * From operations to tasks: each operation of a block becomes the kernels that its schema names, or a task for the
 * interpreter.
 *
 * <p>
 * In: a numbered block and what a run is given. Out: tasks in the order of the program, and the value table filled with
 * types and shapes. Nothing is rewritten here.
 */
@NullMarked
package io.seriatim.executor.lower;

import org.jspecify.annotations.NullMarked;
