package io.seriatim.executor.pass;

import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Task;
import java.util.List;
import java.util.function.BiFunction;
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
 *            gives the tasks, in the order of the program, that replace those it is given; it may add values to the
 *            context's table
 */
record RewritePass(String name, Predicate<PassContext> applies,
        BiFunction<List<Task>, PassContext, List<Task>> rewrite) {
    /** A pass for all places that a switch turns off. */
    static RewritePass of(PassName name, BiFunction<List<Task>, PassContext, List<Task>> rewrite) {
        return new RewritePass(name.name(), context -> context.isOn(name), rewrite);
    }

    /** A pass for plans on the host that a switch turns off. */
    static RewritePass onHost(PassName name, BiFunction<List<Task>, PassContext, List<Task>> rewrite) {
        return new RewritePass(name.name(), context -> context.isOnForHost(name), rewrite);
    }
}
