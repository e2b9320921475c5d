package io.seriatim.train.model;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.Layer;
import io.seriatim.graph.MultiHeadAttention;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.train.Model;
import java.util.List;
import java.util.Map;

/**
 * A Transformer decoder over characters (Vaswani et al., 2017) with pre-normalisation (Xiong et al., 2020). At each
 * position of a text it predicts the next character.
 *
 * <p>
 * Its feeds are {@code tokens}, int64 [n, context], and {@code next}, int64 [n, context, 1], which holds the following
 * tokens. Its {@code logits} are [n, context, vocabulary]; the logits of a position depend only on the tokens up to
 * that position.
 *
 * @param vocabulary
 *            the number of characters, at least 2
 * @param context
 *            the number of positions, at least 1
 * @param width
 *            the width of the representation of a position, a multiple of the heads
 * @param heads
 *            the number of attention heads, at least 1
 * @param blocks
 *            the number of blocks of attention and two linear layers, at least 1
 */
public record CharacterTransformer(int vocabulary, int context, int width, int heads,
        int blocks) implements Architecture {
    private static final double MASKED = -1e9;
    private static final int WIDER = 4;
    private static final String TOKENS = "tokens";
    private static final String NEXT = "next";

    /**
     * Validates the sizes.
     *
     * @throws IllegalArgumentException
     *             if one is out of its range
     */
    public CharacterTransformer {
        if (vocabulary < 2 || context < 1 || width < 1 || heads < 1 || blocks < 1) {
            throw new IllegalArgumentException(
                    "A character transformer needs at least 2 characters, 1 position, width 1, 1 head and 1 block, "
                            + "but has "
                            + vocabulary + ", " + context + ", " + width + ", " + heads + " and " + blocks);
        }
        if (width % heads != 0) {
            throw new IllegalArgumentException(
                    "The width of a character transformer must be a multiple of its heads, but is " + width + " of "
                            + heads);
        }
    }

    /**
     * Returns a size that learns names in some minutes on two processors.
     *
     * @param vocabulary
     *            the number of characters, at least 2
     * @return the architecture
     */
    public static CharacterTransformer forNames(int vocabulary) {
        return new CharacterTransformer(vocabulary, 64, 96, 8, 2);
    }

    @Override
    public String name() {
        return "names";
    }

    @Override
    public Recipe recipe() {
        return Recipe.of(16, 5, 4e-3).withWarmUp(100).withClip(1).withDecay(0.1);
    }

    @Override
    public Model build(Recipe recipe, long steps) {
        return Training.model(name(), List.of(TOKENS, NEXT), recipe, steps, "characters", context, graph -> {
            Value tokens = graph.data(TOKENS, DType.INT64, -1, context);
            Value labels = graph.data(NEXT, DType.INT64, -1, context, 1);
            Value logits = logits(graph, tokens, recipe.dropout());
            Value loss = graph.softmaxCrossEntropy(logits, labels).mean();
            Value accuracy = graph.accuracy(logits.reshape(-1, vocabulary), labels.reshape(-1, 1), 1);
            return new Training("logits", logits, loss, Map.of("accuracy", accuracy));
        });
    }

    private Value logits(Graph graph, Value tokens, double dropout) {
        ParameterSpec small = ParameterSpec.of(Initializer.normal(0, 0.02));
        Value positions = graph.parameter(small, DType.FLOAT32, context, width);
        Value mask = graph.full(DType.FLOAT32, MASKED, context, context).triangle(false, 1);
        Layer embedding = graph.layers().embedding(vocabulary, width, false, -1, small);
        Value x = graph.dropout(embedding.apply(tokens).plus(positions), dropout);
        for (int i = 0; i < blocks; i++) {
            x = block(graph, x, mask, dropout);
        }
        return graph.layers().linear(width, vocabulary, small, ParameterSpec.DEFAULT).apply(graph.layerNorm(x));
    }

    private Value block(Graph graph, Value x, Value mask, double dropout) {
        MultiHeadAttention attention = graph.layers().multiHeadAttention(width, heads, 0);
        Value before = graph.layerNorm(x);
        Value attended = x.plus(graph.dropout(attention.apply(before, before, mask), dropout));
        Value hidden = graph.linear(graph.layerNorm(attended), (long) WIDER * width).relu();
        return attended.plus(graph.dropout(graph.linear(hidden, width), dropout));
    }
}
