package io.seriatim.graph;

import io.seriatim.tensor.DType;
import java.util.List;

/** Losses and metrics that are more than one operation. */
final class Losses {
    private Losses() {
    }

    static Value softmaxCrossEntropy(Graph graph, Value logits, Value labels, boolean soft, int axis, int ignoreIndex) {
        boolean shorter = !soft && labels.rank() == logits.rank() - 1;
        Value wide = shorter ? labels.unsqueeze(axis) : labels;
        return graph.op("softmax_with_cross_entropy").in("Logits", logits).in("Label", wide).attr("soft_label", soft)
                .attr("ignore_index", ignoreIndex).attr("numeric_stable_mode", true).attr("axis", axis)
                .attr("use_softmax", true)
                .all("Softmax", "Loss").getLast();
    }

    static Value accuracy(Graph graph, Value scores, Value labels, int k) {
        List<Value> top = graph.op("top_k_v2").in("X", scores).attr("k", k).attr("sorted", false).all("Out", "Indices");
        String key = graph.names().next("accuracy");
        List<Value> results = graph.op("accuracy").call(key).in("Out", top.getFirst()).in("Indices", top.getLast())
                .in("Label", labels)
                .all("Accuracy", "Correct", "Total");
        assert results.getFirst().dtype() == DType.FLOAT32;
        return results.getFirst();
    }
}
