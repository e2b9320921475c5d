package io.seriatim.engine;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an engine.
 *
 * @param name
 *            the engine's name, used in messages and names of threads
 * @param checked
 *            whether guarded values check that the operation which accesses them has declared their variable
 * @param maxPending
 *            the number of pending operations from which a push waits
 * @param recorder
 *            receives each operation, or null
 * @param onUnhandled
 *            receives failures that have no other observer
 * @param rules
 *            the rules, which tests may replace
 * @param firstIndex
 *            the first value of 32-bit counters, which wrap around
 * @param firstOrder
 *            the first value of the order of operations, and of counters compared with it
 */
record Settings(String name, boolean checked, int maxPending, @Nullable Recorder recorder,
        Consumer<? super Throwable> onUnhandled, Rules rules, int firstIndex, long firstOrder) {
}
