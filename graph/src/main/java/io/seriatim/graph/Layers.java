package io.seriatim.graph;

import io.seriatim.graph.util.Ranges;
import io.seriatim.tensor.DType;
import org.jspecify.annotations.Nullable;

/**
 * Makes layers. A layer's parameters are float32 and get the names that Paddle would give them, in the order in which
 * layers are made. Sizes are at least 1. The input of a layer is float32 and has the dimensions that the layer was made
 * for; otherwise an {@link IllegalArgumentException} names the operation and the shapes.
 */
public final class Layers {
    private final Graph graph;

    Layers(Graph graph) {
        this.graph = graph;
    }

    /**
     * A fully connected layer with bias.
     *
     * @param in
     *            the last dimension of what goes in
     * @param out
     *            of what comes out
     * @return the layer
     */
    public Layer linear(long in, long out) {
        return linear(in, out, ParameterSpec.DEFAULT, ParameterSpec.DEFAULT);
    }

    /**
     * A fully connected layer: x·W + b.
     *
     * @param in
     *            the last dimension of what goes in
     * @param out
     *            of what comes out
     * @param weights
     *            W [in, out]; Xavier's uniform initializer unless given
     * @param bias
     *            b [out], 0 unless given; null for none
     * @return the layer
     */
    public Layer linear(long in, long out, ParameterSpec weights, @Nullable ParameterSpec bias) {
        String name = graph.names().next("linear");
        Value w = graph.parameter(name + ".w", weights, Initializer.xavier(), DType.FLOAT32, in, out);
        Value b = bias == null ? null : graph.parameter(name + ".b", bias, Initializer.constant(0), DType.FLOAT32, out);
        return x -> {
            String call = graph.names().next("linear");
            Value product = graph.op("matmul_v2").call(call).in("X", x).in("Y", w).attr("trans_x", false)
                    .attr("trans_y", false).one("Out");
            return b == null
                    ? product
                    : graph.op("elementwise_add").call(call).in("X", product).in("Y", b).attr("axis", -1).one("Out");
        };
    }

    /**
     * A convolution of images.
     *
     * @param channels
     *            of what goes in
     * @param filters
     *            channels of what comes out
     * @param kernel
     *            height and width of the kernel
     * @return the layer, with stride 1, without padding, with bias
     */
    public Conv2d conv2d(long channels, long filters, int kernel) {
        return new Conv2d(graph, channels, filters, kernel);
    }

    /**
     * A transposed convolution of images, with bias.
     *
     * @param channels
     *            of what goes in
     * @param filters
     *            channels of what comes out
     * @param kernel
     *            height and width of the kernel
     * @param stride
     *            how far the results of neighbours lie apart
     * @param padding
     *            what is cut off at each border
     * @return the layer
     */
    public Layer conv2dTranspose(long channels, long filters, int kernel, int stride, int padding) {
        String name = graph.names().next("conv2d_transpose");
        double deviation = 1 / Math.sqrt((double) channels * kernel * kernel);
        Value w = graph.parameter(name + ".w", ParameterSpec.DEFAULT, Initializer.uniform(-deviation, deviation),
                DType.FLOAT32, channels,
                filters, kernel, kernel);
        Value b = graph.parameter(name + ".b", ParameterSpec.DEFAULT, Initializer.constant(0), DType.FLOAT32, filters);
        return x -> {
            String call = graph.names().next("conv2d_transpose");
            Value y = graph.op("conv2d_transpose").call(call).in("Input", x).in("Filter", w)
                    .attr("strides", new int[]{stride, stride})
                    .attr("paddings", new int[]{padding, padding}).one("Output");
            return Conv2d.withBias(graph, call, y, b, filters);
        };
    }

    /**
     * Rows of a table, with a dense gradient.
     *
     * @param rows
     *            how many
     * @param width
     *            of each
     * @return the layer; it takes int32 or int64 indexes
     */
    public Layer embedding(long rows, long width) {
        return embedding(rows, width, false, -1, ParameterSpec.DEFAULT);
    }

