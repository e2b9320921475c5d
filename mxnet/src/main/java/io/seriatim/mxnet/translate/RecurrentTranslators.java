package io.seriatim.mxnet.translate;

import io.seriatim.graph.program.DataTypes;
import io.seriatim.mxnet.read.SymbolNode;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The operator RNN: layers of LSTM, GRU or plain recurrent cells. MXNet has all weights in one vector: for each layer
 * and direction those of the input and of the state, then the biases in the same order. Paddle has the same tensors in
 * the same order, one by one.
 */
final class RecurrentTranslators {
    private RecurrentTranslators() {
    }

    static void register(Translators table) {
        table.many(RecurrentTranslators::recurrent, "RNN");
    }

    /** The sizes of a network. */
    private record Sizes(String mode, int layers, int directions, long hidden) {
        static Sizes of(NodeInputs node) {
            AttributeMap attributes = node.attributes();
            String mode = attributes.text("mode", "");
            if (!List.of("lstm", "gru", "rnn_tanh", "rnn_relu").contains(mode)) {
                throw attributes.wrong("mode", "lstm, gru, rnn_tanh or rnn_relu");
            }
            for (String unsupported : List.of("projection_size", "lstm_state_clip_min", "lstm_state_clip_max")) {
                if (attributes.has(unsupported)) {
                    throw attributes.wrong(unsupported, "None");
                }
            }
            int layers = attributes.integer("num_layers");
            int hidden = attributes.integer("state_size");
            if (layers < 1 || layers > 1 << 10 || hidden < 1) {
                throw attributes.wrong("num_layers", "from 1 to 1024, and 'state_size' from 1 on");
            }
            return new Sizes(mode, layers, attributes.flag("bidirectional", false) ? 2 : 1, hidden);
        }

        int states() {
            return mode.equals("lstm") ? 2 : 1;
        }

        int rows() {
            return layers * directions;
        }

        long gates() {
            return hidden * (mode.equals("lstm") ? 4 : mode.equals("gru") ? 3 : 1);
        }

        long width(int row, long input) {
            return row < directions ? input : hidden * directions;
        }

        /** The dimensions of all tensors, in order. */
        List<long[]> shapes(long input) {
            List<long[]> shapes = new ArrayList<>();
            for (int row = 0; row < rows(); row++) {
                shapes.add(new long[]{gates(), width(row, input)});
                shapes.add(new long[]{gates(), hidden});
            }
            for (int i = 0; i < 2 * rows(); i++) {
                shapes.add(new long[]{gates()});
            }
            return shapes;
        }

        /** The input's size that makes the vector as long as it is; −1 if none does. */
        long input(long total) {
            long others = shapes(0).stream().mapToLong(Sizes::size).sum();
            long each = directions * gates();
            return total < others || (total - others) % each != 0 ? -1 : (total - others) / each;
        }

        static long size(long[] dims) {
            long size = 1;
            for (long dim : dims) {
                size = Math.multiplyExact(size, dim);
            }
            return size;
        }

        /** The name of a tensor, as MXNet's cells name them. */
        String name(int place) {
            boolean bias = place >= 2 * rows();
            int row = place % (2 * rows()) / 2;
            String direction = directions == 2 && row % 2 == 1 ? "r" : "l";
            return direction + row / directions + (place % 2 == 0 ? "_i2h_" : "_h2h_") + (bias ? "bias" : "weight");
        }
    }

