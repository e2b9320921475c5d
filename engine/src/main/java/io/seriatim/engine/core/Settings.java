package io.seriatim.engine.core;

import io.seriatim.engine.Recorder;
import io.seriatim.engine.dependency.Rules;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What an engine is made with.
 *
 * @param name
 *            its name, for messages and threads
 * @param checked
 *            whether guarded values check that the operation touching them declared them
 * @param maxPending
 *            how many operations may be pending before a push waits
 * @param recorder
 *            is told of each operation, or null
 * @param onUnhandled
 *            is told of failures that no one else observes
 * @param rules
 *            the rules that tests may replace
 * @param firstIndex
 *            where counters of 32 bits begin, which wrap around
 * @param firstOrder
 *            where the order of operations, and what is compared with it, begins
 */
public record Settings(String name, boolean checked, int maxPending, @Nullable Recorder recorder,
        Consumer<? super Throwable> onUnhandled, Rules rules, int firstIndex, long firstOrder) {
}
