package io.seriatim.graph.interpret;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;

/**
 * Runs the operations that are not lowered to computations: feed and fetch, control flow, tensor lists, files,
 * communication.
 */
final class Instructions {
    private final RunState state;
    private final ControlInstructions control;
    private final RecurrentInstructions recurrence;

    Instructions(RunState state, BlockRunner blocks) {
        this.state = state;
        this.control = new ControlInstructions(state.program(), blocks, state.facts());
        this.recurrence = new RecurrentInstructions(state.program(), blocks, control);
    }

    void run(OpDesc op, Block block, Environment environment) {
        Operation schema = Operations.system().find(op.type());
        String refusal = schema == null ? null : schema.refusal(op, state.ranks());
        if (refusal != null) {
            throw new IllegalArgumentException("Operation '" + op.type() + "' cannot be run: " + refusal);
        }
        switch (op.type()) {
            case "feed" -> requireFed(op);
            case "fetch", "fetch_v2" -> fetch(op, environment);
            case "read" -> read(op);
            case "save", "load", "save_combine", "load_combine" ->
                FileInstructions.run(op, block, environment, state.files());
            case "conditional_block" -> control.conditional(op, environment);
            case "conditional_block_grad" -> control.conditionalGradient(op, environment);
            case "while" -> control.loop(op, environment);
            case "while_grad" -> control.loopGradient(op, environment);
            case "select_input" -> control.selectInput(op, environment);
            case "select_output" -> control.selectOutput(op, environment);
            case "recurrent" -> recurrence.forward(op, environment);
            case "recurrent_grad" -> recurrence.gradient(op, environment);
            case "c_allreduce_sum", "c_broadcast", "c_allgather", "c_reducescatter", "c_sync_calc_stream",
                    "c_sync_comm_stream" ->
                Collective.run(op, environment, state.communicator());
            default -> {
                if (!TensorListInstructions.run(op, environment)) {
                    throw new IllegalArgumentException(
                            "Operation '" + op.type() + "' is one that the interpreter cannot run; run the program "
                                    + "with an Executor that knows it");
                }
            }
        }
    }

    /** Returns whether an operation reads what a branch or loop has computed in its steps. */
    boolean keepsSteps(OpDesc op) {
        return control.keepsSteps(op);
    }

    static Attrs attrs(OpDesc op) {
        return new Attrs(op, Operations.system().find(op.type()));
    }

    /** The values are there already: they are fed by name. */
    private void requireFed(OpDesc op) {
        for (String name : op.output("Out")) {
            if (!state.feeds().containsKey(name)) {
                throw new IllegalArgumentException(
                        "Variable '" + name + "' is not fed; the program needs it, and is fed "
                                + state.feeds().keySet());
            }
        }
    }

    private void read(OpDesc op) {
        if (!state.feeds().keySet().containsAll(op.output("Out"))) {
            throw new IllegalArgumentException(
                    "The interpreter has no readers; feed what the reader gives, " + op.output("Out")
                            + ", or run the program with an Executor that has the reader " + op.input("Reader"));
        }
    }

    private static void fetch(OpDesc op, Environment environment) {
        String list = op.output("Out").getFirst();
        int column = attrs(op).getInt("col");
        if (column < 0 || column > 100_000) {
            throw new IllegalArgumentException(
                    "The column of a fetched variable must be from 0 to 100000, but is " + column);
        }
        if (!(environment.here(list) instanceof TensorList)) {
            environment.setHere(list, new TensorList());
        }
        Object value = environment.get(op.input("X").getFirst());
        if (environment.here(list) instanceof TensorList fetched && value instanceof Tensor tensor) {
            VariableValues.put(fetched, column, VariableValues.copy(tensor));
        }
    }
}