    /**
     * Rows of a table.
     *
     * @param rows
     *            how many
     * @param width
     *            of each
     * @param sparse
     *            whether the gradient has only the rows that were taken
     * @param padding
     *            an index below rows, whose row is zeros and is not trained; −1 for none
     * @param weights
     *            the table [rows, width]
     * @return the layer; it takes int32 or int64 indexes
     */
    public Layer embedding(long rows, long width, boolean sparse, long padding, ParameterSpec weights) {
        if (padding < -1 || padding >= rows) {
            throw new IllegalArgumentException(
                    "The padding index of an embedding of " + rows + " rows is one of them, or -1 for none, but is "
                            + padding);
        }
        String name = graph.names().next("embedding");
        Value w = graph.parameter(name + ".w", weights, Initializer.xavier(), DType.FLOAT32, rows, width);
        return ids -> graph.op("lookup_table_v2").key("embedding").in("Ids", ids).in("W", w)
                .attr("padding_idx", padding)
                .attr("is_sparse", sparse).attr("is_distributed", false).attr("remote_prefetch", sparse).one("Out");
    }

    /**
     * Batch normalisation of each channel (Ioffe, Szegedy, 2015): in training by the batch, else by running statistics.
     *
     * @param channels
     *            the second dimension
     * @return the layer, with momentum 0.9 and ε 10⁻⁵
     */
    public Layer batchNorm(long channels) {
        return batchNorm(channels, 0.9, 1e-5);
    }

    /**
     * Batch normalisation of each channel: in training by the batch, else by running statistics.
     *
     * @param channels
     *            the second dimension
     * @param momentum
     *            how slowly running statistics change, from 0 to 1
     * @param epsilon
     *            is added to the variance, from 0 to 10⁻³
     * @return the layer
     */
    public Layer batchNorm(long channels, double momentum, double epsilon) {
        Ranges.probability("The momentum of batch normalisation", momentum);
        Ranges.notNegative("ε of batch normalisation", epsilon);
        String name = graph.names().next("batch_norm2d");
        Value scale = graph.parameter(name + ".w", ParameterSpec.DEFAULT, Initializer.constant(1), DType.FLOAT32,
                channels);
        Value bias = graph.parameter(name + ".b", ParameterSpec.DEFAULT, Initializer.constant(0), DType.FLOAT32,
                channels);
        ParameterSpec running = ParameterSpec.DEFAULT.frozen();
        Value mean = graph.parameter(name + ".w", running, Initializer.constant(0), DType.FLOAT32, channels);
        Value variance = graph.parameter(name + ".w", running, Initializer.constant(1), DType.FLOAT32, channels);
        return x -> graph.op("batch_norm").in("X", x).in("Scale", scale).in("Bias", bias).in("Mean", mean)
                .in("Variance", variance)
                .attr("momentum", (float) momentum).attr("epsilon", (float) epsilon).attr("is_test", false)
                .attr("data_layout", "NCHW")
                .attr("use_global_stats", false).attr("trainable_statistics", false).to("MeanOut", mean)
                .to("VarianceOut", variance)
                .stops("SavedMean", "SavedVariance", "ReserveSpace")
                .all("SavedMean", "SavedVariance", "Y", "ReserveSpace").get(2);
    }

    /**
     * Layer normalisation of the last dimension (Ba, Kiros, Hinton, 2016).
     *
     * @param width
     *            the last dimension
     * @return the layer, with ε 10⁻⁵
     */
    public Layer layerNorm(long width) {
        return layerNorm(width, 1e-5);
    }

    /**
     * Layer normalisation of the last dimension.
     *
     * @param width
     *            the last dimension
     * @param epsilon
     *            is added to the variance
     * @return the layer
     */
    public Layer layerNorm(long width, double epsilon) {
        Ranges.notNegative("ε of layer normalisation", epsilon);
        String name = graph.names().next("layer_norm");
        Value scale = graph.parameter(name + ".w", ParameterSpec.DEFAULT, Initializer.constant(1), DType.FLOAT32,
                width);
        Value bias = graph.parameter(name + ".b", ParameterSpec.DEFAULT, Initializer.constant(0), DType.FLOAT32, width);
        return x -> graph.op("layer_norm").in("X", x).in("Scale", scale).in("Bias", bias)
                .attr("epsilon", (float) epsilon)
                .attr("begin_norm_axis", x.rank() - 1).stops("Mean", "Variance").all("Mean", "Variance", "Y").getLast();
    }

