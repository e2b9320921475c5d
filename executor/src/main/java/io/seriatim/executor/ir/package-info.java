/**
 * What a plan is made of: tasks and their stages, values and how they are numbered, and what all packages of the
 * executor share, such as options, the names of passes and the bindings of a scope.
 *
 * <p>
 * In: a block of a program. Out: nothing that runs. Every other package of the executor reads these types; passes and
 * the schedule change tasks and the value table while a plan is made, and nothing changes them afterwards.
 */
@NullMarked
package io.seriatim.executor.ir;

import org.jspecify.annotations.NullMarked;
