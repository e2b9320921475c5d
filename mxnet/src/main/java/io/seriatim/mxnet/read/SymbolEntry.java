package io.seriatim.mxnet.read;

/**
 * An output of a node.
 *
 * @param node
 *            the node's index
 * @param output
 *            which of its outputs, from 0
 */
public record SymbolEntry(int node, int output) {
}
