package io.seriatim.benchmarks.models;

/**
 * An operation that a system runs for a model.
 *
 * @param node
 *            the number of a node of the file that it computes, possibly with others; −1 if it is unknown
 * @param type
 *            what it is called
 * @param micros
 *            the time of a run
 */
record Operation(int node, String type, double micros) {
}
