package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.read.SymbolEntry;
import io.seriatim.mxnet.read.SymbolGraph;
import io.seriatim.mxnet.read.SymbolNode;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The number of dimensions and the type of elements of a network's inputs. Files rarely say them; they follow from the
 * parameters and from the operators, in both directions.
 */
final class InputTypes {
    private static final int MOST_PASSES = 32;
    private static final Set<String> ALIKE = Set.of("add_n", "ElementWiseSum", "Concat", "concat", "batch_dot", "where",
            "_rnn_param_concat", "broadcast_like");
    /** Operators whose result is like their first input. */
    private static final Set<String> FIRST = Set.of("Activation", "LeakyReLU", "BatchNorm", "BatchNorm_v1",
            "InstanceNorm", "LayerNorm", "GroupNorm", "L2Normalization", "LRN", "Pooling", "Pooling_v1",
            "UpSampling", "Dropout", "softmax", "log_softmax", "softmin", "SoftmaxActivation", "SoftmaxOutput",
            "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput", "clip", "slice",
            "slice_axis", "slice_like", "reverse", "flip", "Pad", "pad", "SequenceMask", "SequenceReverse",
            "SwapAxis", "swapaxes", "Convolution", "Deconvolution", "_contrib_BilinearResize2D", "Crop", "sort",
            "_contrib_AdaptiveAvgPooling2D", "zeros_like", "ones_like", "_copy", "identity", "BlockGrad", "MakeLoss",
            "make_loss", "relu", "sigmoid", "tanh", "abs", "exp", "log", "sqrt", "square", "negative", "softsign",
            "erf", "hard_sigmoid", "smooth_l1", "rsqrt", "reciprocal", "_contrib_div_sqrt_dim");
    private static final Set<String> IMAGES = Set.of("UpSampling", "_contrib_BilinearResize2D", "LRN", "Crop",
            "_contrib_AdaptiveAvgPooling2D", "_contrib_MultiBoxPrior", "space_to_depth", "depth_to_space",
            "BilinearSampler", "SpatialTransformer", "ROIPooling", "_contrib_ROIAlign", "_contrib_PSROIPooling");
    /** Operators whose second input has a row for each region. */
    private static final Set<String> REGIONS = Set.of("ROIPooling", "_contrib_ROIAlign", "_contrib_PSROIPooling");
    private static final Set<String> WINDOWS = Set.of("Convolution", "Deconvolution", "Pooling", "Pooling_v1",
            "Convolution_v1", "_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution");
    private static final Set<String> REDUCTIONS = Set.of("sum", "mean", "max", "min", "prod", "norm", "argmax",
            "argmin");

    /** The usual numbers of dimensions of the first inputs of operators: the surest first. */
    private static final List<Map<String, Integer>> LIKELY = List.of(
            Map.of("SliceChannel", 3, "split", 3, "batch_dot", 3, "SequenceMask", 3, "SequenceReverse", 3,
                    "SequenceLast", 3, "RNN", 3),
            Map.of("FullyConnected", 3), Map.of("FullyConnected", 2), Map.of("LayerNorm", 3, "Embedding", 2));
    /** Operators of two inputs whose numbers of dimensions are not those of the result. */
    private static final Set<String> DIFFERENT = Set.of("_np_dot", "_npi_tensordot", "_npi_tensordot_int_axes",
            "_npi_stack", "_npi_vstack", "_npi_hstack", "_npi_dstack", "_npi_column_stack", "_npi_einsum",
            "_npi_where_lscalar", "_npi_where_rscalar");

    private final Map<SymbolEntry, Integer> ranks = new HashMap<>();
    private final Map<SymbolEntry, Integer> certain = new HashMap<>();
    private final Map<SymbolEntry, DType> dtypes = new HashMap<>();
    private boolean changed;

    InputTypes(SymbolGraph graph, Map<String, Tensor> parameters) {
        for (SymbolNode node : graph.nodes()) {
            Tensor tensor = node.isVariable() ? parameters.get(node.name()) : null;
            if (tensor != null) {
                ranks.put(out(node), tensor.shape().rank());
                dtypes.put(out(node), tensor.dtype());
            } else if (node.isVariable()) {
                if (declared(node).length > 0) {
                    ranks.put(out(node), declared(node).length);
                }
                DType dtype = declaredType(node);
                if (dtype != null) {
                    dtypes.put(out(node), dtype);
                }
            }
        }
        propagate(graph);
        certain.putAll(ranks);
        for (Map<String, Integer> likely : LIKELY) {
            for (SymbolNode node : graph.nodes()) {
                assume(node, likely);
            }
            propagate(graph);
        }
    }

