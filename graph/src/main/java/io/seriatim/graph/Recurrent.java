package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.util.Ranges;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A recurrent layer (LSTM, GRU) over [n, length, in]. Copies with other settings are made before it is applied;
 * parameters are made when it is. Of one thread.
 */
public final class Recurrent implements Layer {
    private final Graph graph;
    private final String mode;
    private final long in;
    private final long hidden;
    private final int levels;
    private final boolean bidirectional;
    private final double dropout;
    private final List<Value> weights = new ArrayList<>();
    private String name = "";

    private Recurrent(Graph graph, String mode, long in, long hidden, int levels, boolean bidirectional,
            double dropout) {
        if (in < 1 || hidden < 1) {
            throw new IllegalArgumentException(
                    "The widths of a recurrent layer are at least 1, but are " + in + " and " + hidden);
        }
        this.graph = graph;
        this.mode = mode;
        this.in = in;
        this.hidden = hidden;
        this.levels = levels;
        this.bidirectional = bidirectional;
        this.dropout = dropout;
    }

    static Recurrent of(Graph graph, String mode, long in, long hidden) {
        return new Recurrent(graph, mode, in, hidden, 1, false, 0);
    }

    /**
     * Stacks several levels.
     *
     * @param value
     *            how many
     * @return a copy
     */
    public Recurrent levels(int value) {
        checkNotMade();
        if (value < 1) {
            throw new IllegalArgumentException("A recurrent layer has at least 1 level, but " + value);
        }
        return new Recurrent(graph, mode, in, hidden, value, bidirectional, dropout);
    }

    /**
     * Runs in both directions; the output has the results of both.
     *
     * @return a copy
     */
    public Recurrent bothWays() {
        checkNotMade();
        return new Recurrent(graph, mode, in, hidden, levels, true, dropout);
    }

    /**
     * Clears elements between levels.
     *
     * @param probability
     *            from 0 to 1
     * @return a copy
     */
    public Recurrent dropout(double probability) {
        checkNotMade();
        Ranges.probability("The probability of clearing an element", probability);
        return new Recurrent(graph, mode, in, hidden, levels, bidirectional, probability);
    }

    private void checkNotMade() {
        if (!weights.isEmpty()) {
            throw new IllegalStateException(
                    "The recurrent layer '" + name + "' has its parameters already; make settings before");
        }
    }

    /**
     * Makes the parameters now.
     *
     * @return this
     */
    public Recurrent make() {
        if (weights.isEmpty()) {
            make(graph.names().next(mode.toLowerCase(Locale.ROOT)));
        }
        return this;
    }

    /** All weights, then all biases, as the operation takes them. */
    private void make(String layer) {
        name = layer;
        int ways = bidirectional ? 2 : 1;
        long gates = mode.equals("LSTM") ? 4 : mode.equals("GRU") ? 3 : 1;
        double bound = 1 / Math.sqrt((double) hidden);
        Initializer even = Initializer.uniform(-bound, bound);
        List<Value> biases = new ArrayList<>();
        for (int level = 0; level < levels; level++) {
            for (int way = 0; way < ways; way++) {
                String cell = graph.names().next(mode.toLowerCase(Locale.ROOT) + "_cell");
                long width = level == 0 ? in : hidden * ways;
                weights.add(graph.parameter(cell + ".w", ParameterSpec.DEFAULT, even, DType.FLOAT32, gates * hidden,
                        width));
                weights.add(graph.parameter(cell + ".w", ParameterSpec.DEFAULT, even, DType.FLOAT32, gates * hidden,
                        hidden));
                biases.add(graph.parameter(cell + ".b", ParameterSpec.DEFAULT, even, DType.FLOAT32, gates * hidden));
                biases.add(graph.parameter(cell + ".b", ParameterSpec.DEFAULT, even, DType.FLOAT32, gates * hidden));
            }
        }
        weights.addAll(biases);
        // Paddle also declares one variable for the memory of all weights. No operation reads it, but Paddle's files
        // have it.
        long total = weights.stream().mapToLong(each -> each.shape().stream().reduce(1L, Math::multiplyExact)).sum();
        Value flat = graph.parameter(layer + ".w", ParameterSpec.DEFAULT, Initializer.constant(0), DType.FLOAT32,
                total);
        List<String> names = weights.stream().map(Value::name).toList();
        Appender.append(graph.startup().global(), OpDesc.of("coalesce_tensor").in("Input", names).out("Output", names)
                .out("FusedOutput", flat.name()).attr("copy_data", true).attr("use_align", false)
                .attr("dtype", DataTypes.number(DType.FLOAT32)).build(), Roles.FORWARD);
    }

    @Override
    public Value apply(Value x) {
        return apply(x, null).output();
    }

    /**
     * The results of a recurrent layer.
     *
     * @param output
     *            of all steps, [n, length, hidden], twice as wide if both ways
     * @param states
     *            the last hidden state, and for LSTM the last cell, each [levels · ways, n, hidden]
     */
    public record Result(Value output, List<Value> states) {
        /** Copies the list. */
        public Result {
            states = List.copyOf(states);
        }
    }

    /**
     * Over sequences of different lengths.
     *
     * @param x
     *            [n, length, in]
     * @param lengths
     *            int32 or int64 [n]: how many steps of each sequence count; null for all
     * @return outputs and last states
     */
    public Result apply(Value x, @Nullable Value lengths) {
        if (x.rank() != 3) {
            throw new IllegalArgumentException(
                    "A recurrent layer is for sequences [n, length, " + in + "], but '" + x.name() + "' is "
                            + x.type());
        }
        make();
        int states = mode.equals("LSTM") ? 2 : 1;
        List<Value> initial = new ArrayList<>();
        Value batch = x.shapeTensor().get(0, 0);
        for (int i = 0; i < states; i++) {
            initial.add(zeros(batch));
        }
        Value steps = x.transpose(1, 0, 2);
        GraphOp op = graph.op("rnn").call(name).in("Input", steps).in("PreState", initial).in("WeightList", weights)
                .attr("mode", mode).attr("num_layers", levels).attr("is_bidirec", bidirectional)
                .attr("input_size", Math.toIntExact(in))
                .attr("hidden_size", Math.toIntExact(hidden)).attr("dropout_prob", (float) dropout)
                .attr("is_test", false)
                .attr("seed", graph.seed());
        op.maybe("SequenceLength", lengths);
        List<Value> results = op.recurrent(name, states);
        return new Result(results.getFirst().transpose(1, 0, 2), results.subList(1, results.size()));
    }

    private Value zeros(Value batch) {
        graph.names().next("fill_constant");
        String name = graph.names().next("fill_constant");
        int rows = levels * (bidirectional ? 2 : 1);
        Value first = constant(rows);
        Value last = constant(hidden);
        return graph.op("fill_constant").call(name).in("ShapeTensorList", first, batch, last)
                .attr("shape", new long[]{rows, -1, hidden})
                .attr("dtype", DataTypes.number(DType.FLOAT32)).attr("value", 0f).attr("str_value", "0.0").one("Out");
    }

    private Value constant(long value) {
        graph.names().next("fill_constant");
        return graph.op("fill_constant").attr("shape", new long[0]).attr("dtype", DataTypes.number(DType.INT32))
                .attr("value", (float) value)
                .attr("str_value", Long.toString(value)).attr("force_cpu", true).one("Out");
    }
}
