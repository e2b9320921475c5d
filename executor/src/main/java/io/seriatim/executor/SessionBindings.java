package io.seriatim.executor;

import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.KeptResults;
import io.seriatim.executor.ir.PackedWeights;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The variables around a nested block. What is kept of those that outlive runs, such as packed weights, lies with the
 * scope's, so that it is made once for all iterations and runs.
 *
 * @param root
 *            the variables of the scope
 * @param sharesMemory
 *            whether any variables may share memory: then a write to one may change another without being counted
 */
record SessionBindings(BlockSession session, Bindings root, boolean sharesMemory) implements Bindings {
    @Override
    public @Nullable Object find(String name) {
        return session.find(name);
    }

    @Override
    public void set(String name, Object value) {
        session.set(name, value);
    }

    @Override
    public void alias(String name, Tensor value) {
        session.alias(name, value);
    }

    @Override
    public boolean isShared(Tensor tensor) {
        return session.isShared(tensor);
    }

    @Override
    public @Nullable PackedWeights packed(String name) {
        return sharesMemory ? null : root.packed(name);
    }

    @Override
    public @Nullable KeptResults kept(String name) {
        return sharesMemory ? null : root.kept(name);
    }
}
