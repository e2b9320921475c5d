/**
 * Operations, variables, and the tracker, which derives which operations wait for which.
 *
 * <p>
 * In: operations in push order, and the ends of operations. Out: ready operations, failures of variables, completed
 * futures. {@code Tracker} derives the dependencies; {@code VarState} holds the queue of one variable. This package
 * sees the engine only through {@code Owner}.
 */
@NullMarked
package io.seriatim.engine.dependency;

import org.jspecify.annotations.NullMarked;
