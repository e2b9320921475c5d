package io.seriatim.graph.op;

/**
 * A reason why a program cannot be run, and the first operation to which it applies.
 *
 * @param kind
 *            what is wrong
 * @param type
 *            the operation's type
 * @param reason
 *            to follow the operation's name and a colon; empty if the type is not known
 * @param block
 *            the index of the block of the first such operation
 * @param index
 *            its place in the block
 * @param count
 *            how many operations of the type it applies to
 */
public record Problem(Kind kind, String type, String reason, int block, int index, int count) {
    /** What can be wrong with an operation. */
    public enum Kind {
        /** There is no schema of its type. */
        UNKNOWN,
        /** Its schema refuses its attributes, whatever the inputs. */
        REFUSED,
        /** Its attributes or slots do not fit the variables that the program declares. */
        MISFIT,
        /** It asks for a place that there is not. */
        PLACE
    }

    Problem again() {
        return new Problem(kind, type, reason, block, index, count + 1);
    }

    /**
     * Where it is.
     *
     * @return for instance {@code operation 3 of block 0, 2 in all}
     */
    public String place() {
        return "operation " + index + " of block " + block + (count > 1 ? ", " + count + " in all" : "");
    }
}