    private void propagate(SymbolGraph graph) {
        int passes = 0;
        do {
            changed = false;
            graph.nodes().forEach(this::checked);
            graph.nodes().reversed().forEach(this::checked);
        } while (changed && ++passes < MOST_PASSES);
    }

    /** Where nothing follows, most networks give these operators so many dimensions. */
    private void assume(SymbolNode node, Map<String, Integer> likely) {
        Integer rank = likely.get(node.operator());
        if (rank == null || node.inputs().isEmpty()) {
            return;
        }
        AttributeMap attributes = new AttributeMap(node.attributes());
        boolean applies = switch (node.operator()) {
            case "FullyConnected" -> attributes.flag("flatten", true) == (rank == 2);
            case "SliceChannel", "split" -> attributes.flag("squeeze_axis", false);
            default -> true;
        };
        if (applies) {
            rank(node.inputs().getFirst(), rank);
        }
    }

    /** The dimensions that the file gives a variable; none if it gives none. */
    static int[] declared(SymbolNode node) {
        try {
            return new AttributeMap(node.attributes()).integers("__shape__");
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(node + ": " + e.getMessage(), e);
        }
    }

    /** The type of elements that the file gives a variable; null if it gives none, which may be written as −1. */
    private static @Nullable DType declaredType(SymbolNode node) {
        try {
            AttributeMap attributes = new AttributeMap(node.attributes());
            return attributes.text("__dtype__", "-1").equals("-1")
                    ? null
                    : attributes.dtype("__dtype__", DType.FLOAT32);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(node + ": " + e.getMessage(), e);
        }
    }

    /** The number of dimensions; null if it does not follow. */
    @Nullable
    Integer rank(SymbolNode variable) {
        return certain.get(out(variable));
    }

    /** The number of dimensions of a first output; null if it does not follow. */
    @Nullable
    Integer rank(SymbolEntry entry) {
        return certain.get(entry);
    }

    /** The number of dimensions that a variable probably has; null if nothing speaks for one. */
    @Nullable
    Integer likelyRank(SymbolNode variable) {
        return ranks.get(out(variable));
    }

    /** The type of elements: float32 where nothing else follows. */
    DType dtype(SymbolNode variable) {
        return dtypes.getOrDefault(out(variable), DType.FLOAT32);
    }

    private static SymbolEntry out(SymbolNode node) {
        return new SymbolEntry(node.index(), 0);
    }

    private void checked(SymbolNode node) {
        try {
            relate(node);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(node + ": " + e.getMessage(), e);
        }
    }

    private void relate(SymbolNode node) {
        String type = node.operator();
        if (node.isVariable() || node.inputs().isEmpty()) {
            return;
        }
        AttributeMap attributes = new AttributeMap(node.attributes());
        SymbolEntry x = node.inputs().getFirst();
        if (IMAGES.contains(type)) {
            rank(x, 4);
        }
        if (WINDOWS.contains(type) && attributes.integers("kernel").length > 0
                && !attributes.flag("global_pool", false)) {
            rank(x, attributes.integers("kernel").length + 2);
        }
        if (REGIONS.contains(type) && node.inputs().size() > 1) {
            rank(node.inputs().get(1), 2);
        }
        if (type.startsWith("Sequence") && attributes.flag("use_sequence_length", false) && node.inputs().size() > 1) {
            rank(node.inputs().get(1), 1);
        }
        if (ALIKE.contains(type) || type.startsWith("broadcast_") || type.startsWith("elemwise_") || isPair(node)) {
            alike(node);
        } else if (FIRST.contains(type) || type.endsWith("_scalar")) {
            if (attributes.flag("use_length", false) && node.inputs().size() > 1) {
                shifted(x, node.inputs().get(1), -1);
                whole(node.inputs().get(1));
            }
            shifted(x, out(node), 0);
            same(x, out(node));
        } else {
            relateOther(node, attributes, x);
        }
        if (WINDOWS.contains(type) || type.equals("FullyConnected") || type.equals("RNN")) {
            node.inputs().stream().limit(4).forEach(each -> same(each, x));
        }
    }

    /** Operators of Python's signs, of two operands. */
    private static boolean isPair(SymbolNode node) {
        return node.inputs().size() == 2 && node.operator().startsWith("_") && !node.operator().startsWith("_contrib")
                && !DIFFERENT.contains(node.operator());
    }

