package io.seriatim.executor.pass;

import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.TaskGraph;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * A pass that rewrites the tasks of a block before scheduling, so that they take less time or memory.
 * {@link PassPipeline} contains the ordered list of all passes.
 *
 * @param name
 *            the name of the pass in messages of {@link PassCheck}
 * @param applies
 *            returns whether the pass applies, by its switch and the place
 * @param rewrite
 *            replaces tasks of the graph by others that compute the same; it may add values
 */
record RewritePass(String name, Predicate<PassContext> applies,
        BiConsumer<TaskGraph, PassContext> rewrite) {
    /** Returns a pass for all places that can be disabled by name. */
    static RewritePass of(PassName name, BiConsumer<TaskGraph, PassContext> rewrite) {
        return new RewritePass(name.name(), context -> context.isOn(name), rewrite);
    }

    /** Returns a pass for plans on the host that can be disabled by name. */
    static RewritePass onHost(PassName name, BiConsumer<TaskGraph, PassContext> rewrite) {
        return new RewritePass(name.name(), context -> context.isOnForHost(name), rewrite);
    }
}
