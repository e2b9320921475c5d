package io.seriatim.mxnet.read;

import java.util.List;

/**
 * A symbol as its file describes it.
 *
 * @param source
 *            the file's name, for messages
 * @param version
 *            the version of MXNet that wrote it, for instance 10901 for 1.9.1; 800 if the file does not say
 * @param nodes
 *            each behind those that it reads
 * @param heads
 *            the outputs, in order
 */
public record SymbolGraph(String source, long version, List<SymbolNode> nodes, List<SymbolEntry> heads) {
    /** Copies the lists. */
    public SymbolGraph {
        nodes = List.copyOf(nodes);
        heads = List.copyOf(heads);
    }
}
