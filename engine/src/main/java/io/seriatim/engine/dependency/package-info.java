/**
 * Operations, variables, and the rule of which operation waits for which.
 *
 * <p>
 * In: operations in push order, and the ends of those that ran. Out: operations that are ready, failures that they pass
 * on, futures that are done. {@code Tracker} derives the dependencies; {@code VarState} holds the queue of one variable.
 * The engine itself is seen through {@code Owner} only.
 */
@NullMarked
package io.seriatim.engine.dependency;

import org.jspecify.annotations.NullMarked;