    private static List<String> recurrent(NodeInputs node) {
        Sizes sizes = Sizes.of(node);
        if (node.rank(node.in(0)) != 3) {
            throw node.unsupported("the input is [steps, batch, size], but has " + node.rank(node.in(0))
                    + " dimensions");
        }
        List<String> weights = weights(node, sizes);
        List<String> states = new ArrayList<>();
        for (int i = 0; i < sizes.states(); i++) {
            states.add(state(node, node.in(2 + i), sizes));
        }
        OpWriter op = node.op("rnn").in("Input", node.in(0)).in("PreState", states).in("WeightList", weights)
                .attr("is_bidirec", sizes.directions() == 2).attr("hidden_size", Math.toIntExact(sizes.hidden()))
                .attr("input_size", Math.toIntExact(node.dims(weights.getFirst())[1]))
                .attr("num_layers", sizes.layers()).attr("mode", sizes.mode().toUpperCase(Locale.ROOT))
                .attr("dropout_prob", (float) node.attributes().real("p", 0)).attr("is_test", true);
        if (node.attributes().flag("use_sequence_length", false)) {
            op.in("SequenceLength", node.ops().cast(node.in(2 + sizes.states()), DType.INT32));
        }
        op.declared("Reserve", 1, DType.UINT8);
        op.declared("DropoutState", 1, DType.UINT8);
        List<String> results = new ArrayList<>(
                op.declared("State", sizes.states(), node.dtype(node.in(0)), sizes.rows(), -1, sizes.hidden()));
        results.addFirst(op.one("Out"));
        return node.attributes().flag("state_outputs", false) ? results : results.subList(0, 1);
    }

    /** A state whose batch is not known is made as large as that of the input. */
    private static String state(NodeInputs node, String state, Sizes sizes) {
        long[] dims = node.openDims(state);
        if (dims == null) {
            return state;
        }
        double value = node.openValue(state);
        return node.op("fill_constant_batch_size_like").in("Input", node.in(0))
                .attr("shape", Ops.ints(sizes.rows(), -1, sizes.hidden())).attr("input_dim_idx", 1)
                .attr("output_dim_idx", 1).attr("dtype", DataTypes.number(node.dtype(node.in(0))))
                .attr("value", (float) value).one("Out");
    }

    private static List<String> weights(NodeInputs node, Sizes sizes) {
        List<String> pieces = pieces(node, sizes);
        if (pieces != null) {
            return pieces;
        }
        long[] dims = node.dims(node.in(1));
        long input = dims.length == 1 && dims[0] >= 0 ? sizes.input(dims[0]) : node.dims(node.in(0))[2];
        if (input < 1) {
            throw node.unsupported("the vector of weights must have as many elements as the layers need, but is "
                    + (dims.length == 1 ? dims[0] : dims.length + " dimensions") + " long");
        }
        Tensor vector = node.parameter(1);
        List<long[]> shapes = sizes.shapes(input);
        List<String> weights = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < shapes.size(); i++) {
            long end = Math.addExact(at, Sizes.size(shapes.get(i)));
            weights.add(vector == null
                    ? node.ops().reshape(node.ops().slice(node.in(1), 0, at, end), shapes.get(i))
                    : node.parameter(node.in(1) + "." + sizes.name(i), part(vector, at, shapes.get(i))));
            at = end;
        }
        return weights;
    }

    private static Tensor part(Tensor vector, long from, long[] dims) {
        Tensor part = Tensor.allocate(vector.dtype(), dims);
        long bytes = vector.dtype().bytes();
        part.declared().memory().copyFrom(vector.declared().memory().asSlice(from * bytes, Sizes.size(dims) * bytes));
        return part;
    }

    /** The tensors that the vector was joined from, if they are what is needed; else null. */
    private static @Nullable List<String> pieces(NodeInputs node, Sizes sizes) {
        SymbolNode joined = node.producer(1);
        if (!joined.operator().equals("_rnn_param_concat") && !joined.operator().equals("Concat")) {
            return null;
        }
        NodeInputs parts = node.inputsOf(joined);
        List<long[]> shapes = sizes.shapes(-1);
        if (parts.count() != shapes.size()) {
            return null;
        }
        List<String> pieces = new ArrayList<>();
        for (int i = 0; i < parts.count(); i++) {
            SymbolNode flattened = parts.producer(i);
            String piece = flattened.operator().equalsIgnoreCase("reshape")
                    ? node.inputsOf(flattened).in(0)
                    : parts.in(i);
            long[] dims = node.dims(piece);
            long[] wanted = shapes.get(i);
            for (int axis = 0; axis < wanted.length; axis++) {
                if (dims.length != wanted.length || (wanted[axis] >= 0 && dims[axis] != wanted[axis])) {
                    return null;
                }
            }
            pieces.add(piece);
        }
        return pieces;
    }
}
