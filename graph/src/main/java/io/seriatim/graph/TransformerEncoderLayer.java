package io.seriatim.graph;

import org.jspecify.annotations.Nullable;

/**
 * A layer of a Transformer's encoder (Vaswani et al., 2017): attention and two linear layers, each with a residual and
 * a layer normalisation.
 */
public final class TransformerEncoderLayer implements Layer {
    private final Graph graph;
    private final double dropout;
    private final boolean normFirst;
    private final MultiHeadAttention attention;
    private final Layer widen;
    private final Layer narrow;
    private final Layer norm1;
    private final Layer norm2;

    TransformerEncoderLayer(Graph graph, long width, int heads, long hidden, double dropout, boolean normFirst) {
        this.graph = graph;
        this.dropout = dropout;
        this.normFirst = normFirst;
        this.attention = graph.layers().multiHeadAttention(width, heads, dropout);
        this.widen = graph.layers().linear(width, hidden);
        this.narrow = graph.layers().linear(hidden, width);
        this.norm1 = graph.layers().layerNorm(width);
        this.norm2 = graph.layers().layerNorm(width);
    }

    @Override
    public Value apply(Value x) {
        return apply(x, null);
    }

    /**
     * The layer with a mask.
     *
     * @param x
     *            [n, length, width]
     * @param mask
     *            is added to the scores of attention; broadcasts to [n, heads, length, length]; null for none
     * @return [n, length, width]
     */
    public Value apply(Value x, @Nullable Value mask) {
        Value before = normFirst ? norm1.apply(x) : x;
        Value attended = x.plus(graph.dropout(attention.apply(before, before, mask), dropout));
        Value between = normFirst ? attended : norm1.apply(attended);
        Value hidden = widen.apply(normFirst ? norm2.apply(between) : between).relu();
        Value result = between.plus(graph.dropout(narrow.apply(graph.dropout(hidden, dropout)), dropout));
        return normFirst ? result : norm2.apply(result);
    }
}
