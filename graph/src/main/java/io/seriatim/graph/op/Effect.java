package io.seriatim.graph.op;

/**
 * What an operation does apart from writing its outputs. Operations that share an effect run in the order of the
 * program.
 */
public enum Effect {
    /** Draws random numbers; with attribute seed ≠ 0 the same at every run. */
    RANDOM,
    /** Takes part in communication: all devices must do it in one order. */
    COMMUNICATION,
    /** Takes the next element of a reader. */
    READER,
    /** Reads or writes files, prints, or stops the run. */
    HOST,
    /** Runs blocks of the program. */
    CONTROL
}
