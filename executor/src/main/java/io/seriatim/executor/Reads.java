package io.seriatim.executor;

import io.seriatim.executor.ir.EndOfBatches;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The read operations of a program's global block. A run takes all their batches before it executes any operation, as
 * if they were fed. So the shapes of batches select the plan, a run that reaches the end of the data has changed no
 * variable, and all readers advance together.
 *
 * @param instructions
 *            the operations, in program order
 */
record Reads(List<ReadInstruction> instructions) {
    /**
     * Returns the read operations of a block.
     *
     * @param fed
     *            the variables that the caller feeds; an operation whose outputs are all fed is skipped
     */
    static Reads of(Block block, Collection<String> fed) {
        List<ReadInstruction> instructions = new ArrayList<>();
        Set<String> written = new HashSet<>();
        for (int i = 0; i < block.ops().size(); i++) {
            OpDesc op = block.ops().get(i);
            if (ValueNumbering.isRead(op) && !fed.containsAll(op.output("Out"))) {
                for (String output : op.output("Out")) {
                    if (fed.contains(output)) {
                        throw new IllegalArgumentException(
                                "Operation " + i + " (read) writes " + op.output("Out") + ", of which '" + output
                                        + "' is fed: feed all of them to skip the reader, or none of them");
                    }
                    if (!written.add(output)) {
                        throw new IllegalArgumentException("Operation " + i + " (read) writes '" + output
                                + "', which an earlier read operation writes too: give each output a distinct name");
                    }
                }
                instructions.add(ReadInstruction.of(op, i, block));
            }
        }
        return new Reads(List.copyOf(instructions));
    }

    /**
     * The batches of a run.
     *
     * @param claim
     *            the claim, which must be given back if the run does not begin; null if no batch was taken
     * @param tensors
     *            the tensors by variable
     */
    record Taken(@Nullable BatchClaim claim, Map<String, Tensor> tensors) {
    }

    /**
     * Takes a batch from each reader, and waits for it. The caller must not hold a lock, since sources are user code.
     *
     * @param order
     *            assigns the turn of the run; null if the order of the runs does not matter
     * @throws EndOfBatches
     *             if a reader is at the end of its data; all readers restart at the next run
     * @throws ProgramFailedException
     *             if a source threw an exception, or if a batch does not match the types of the program
     */
    Taken take(Scope root, @Nullable RunOrder order) {
        if (instructions.isEmpty()) {
            return new Taken(null, Map.of());
        }
        List<Reader> readers = instructions.stream().map(each -> each.reader(root.value(each.name()))).toList();
        BatchClaim claim;
        try {
            claim = Reader.claim(readers, order);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(instructions.getFirst(),
                    "the thread was interrupted while it waited for a batch; the next run gets that batch", e);
        } catch (IllegalStateException e) {
            throw failure(instructions.getFirst(), String.valueOf(e.getMessage()), e);
        }
        Taken taken = null;
        try {
            taken = new Taken(claim, tensors(claim.outcomes()));
            return taken;
        } finally {
            if (taken == null) {
                claim.pass();
            }
        }
    }

    private Map<String, Tensor> tensors(List<Reader.Outcome> outcomes) {
        ReadInstruction.requireData(instructions, outcomes);
        Map<String, Tensor> batches = new LinkedHashMap<>();
        for (int i = 0; i < outcomes.size(); i++) {
            ReadInstruction instruction = instructions.get(i);
            List<Tensor> batch = batch(instruction, outcomes.get(i));
            for (int j = 0; j < batch.size(); j++) {
                batches.put(instruction.outputs().get(j), batch.get(j));
            }
        }
        return batches;
    }

    private static List<Tensor> batch(ReadInstruction instruction, Reader.Outcome outcome) {
        try {
            return instruction.batch(outcome);
        } catch (Exception e) {
            boolean source = outcome instanceof Reader.Outcome.Failed;
            throw failure(instruction,
                    source
                            ? "the source of reader '" + instruction.name() + "' threw " + e
                            : String.valueOf(e.getMessage()),
                    e);
        }
    }

    private static ProgramFailedException failure(ReadInstruction read, String why, Exception cause) {
        return new ProgramFailedException(read.type(),
                "Operation " + read.index() + " (read, outputs " + read.outputs() + ") failed: " + why, cause);
    }
}
