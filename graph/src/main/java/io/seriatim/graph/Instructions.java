package io.seriatim.graph;

/** Runs the operations that are no computations: feed and fetch, control flow, lists of tensors, files. */
final class Instructions {
    private final RunState state;
    private final BlockRunner blocks;

    Instructions(RunState state, BlockRunner blocks) {
        this.state = state;
        this.blocks = blocks;
    }

    void run(OpDesc op, Block block, Environment environment) {
        throw new IllegalArgumentException("Operation '" + op.type() + "' cannot be interpreted " + state + blocks + block + environment);
    }
}
