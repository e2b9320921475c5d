package io.seriatim.graph.interpret;

import io.seriatim.graph.program.Block;
import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** One run of a block: its variables and those around it, and its operations one by one. Of one thread at a time. */
public final class BlockSession {
    private final Block block;
    private final Environment environment;
    private final BlockRunner runner;

    BlockSession(Block block, Environment environment, BlockRunner runner) {
        this.block = block;
        this.environment = environment;
        this.runner = runner;
    }

    /**
     * The block that is run.
     *
     * @return a block of the program
     */
    public Block block() {
        return block;
    }

    /**
     * Sets a variable where it lives: in the environment of the block that declares it.
     *
     * @param name
     *            its name
     * @param value
     *            a tensor, selected rows, or what {@link #find} gave
     */
    public void set(String name, Object value) {
        environment.set(name, value);
    }

    /**
     * Makes a variable a name of memory that it shares with other variables: a write to one is a write to all.
     *
     * @param name
     *            its name
     * @param value
     *            all of the memory or a part of it
     */
    public void alias(String name, Tensor value) {
        environment.alias(name, value);
    }

    /**
     * Whether a tensor's memory was made that of several variables.
     *
     * @param tensor
     *            a variable's value
     * @return whether it was
     */
    public boolean isShared(Tensor tensor) {
        return environment.isShared(tensor);
    }

    /**
     * Forgets a variable of this block, or one that outlives runs.
     *
     * @param name
     *            its name
     */
    public void remove(String name) {
        environment.remove(name);
    }

    /**
     * A variable of this block or around it.
     *
     * @param name
     *            its name
     * @return null if it has no value
     */
    public @Nullable Object find(String name) {
        return environment.find(name);
    }

    /**
     * Runs an operation.
     *
     * @param index
     *            its place in the block
     */
    public void run(int index) {
        runner.run(block, index, environment);
    }

    /**
     * The key of an operation's random numbers. Each call is a draw: it gives another key, unless the operation has a
     * seed.
     *
     * @param index
     *            its place in the block
     * @return int64 [2]
     */
    public Tensor randomKey(int index) {
        return runner.randomKey(block, index);
    }
}
