package io.seriatim.executor;

import io.seriatim.executor.ir.EndOfBatches;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation {@code read}: its reader, and the types that the tensors of a batch must have.
 *
 * @param type
 *            the type of the operation
 * @param index
 *            the index of the operation in its block
 * @param name
 *            the variable that holds the reader
 * @param outputs
 *            the variables that receive the tensors of a batch
 * @param types
 *            the required types of these tensors; null if any type is accepted
 */
record ReadInstruction(String type, int index, String name, List<String> outputs,
        List<VarType.@Nullable TensorType> types) {
    static ReadInstruction of(OpDesc op, int index, Block block) {
        String name = op.input("Reader").getFirst();
        List<String> outputs = op.output("Out");
        List<VarType.@Nullable TensorType> types = new ArrayList<>();
        VarDesc reader = block.find(name);
        if (reader != null && reader.type() instanceof VarType.Reader(List<VarType.Dense> tensors)
                && tensors.size() == outputs.size()) {
            tensors.forEach(tensor -> types.add(tensor.tensor()));
        } else {
            // Some files declare types only for the output variables, not for the reader.
            for (String output : outputs) {
                VarDesc desc = block.find(output);
                types.add(desc == null ? null : desc.type().tensorType());
            }
        }
        return new ReadInstruction(op.type(), index, name, outputs, types);
    }

    /**
     * Takes a batch for a read operation within a block, such as the body of a loop.
     *
     * @param value
     *            the value of the reader's variable in the scope
     * @return a tensor for each variable of the slot {@code Out}
     * @throws EndOfBatches
     *             at the end of the data; the reader has been reset
     */
    static List<Tensor> next(OpDesc read, Block block, @Nullable Object value) throws Exception {
        ReadInstruction instruction = of(read, block.ops().indexOf(read), block);
        List<Reader.Outcome> outcomes = Reader.take(List.of(instruction.reader(value)));
        requireData(List.of(instruction), outcomes);
        return instruction.batch(outcomes.getFirst());
    }

    /** Throws {@link EndOfBatches} if one of the readers is at the end of its data. */
    static void requireData(List<ReadInstruction> reads, List<Reader.Outcome> outcomes) {
        int end = outcomes.indexOf(Reader.Outcome.Sign.END);
        if (end >= 0) {
            EndOfBatches thrown = new EndOfBatches(reads.get(end).name());
            for (Reader.Outcome outcome : outcomes) {
                if (outcome instanceof Reader.Outcome.Failed(Throwable cause)) {
                    thrown.addSuppressed(cause);
                }
            }
            throw thrown;
        }
    }

    Reader reader(@Nullable Object value) {
        if (value instanceof Reader reader) {
            return reader;
        }
        throw new IllegalArgumentException("Operation " + index + " (read, outputs " + outputs
                + ") takes batches from reader '" + name + "', but the scope has "
                + (value == null
                        ? "no variable of that name"
                        : "a " + value.getClass().getSimpleName() + " of that name")
                + ": set the reader with scope.set(\"" + name + "\", Reader.of(source)), or feed all of " + outputs);
    }

    /** Returns the tensors of a batch after checking their number, places and types. */
    List<Tensor> batch(Reader.Outcome outcome) throws Exception {
        return switch (outcome) {
            case Reader.Outcome.Batch(List<Tensor> tensors) -> checked(tensors);
            case Reader.Outcome.Failed(Exception e) -> throw e;
            case Reader.Outcome.Failed(Error e) -> throw e;
            case Reader.Outcome.Failed(Throwable e) -> throw new IllegalStateException("The source threw " + e, e);
            case Reader.Outcome.Sign sign -> throw new IllegalStateException(
                    "Reader '" + name + "' was closed while a run waited for its batch (" + sign
                            + "): close a reader after the runs that use it");
        };
    }

    private List<Tensor> checked(List<Tensor> batch) {
        if (batch.size() != outputs.size()) {
            throw new IllegalArgumentException(
                    "A batch of reader '" + name + "' must have " + outputs.size() + " tensors, for " + outputs
                            + ", but has " + batch.size());
        }
        for (int i = 0; i < batch.size(); i++) {
            VarType.TensorType type = types.get(i);
            Tensor tensor = batch.get(i);
            if (!tensor.place().isHost()) {
                throw new IllegalArgumentException(
                        "A batch of reader '" + name + "' must be in the host's memory, but tensor " + i + ", for '"
                                + outputs.get(i) + "', is at " + tensor.place());
            }
            if (type != null && !type.matches(tensor.spec())) {
                throw new IllegalArgumentException(
                        "Tensor " + i + " of a batch of reader '" + name + "', for '" + outputs.get(i) + "', must be "
                                + type + " (-1 matches any), but is " + tensor.spec());
            }
        }
        return batch;
    }
}
