package io.seriatim.executor.trace;

import java.util.List;

/**
 * The description of a compiled plan for recordings. It is created once for each compiled plan and passed to {@link
 * RunRecorder#begin} at every run.
 *
 * @param name
 *            the display name of the program
 * @param instructions
 *            the instructions, in the order of the program
 * @param values
 *            the values that occupy memory while the plan runs
 * @param arenaBytes
 *            the size of the arenas that hold planned values, in bytes
 * @param parameterBytes
 *            the size of the values that outlive the run, in bytes
 */
public record TracedPlan(String name, List<Instruction> instructions, List<Value> values, long arenaBytes,
        long parameterBytes) {
    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException
     *             if an instruction depends on itself or a later instruction, or if a value names an instruction that
     *             does not exist
     */
    public TracedPlan {
        instructions = List.copyOf(instructions);
        values = List.copyOf(values);
        for (int i = 0; i < instructions.size(); i++) {
            for (int dependency : instructions.get(i).dependencies()) {
                if (dependency < 0 || dependency >= i) {
                    throw new IllegalArgumentException("Instruction " + i + " (" + instructions.get(i).type()
                            + ") must depend on earlier instructions, but depends on " + dependency);
                }
            }
        }
        for (Value value : values) {
            checkIndex(value, value.computedBy(), instructions.size());
            for (int user : value.usedBy()) {
                checkIndex(value, user, instructions.size());
            }
        }
    }

    private static void checkIndex(Value value, int instruction, int count) {
        if (instruction < 0 || instruction >= count) {
            throw new IllegalArgumentException(
                    "Value '" + value.name() + "' names instruction " + instruction + ", but there are " + count);
        }
    }

    /**
     * An instruction.
     *
     * @param name
     *            the variable that it computes, which distinguishes instructions of the same type
     * @param type
     *            the type of its operation
     * @param provider
     *            the kernel library, or the kind of code, that executes it
     * @param place
     *            the place at which it runs
     * @param stream
     *            the index of the stream on its device; −1 if a thread runs it
     * @param dependencies
     *            the indices of the earlier instructions that it waits for
     */
    public record Instruction(String name, String type, String provider, String place, int stream,
            List<Integer> dependencies) {
        /** Copies the list. */
        public Instruction {
            dependencies = List.copyOf(dependencies);
        }
    }

    /**
     * A value whose memory is occupied from the start of an instruction to the end of its last user.
     *
     * @param name
     *            the variable
     * @param bytes
     *            its size in bytes
     * @param computedBy
     *            the index of the instruction that computes it
     * @param usedBy
     *            the indices of the instructions that use it
     * @param wanted
     *            whether it is fetched and therefore lives to the end of the run
     */
    public record Value(String name, long bytes, int computedBy, List<Integer> usedBy, boolean wanted) {
        /** Copies the list. */
        public Value {
            usedBy = List.copyOf(usedBy);
        }
    }
}