    /**
     * Group normalisation (Wu, He, 2018).
     *
     * @param groups
     *            how many; a divisor of the channels
     * @param channels
     *            the second dimension
     * @return the layer
     */
    public Layer groupNorm(int groups, long channels) {
        String name = graph.names().next("group_norm");
        Value scale = graph.parameter(name + ".w", ParameterSpec.DEFAULT, Initializer.constant(1), DType.FLOAT32,
                channels);
        Value bias = graph.parameter(name + ".b", ParameterSpec.DEFAULT, Initializer.constant(0), DType.FLOAT32,
                channels);
        return x -> graph.op("group_norm").in("X", x).in("Scale", scale).in("Bias", bias).attr("epsilon", 1e-5f)
                .attr("groups", groups)
                .attr("data_layout", "NCHW").stops("Mean", "Variance").all("Mean", "Variance", "Y").getLast();
    }

    /**
     * Instance normalisation (Ulyanov et al., 2016): of each channel of each image.
     *
     * @param channels
     *            the second dimension
     * @return the layer
     */
    public Layer instanceNorm(long channels) {
        String name = graph.names().next("instance_norm2d");
        Value scale = graph.parameter(name + ".w", ParameterSpec.DEFAULT, Initializer.constant(1), DType.FLOAT32,
                channels);
        Value bias = graph.parameter(name + ".b", ParameterSpec.DEFAULT, Initializer.constant(0), DType.FLOAT32,
                channels);
        return x -> graph.op("instance_norm").in("X", x).in("Scale", scale).in("Bias", bias).attr("epsilon", 1e-5f)
                .all("SavedMean", "SavedVariance", "Y").getLast();
    }

    /**
     * A rectifier whose slope below 0 is trained (He et al., 2015).
     *
     * @return the layer, with one slope, 0.25 at first
     */
    public Layer prelu() {
        String name = graph.names().next("p_re_lu");
        Value alpha = graph.parameter(name + ".w", ParameterSpec.DEFAULT, Initializer.constant(0.25), DType.FLOAT32, 1);
        return x -> graph.op("prelu").in("X", x).in("Alpha", alpha).attr("mode", "all").attr("data_format", "NCHW")
                .one("Out");
    }

    /**
     * Attention with several heads (Vaswani et al., 2017).
     *
     * @param width
     *            of the model; a multiple of the heads
     * @param heads
     *            how many
     * @param dropout
     *            of the attention's weights, from 0 to 1
     * @return the layer
     */
    public MultiHeadAttention multiHeadAttention(long width, int heads, double dropout) {
        return new MultiHeadAttention(graph, width, heads, dropout);
    }

    /**
     * A layer of a Transformer's encoder (Vaswani et al., 2017): attention and two linear layers, each with a residual
     * and a layer normalisation.
     *
     * @param width
     *            of the model; a multiple of the heads
     * @param heads
     *            how many
     * @param hidden
     *            the width between the linear layers
     * @param dropout
     *            after each part, from 0 to 1
     * @param normFirst
     *            whether each part is normalised before, else after
     * @return the layer
     */
    public TransformerEncoderLayer transformerEncoderLayer(long width, int heads, long hidden, double dropout,
            boolean normFirst) {
        return new TransformerEncoderLayer(graph, width, heads, hidden, dropout, normFirst);
    }

    /**
     * Long short-term memory (Hochreiter, Schmidhuber, 1997).
     *
     * @param in
     *            the width of what goes in
     * @param hidden
     *            the width of the state
     * @return the layer, with one level, forwards
     */
    public Recurrent lstm(long in, long hidden) {
        return Recurrent.of(graph, "LSTM", in, hidden);
    }

    /**
     * Gated recurrent units (Cho et al., 2014).
     *
     * @param in
     *            the width of what goes in
     * @param hidden
     *            the width of the state
     * @return the layer, with one level, forwards
     */
    public Recurrent gru(long in, long hidden) {
        return Recurrent.of(graph, "GRU", in, hidden);
    }
}