    private void alike(SymbolNode node) {
        boolean comparesBy = node.operator().equals("where");
        for (SymbolEntry each : node.inputs()) {
            shifted(each, out(node), 0);
            if (!comparesBy) {
                same(each, out(node));
            }
        }
    }

    private void relateOther(SymbolNode node, AttributeMap attributes, SymbolEntry x) {
        SymbolEntry y = out(node);
        switch (node.operator()) {
            case "RNN" -> {
                rank(x, 3);
                rank(y, 3);
                node.inputs().stream().skip(2).limit(attributes.text("mode", "").equals("lstm") ? 2 : 1)
                        .forEach(state -> rank(state, 3));
                if (attributes.flag("use_sequence_length", false)) {
                    rank(node.inputs().getLast(), 1);
                    whole(node.inputs().getLast());
                }
                same(x, y);
            }
            case "Embedding" -> {
                shifted(x, y, 1);
                if (node.inputs().size() > 1) {
                    same(node.inputs().get(1), y);
                }
            }
            case "FullyConnected" -> {
                if (attributes.flag("flatten", true)) {
                    rank(y, 2);
                } else {
                    shifted(x, y, 0);
                }
                same(x, y);
            }
            case "Flatten", "flatten" -> {
                rank(y, 2);
                same(x, y);
            }
            case "expand_dims" -> {
                shifted(x, y, 1);
                same(x, y);
            }
            case "SequenceLast" -> {
                shifted(x, y, -1);
                same(x, y);
            }
            case "SliceChannel", "split" -> {
                shifted(x, y, attributes.flag("squeeze_axis", false) ? -1 : 0);
                same(x, y);
            }
            case "transpose", "_np_transpose" -> {
                if (attributes.integers("axes").length > 0) {
                    rank(x, attributes.integers("axes").length);
                }
                shifted(x, y, 0);
                same(x, y);
            }
            case "Reshape", "reshape" -> {
                reshaped(attributes.integers("shape"), x, y);
                same(x, y);
            }
            case "batch_take" -> {
                rank(x, 2);
                if (node.inputs().size() > 1) {
                    rank(node.inputs().get(1), 1);
                    whole(node.inputs().get(1));
                }
            }
            case "_contrib_box_decode" -> {
                node.inputs().forEach(each -> rank(each, 3));
                rank(y, 3);
                same(x, y);
            }
            case "_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution" -> {
                node.inputs().stream().limit(4).forEach(each -> same(each, x));
                shifted(x, y, 0);
                same(x, y);
            }
            case "_contrib_MultiBoxDetection" -> {
                rank(x, 3);
                if (node.inputs().size() > 1) {
                    rank(node.inputs().get(1), 2);
                }
            }
            default -> {
                if (REDUCTIONS.contains(node.operator()) && attributes.has("axis")
                        && !attributes.flag("exclude", false) && attributes.integers("axis").length > 0) {
                    shifted(x, y, attributes.flag("keepdims", false) ? 0 : -attributes.integers("axis").length);
                }
            }
        }
    }

    private void reshaped(int[] codes, SymbolEntry x, SymbolEntry y) {
        int count = 0;
        int copied = 0;
        boolean copiesOnly = true;
        for (int i = 0; i < codes.length; i++) {
            if (codes[i] == -2) {
                return;
            }
            boolean splits = codes[i] == -4;
            count += splits ? 2 : 1;
            copied += codes[i] == -3 ? 2 : 1;
            copiesOnly &= splits || codes[i] == 0 || codes[i] == -3;
            i += splits ? 2 : 0;
        }
        rank(y, count);
        if (copiesOnly) {
            rank(x, copied);
        }
    }

    private void whole(SymbolEntry entry) {
        dtypes.putIfAbsent(entry, DType.INT32);
    }

    private void rank(SymbolEntry entry, int rank) {
        if (rank > 0 && ranks.putIfAbsent(entry, rank) == null) {
            changed = true;
        }
    }

    /** The second has a number of dimensions more than the first. */
    private void shifted(SymbolEntry x, SymbolEntry y, int more) {
        Integer left = ranks.get(x);
        Integer right = ranks.get(y);
        if (left != null && right == null) {
            rank(y, left + more);
        } else if (right != null && left == null) {
            rank(x, right - more);
        }
    }

    private void same(SymbolEntry x, SymbolEntry y) {
        DType left = dtypes.get(x);
        DType right = dtypes.get(y);
        if (left != null && right == null) {
            dtypes.put(y, left);
            changed = true;
        } else if (right != null && left == null) {
            dtypes.put(x, right);
            changed = true;
        }
    }
}
