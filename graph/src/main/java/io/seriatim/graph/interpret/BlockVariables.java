package io.seriatim.graph.interpret;

import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Variables that a block reads or writes, found once for all steps of one execution of a loop. A step that keeps its
 * variables in another way finds them by name. Of one thread at a time.
 */
public final class BlockVariables {
    private final String[] names;
    private final StepEnvironment steps;
    /** By variable, its index in the environment of a step; −1 if it must be found by name. */
    private final int[] indices;
    /** By variable, where it may be outside of the step, from the inside out. */
    private final Variables.Place[][] outside;
    /** By variable, where it lives; null for the environment of the step. */
    private final Variables.@Nullable Place[] homes;
    /** By variable, whether it is known where it lives. */
    private final boolean[] isKnown;

    /** What the environments of the steps have in common. */
    private record StepEnvironment(@Nullable StepLayout layout, @Nullable Environment parent, Object claimed) {
        @SuppressWarnings("ReferenceEquality") // The same objects are used for all steps.
        boolean isOf(Environment step) {
            return layout != null && layout == step.layout() && parent == step.parent() && claimed == step.claimed();
        }
    }

    @SuppressWarnings("ReferenceEquality") // Environments have no content by which they are told apart.
    BlockVariables(Environment step, List<String> names) {
        this.names = names.toArray(String[]::new);
        this.steps = new StepEnvironment(step.layout(), step.parent(), step.claimed());
        this.indices = new int[this.names.length];
        this.outside = new Variables.Place[this.names.length][];
        this.homes = new Variables.Place[this.names.length];
        this.isKnown = new boolean[this.names.length];
        StepLayout layout = step.layout();
        Arrays.fill(indices, -1);
        for (int i = 0; layout != null && i < indices.length; i++) {
            String name = this.names[i];
            indices[i] = layout.index(name);
            if (indices[i] >= 0) {
                outside[i] = step.outside(name);
                Environment home = step.declaring(name);
                isKnown[i] = home != null;
                homes[i] = home == null || home == step ? null : home.place(name);
            }
        }
    }

    /**
     * A variable of a step or around it.
     *
     * @param step
     *            the step
     * @param index
     *            its place among the names
     * @return null if it has no value
     */
    public @Nullable Object find(BlockSession step, int index) {
        Environment environment = step.environment();
        int at = indices[index];
        if (at < 0 || !steps.isOf(environment)) {
            return environment.find(names[index]);
        }
        Object value = environment.at(at);
        if (value != null) {
            return value;
        }
        for (Variables.Place place : outside[index]) {
            Object there = place.get();
            if (there != null) {
                return there;
            }
        }
        return null;
    }

    /**
     * Sets a variable where it lives.
     *
     * @param step
     *            the step
     * @param index
     *            its place among the names
     * @param value
     *            a tensor, selected rows, or what {@link #find} gave
     */
    public void set(BlockSession step, int index, Object value) {
        Environment environment = step.environment();
        if (!isKnown[index] || environment.sharesMemory() || !steps.isOf(environment)) {
            environment.set(names[index], value);
            return;
        }
        Variables.Place home = homes[index];
        if (home == null) {
            environment.at(indices[index], value);
        } else {
            home.set(value);
        }
    }

    /**
     * Records that a result was set, after all results of the block.
     *
     * @param step
     *            the step
     * @param index
     *            its place among the names
     * @param value
     *            the tensor
     * @param isOwn
     *            whether nothing else has its memory, and none of the tensors that the block was given
     */
    public void gave(BlockSession step, int index, Tensor value, boolean isOwn) {
        step.environment().gave(names[index], value, isOwn);
    }
}
