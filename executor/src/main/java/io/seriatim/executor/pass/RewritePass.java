package io.seriatim.executor.pass;

import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.TaskGraph;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * A step that rewrites the tasks of a block before they are scheduled, so that they take less time or memory.
 * {@link PassPipeline} lists all of them in their order.
 *
 * @param name
 *            what messages of {@link PassCheck} call it
 * @param applies
 *            whether the pass is taken, by its switch and the place
 * @param rewrite
 *            changes the tasks of the graph into others that compute the same; it may add values
 */
record RewritePass(String name, Predicate<PassContext> applies,
        BiConsumer<TaskGraph, PassContext> rewrite) {
    /** A pass for all places that a switch turns off. */
    static RewritePass of(PassName name, BiConsumer<TaskGraph, PassContext> rewrite) {
        return new RewritePass(name.name(), context -> context.isOn(name), rewrite);
    }

    /** A pass for plans on the host that a switch turns off. */
    static RewritePass onHost(PassName name, BiConsumer<TaskGraph, PassContext> rewrite) {
        return new RewritePass(name.name(), context -> context.isOnForHost(name), rewrite);
    }
}
