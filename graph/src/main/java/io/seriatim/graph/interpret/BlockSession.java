package io.seriatim.graph.interpret;

import io.seriatim.device.Device;
import io.seriatim.graph.program.Block;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One run of a block: its variables and those around it, and its operations one by one. Of one thread at a time. */
public final class BlockSession {
    private final Block block;
    private final Environment environment;
    private final BlockRunner runner;

    /**
     * An iteration of a loop whose iterations are not kept for a gradient.
     *
     * @param loop
     *            identifies one execution of the loop
     * @param number
     *            from 0
     */
    public record Iteration(Object loop, long number) {
        /**
         * Whether another iteration of the same execution of the loop comes directly before this one.
         *
         * @param other
         *            an iteration of any loop
         * @return false also for an iteration of another execution of the same loop
         */
        @SuppressWarnings("ReferenceEquality") // Executions have no content by which they are told apart.
        public boolean follows(Iteration other) {
            return loop == other.loop && number == other.number + 1;
        }
    }

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
     * The session of another form of the block, with the same variables and others.
     *
     * @param form
     *            a block whose operations run the blocks that those of this block run
     * @return a session with the variables of this one
     */
    public BlockSession as(Block form) {
        environment.enter(form);
        return new BlockSession(form, environment, runner);
    }

    /**
     * The iteration of a loop in which the block is run. Between two iterations, nothing but the loop's condition is
     * read.
     *
     * @return null if it is not the body of a loop, or if its variables are kept for a gradient
     */
    public @Nullable Iteration iteration() {
        return environment.iteration();
    }

    /**
     * Finds variables for all steps of one execution of a loop, of which this is the first.
     *
     * @param names
     *            their names
     * @return finds and sets them
     */
    public BlockVariables variables(List<String> names) {
        return new BlockVariables(environment, names);
    }

    Environment environment() {
        return environment;
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
     * Whether tensors of steps are closed when their gradients have run, so that {@link #gave} is of use.
     *
     * @return false if nothing is closed
     */
    public boolean isFreed() {
        return environment.isFreed();
    }

    /**
     * Records that a result was set, after all results of the block.
     *
     * @param name
     *            its name
     * @param value
     *            the tensor
     * @param isOwn
     *            whether nothing else has its memory, and none of the tensors that the block was given
     */
    public void gave(String name, Tensor value, boolean isOwn) {
        environment.gave(name, value, isOwn);
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
     * Runs an operation on given values instead of the variables of these names, which stay as they are.
     *
     * @param index
     *            its place in the block; an operation that runs no blocks
     * @param names
     *            the names of the values
     * @param values
     *            for each name, a tensor or what {@link #find} gave; null if there is none
     * @param host
     *            the device of the host on which results are allocated
     * @return the values after the operation, by name; null for a name without value
     */
    public Function<String, @Nullable Object> run(int index, List<String> names, @Nullable Object[] values,
            Device host) {
        Environment only = new Environment(null, host);
        for (int i = 0; i < values.length; i++) {
            Object value = values[i];
            if (value != null) {
                only.setHere(names.get(i), value);
            }
        }
        runner.run(block, index, only);
        return only::here;
    }

    /**
     * An operation for runs on given tensors, in this session and later ones.
     *
     * @param index
     *            its place in the block
     * @param reads
     *            the names of the tensors that it is given
     * @param writes
     *            the names of the tensors that it gives
     * @param constants
     *            for each name that is read, its tensor if that is the same in all runs; otherwise null
     * @return null if it does more than to compute tensors from others, or is random
     */
    public @Nullable RepeatedOperation repeated(int index, List<String> reads, List<String> writes,
            @Nullable Tensor[] constants) {
        return runner.repeated(block, index, reads, writes, constants);
    }

    /**
     * An operation for runs on given values, if it only sets an element of a list that it is given.
     *
     * @param index
     *            its place in the block
     * @param reads
     *            the names of the values that it is given
     * @param writes
     *            the names of the values that it changes
     * @return null if it does something else
     */
    public @Nullable ListWrite listWrite(int index, List<String> reads, List<String> writes) {
        return ListWrite.of(block, index, reads, writes);
    }

    /**
     * An operation for runs on given values, if it only chooses one of them.
     *
     * @param index
     *            its place in the block
     * @param reads
     *            the names of the values that it is given
     * @param writes
     *            the names of the values that it gives
     * @return null if it does something else
     */
    public @Nullable Selection selection(int index, List<String> reads, List<String> writes) {
        return Selection.of(block, index, reads, writes);
    }

    /**
     * The condition of an operation that is a branch, for runs on given values.
     *
     * @param index
     *            its place in the block
     * @param reads
     *            the names of the values that it is given
     * @param writes
     *            the names of the values that it gives
     * @return null if it is none, or if it does something also if it is not taken
     */
    public @Nullable BranchCondition branch(int index, List<String> reads, List<String> writes) {
        return runner.keepsSteps(block, index) ? null : BranchCondition.of(block, index, reads, writes);
    }

    /**
     * An operation for runs of its block on given values, if it is a branch or a loop.
     *
     * @param index
     *            its place in the block
     * @param reads
     *            the names of the values that it is given
     * @param writes
     *            the names of the values that it gives
     * @return null if it is neither, or if its block must be run with variables by name
     */
    public @Nullable ControlOperation control(int index, List<String> reads, List<String> writes) {
        return runner.control(block, index, reads, writes);
    }

    /**
     * A run of the block of an operation of this block.
     *
     * @param inner
     *            the block
     * @param iteration
     *            the iteration of a loop; null for a branch
     * @return a session whose variables around it are those of this one
     */
    public BlockSession inside(Block inner, @Nullable Iteration iteration) {
        Environment variables = new Environment(environment);
        variables.enter(inner);
        if (iteration != null) {
            variables.iteration(iteration);
        }
        return new BlockSession(inner, variables, runner);
    }

    /**
     * Whether the tensors that an operation gives have memory of their own, which nothing else refers to.
     *
     * @param index
     *            its place in the block
     * @return false if they may be those of other variables
     */
    public boolean givesNew(int index) {
        return TensorListInstructions.givesNew(block.ops().get(index));
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
