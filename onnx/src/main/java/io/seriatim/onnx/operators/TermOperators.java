package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import java.util.List;

/** Counts of words. */
public final class TermOperators {
    private TermOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("TfIdfVectorizer", TermOperators::count);
    }

    private static Ref count(Node node) {
        if (node.hasAttribute("pool_strings")) {
            throw node.error("counts words that are texts, which are not supported; give them numbers");
        }
        List<Float> given = node.reals("weights");
        float[] weights = new float[given == null ? 0 : given.size()];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = given == null ? 0 : given.get(i);
        }
        return node.op("onnx_tfidf").in("X", node.input(0)).attr("least", node.integer("min_gram_length", 1))
                .attr("most", node.integer("max_gram_length", 1)).attr("skips", node.integer("max_skip_count", 0))
                .attr("mode", node.text("mode", "TF")).attr("counts", numbers(node, "ngram_counts"))
                .attr("indexes", numbers(node, "ngram_indexes")).attr("pool", numbers(node, "pool_int64s"))
                .attr("weights", weights).out("Out");
    }

    private static long[] numbers(Node node, String name) {
        long[] numbers = node.integers(name);
        if (numbers == null) {
            throw node.error("needs the attribute '%s'", name);
        }
        return numbers;
    }
}
