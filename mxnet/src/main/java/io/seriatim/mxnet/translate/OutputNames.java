package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.read.SymbolNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The names that MXNet gives to outputs: the node's, and a suffix. */
final class OutputNames {
    /** The suffixes of operators that list them. */
    private static final Map<String, List<String>> LISTED = Map.of("RNN",
            List.of("output", "state_output", "statecell_output"), "BatchNorm", List.of("output", "mean", "var"),
            "_contrib_SyncBatchNorm", List.of("output", "mean", "var"), "Dropout", List.of("output", "mask"),
            "make_loss", List.of("loss"), "_npi_std", List.of("std"), "_npi_var", List.of("var"), "_npi_concatenate",
            List.of("out"));
    /** Operators of mx.np whose only output is called out. */
    private static final Set<String> OUT = Set.of("_npi_hstack", "_npi_dstack", "_npi_matmul");
    /** Operators with hidden outputs and no list: their suffixes have numbers. */
    private static final Set<String> NUMBERED = Set.of("sort", "_contrib_box_nms", "SliceChannel", "split",
            "_contrib_box_non_maximum_suppression", "_npi_norm", "_npi_average",
            "_linalg_det");

    private OutputNames() {
    }

    static List<String> of(SymbolNode node, int count) {
        List<String> listed = LISTED.getOrDefault(node.operator(), List.of());
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String suffix = i < listed.size()
                    ? listed.get(i)
                    : OUT.contains(node.operator()) ? "out" : count > 1 || isNumbered(node) ? "output" + i : "output";
            names.add(node.name().isEmpty() ? suffix : node.name() + "_" + suffix);
        }
        return names;
    }

    private static boolean isNumbered(SymbolNode node) {
        return NUMBERED.contains(node.operator())
                || (node.operator().equals("topk") && "value".equals(node.attributes().get("ret_typ")));
    }
}
