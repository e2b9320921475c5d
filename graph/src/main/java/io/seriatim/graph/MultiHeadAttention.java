package io.seriatim.graph;

import org.jspecify.annotations.Nullable;

/**
 * Attention with several heads (Vaswani et al., 2017): softmax(q·kᵀ/√d + mask)·v for each head, between linear layers.
 */
public final class MultiHeadAttention implements Layer {
    private final Graph graph;
    private final int heads;
    private final long width;
    private final double dropout;
    private final Layer query;
    private final Layer key;
    private final Layer value;
    private final Layer out;

    MultiHeadAttention(Graph graph, long width, int heads, double dropout) {
        if (heads < 1 || width < 1 || width % heads != 0) {
            throw new IllegalArgumentException(
                    "The width of attention must be a multiple of its heads, but is " + width + " of " + heads);
        }
        this.graph = graph;
        this.width = width;
        this.heads = heads;
        this.dropout = dropout;
        this.query = graph.layers().linear(width, width);
        this.key = graph.layers().linear(width, width);
        this.value = graph.layers().linear(width, width);
        this.out = graph.layers().linear(width, width);
    }

    /**
     * Attention of a sequence to itself.
     *
     * @param x
     *            [n, length, width]
     * @return [n, length, width]
     */
    @Override
    public Value apply(Value x) {
        return apply(x, x, null);
    }

    /**
     * Attention.
     *
     * @param queries
     *            [n, length, width]
     * @param memory
     *            what is attended to, [n, other length, width]
     * @param mask
     *            is added to the scores before the softmax; broadcasts to [n, heads, length, other length]; null for
     *            none
     * @return [n, length, width]
     */
    public Value apply(Value queries, Value memory, @Nullable Value mask) {
        checkRank(queries);
        checkRank(memory);
        Value q = split(query.apply(queries));
        Value k0 = key.apply(memory);
        Value v0 = value.apply(memory);
        Value k = split(k0);
        Value v = split(v0);
        Value scaled = q.times(1 / Math.sqrt((double) width / heads));
        Value scores = scaled.matmul(k, false, true);
        Value masked = mask == null ? scores : scores.plus(mask);
        Value weights = graph.dropout(masked.softmax(-1), dropout);
        Value mixed = weights.matmul(v).transpose(0, 2, 1, 3);
        return out.apply(mixed.reshape(0, 0, Math.toIntExact(width)));
    }

    private static void checkRank(Value sequences) {
        if (sequences.rank() != 3) {
            throw new IllegalArgumentException(
                    "Attention is for sequences [n, length, width], but '" + sequences.name() + "' is "
                            + sequences.type());
        }
    }

    private Value split(Value x) {
        return x.reshape(0, 0, heads, Math.toIntExact(width / heads)).transpose(0, 2, 1, 3);
    }
}
