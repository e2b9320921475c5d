package io.seriatim.graph.interpret;

import io.seriatim.device.DeviceMemoryException;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.HeapMemory;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs the operations of a block, one after the other. */
final class BlockRunner {
    private final RunState state;
    private final Instructions instructions;

    BlockRunner(RunState state) {
        this.state = state;
        this.instructions = new Instructions(state, this);
    }

    void run(Block block, Environment environment) {
        environment.enter(block);
        BlockExecution execution = state.blocks();
        if (execution != null && block.index() > 0) {
            execution.run(new BlockSession(block, environment, this));
            return;
        }
        for (int i = 0; i < block.ops().size(); i++) {
            try {
                run(block, i, environment);
            } catch (OutOfMemoryError e) {
                throw new IllegalStateException("Block " + block.index() + ", operation " + i + " ("
                        + block.ops().get(i).type() + "): " + HeapMemory.advice(e), e);
            }
        }
    }

    /** Begins the runs of a block in one execution of a loop. */
    Steps begin(Block block) {
        BlockExecution execution = state.blocks();
        return new Steps(block, execution == null || block.index() == 0 ? null : execution.begin(block));
    }

    /** The runs of a block in one execution of a loop. */
    final class Steps implements AutoCloseable {
        private final Block block;
        private final BlockExecution.@Nullable Steps executed;

        private Steps(Block block, BlockExecution.@Nullable Steps executed) {
            this.block = block;
            this.executed = executed;
        }

        void run(Environment environment) {
            if (executed == null) {
                BlockRunner.this.run(block, environment);
            } else {
                environment.enter(block);
                executed.run(new BlockSession(block, environment, BlockRunner.this));
            }
        }

        @Override
        public void close() {
            if (executed != null) {
                executed.close();
            }
        }
    }

    /** Returns whether blocks are run in another way, which tells which results have memory of their own. */
    boolean isExecuted() {
        return state.blocks() != null;
    }

    void run(Block block, int index, Environment environment) {
        OpDesc op = block.ops().get(index);
        Operation schema = Operations.system().get(op.type());
        if (isGradientOfNothing(op, environment)) {
            return;
        }
        try {
            boolean isComputation = schema.isLowered() || Collective.isComputation(op);
            if (isComputation && !TensorListInstructions.isFor(op, environment)) {
                state.runner().run(op, schema, environment, state, randomKey(block, index));
            } else {
                instructions.run(op, block, environment);
            }
        } catch (IllegalArgumentException | DeviceMemoryException e) {
            throw failure(block, index, e);
        }
    }

    /**
     * Returns the failure of an operation with its place in the program: an exception of the same type, or the failure
     * itself if its message has the place or needs none.
     */
    static RuntimeException failure(Block block, int index, RuntimeException e) {
        return switch (e) {
            case IllegalArgumentException _ -> new IllegalArgumentException(named(block, index, e), e);
            case DeviceMemoryException _ -> {
                DeviceMemoryException named = new DeviceMemoryException(named(block, index, e));
                named.initCause(e);
                yield named;
            }
            default -> e;
        };
    }

    /** The message of an error of an operation, with its place in the program. */
    static String named(Block block, int index, RuntimeException e) {
        OpDesc op = block.ops().get(index);
        return "Block " + block.index() + ", operation " + index + " (" + op.type() + "): " + e.getMessage()
                + built(op, e);
    }

    /** Where the operation was built, unless the error says where. */
    private static String built(OpDesc op, RuntimeException e) {
        return op.builtAt().isEmpty() || String.valueOf(e.getMessage()).contains("; built at ")
                ? ""
                : "; built at " + String.join(", called at ", op.builtAt());
    }

    /** The outputs of a branch that was not taken have no gradient, not even zeros. */
    private static boolean isGradientOfNothing(OpDesc op, Environment environment) {
        return op.type().equals("fill_any_like")
                && op.outputNames().stream().allMatch(name -> name.contains(GradientRule.SUFFIX))
                && op.inputNames().stream().allMatch(name -> environment.find(name) == null);
    }

    @Nullable
    RepeatedOperation repeated(Block block, int index, List<String> reads, List<String> writes,
            @Nullable Tensor[] constants) {
        return RepeatedOperation.of(state, block, index, reads, writes, constants);
    }

    @Nullable
    ControlOperation control(Block block, int index, List<String> reads, List<String> writes) {
        OpDesc op = block.ops().get(index);
        Operation schema = Operations.system().find(op.type());
        return schema == null || schema.refusal(op, state.ranks()) != null || keepsSteps(block, index)
                ? null
                : ControlOperation.of(block, index, reads, writes);
    }

    /** Returns whether an operation reads what a branch or loop has computed in its steps. */
    boolean keepsSteps(Block block, int index) {
        return instructions.keepsSteps(block.ops().get(index));
    }

    Tensor randomKey(Block block, int index) {
        OpDesc op = block.ops().get(index);
        if (!Operations.system().get(op.type()).effects().contains(Effect.RANDOM)) {
            return NO_KEY;
        }
        // The seed of dropout is ignored if its attribute fix_seed is false.
        boolean ignored = op.attribute("fix_seed") instanceof Attribute.Bool(boolean fixed) && !fixed;
        long seed = !ignored && op.attribute("seed") instanceof Attribute.Int(int value) ? value : 0;
        if (seed != 0) {
            return Tensor.of(new long[]{seed, 0}, 2);
        }
        long place = ((long) block.index() << 32) + index;
        // Steps of a loop draw different numbers, and so do runs.
        long draw = state.run() + ((long) state.draws().merge(place, 1, Integer::sum) << 40);
        return Tensor.of(new long[]{state.program().randomSeed() + 0x9E3779B97F4A7C15L * (1 + place), draw}, 2);
    }

    private static final Tensor NO_KEY = Tensor.of(new long[2], 2);
}
