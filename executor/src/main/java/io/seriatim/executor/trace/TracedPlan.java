package io.seriatim.executor.trace;

import java.util.List;

/**
 * What recordings need to know of a plan. Made once for each plan and the shapes it is specialised for, and given to
 * {@link RunRecorder#begin} at every run.
 *
 * @param name
 *            what people call the program
 * @param instructions
 *            by their index, in the order of the program
 * @param values
 *            what takes memory while the plan runs
 * @param arenaBytes
 *            the memory that was set aside for values before the run
 * @param parameterBytes
 *            the memory of what outlives the run
 */
public record TracedPlan(String name, List<Instruction> instructions, List<Value> values, long arenaBytes,
        long parameterBytes) {
    /**
     * Copies the lists. Fails if an instruction waits for itself or a later one, or if a value is of an instruction
     * that is not there.
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
     *            tells it from others of its type: the variable that it computes
     * @param type
     *            of its operation
     * @param provider
     *            the kernel library or kind of code that does the work
     * @param place
     *            where it runs
     * @param stream
     *            the stream of a device that it runs on, −1 for a thread
     * @param dependencies
     *            the earlier instructions that it waits for
     */
    public record Instruction(String name, String type, String provider, String place, int stream,
            List<Integer> dependencies) {
        /** Copies the list. */
        public Instruction {
            dependencies = List.copyOf(dependencies);
        }
    }

    /**
     * Memory that is taken when an instruction starts and given back when the last user ends.
     *
     * @param name
     *            the variable
     * @param bytes
     *            its size
     * @param computedBy
     *            the instruction that it begins with
     * @param usedBy
     *            the instructions that it must outlive
     * @param wanted
     *            whether it is fetched, and so lives to the end of the run
     */
    public record Value(String name, long bytes, int computedBy, List<Integer> usedBy, boolean wanted) {
        /** Copies the list. */
        public Value {
            usedBy = List.copyOf(usedBy);
        }
    }
}
