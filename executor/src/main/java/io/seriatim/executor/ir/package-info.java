/**
 * The intermediate representation of plans: tasks and their stages, values and their numbering. It also contains types
 * that all packages of the executor share, such as options, the names of passes and the bindings of a scope.
 *
 * <p>
 * Input: a block of a program. Output: the representation on which all other packages operate. Passes and the scheduler
 * change tasks and the value table while a plan is compiled; nothing changes them afterwards.
 */
@NullMarked
package io.seriatim.executor.ir;

import org.jspecify.annotations.NullMarked;
