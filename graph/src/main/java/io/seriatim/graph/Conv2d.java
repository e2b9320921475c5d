package io.seriatim.graph;

import io.seriatim.tensor.DType;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A convolution of images. Settings are made before it is applied first; its parameters are made at {@link #make}, or
 * when it is applied first. Of one thread.
 */
public final class Conv2d implements Layer {
    private final Graph graph;
    private final long channels;
    private final long filters;
    private final int kernel;
    private int stride = 1;
    private int padding;
    private int dilation = 1;
    private int groups = 1;
    private @Nullable ParameterSpec bias = ParameterSpec.DEFAULT;
    private ParameterSpec weights = ParameterSpec.DEFAULT;
    private @Nullable Value w;
    private @Nullable Value b;

    Conv2d(Graph graph, long channels, long filters, int kernel) {
        this.graph = graph;
        this.channels = channels;
        this.filters = filters;
        this.kernel = kernel;
    }

    private Conv2d set(Runnable setting) {
        if (w != null) {
            throw new IllegalStateException(
                    "The convolution of '" + w.name() + "' has its parameters already; make settings before");
        }
        setting.run();
        return this;
    }

    /**
     * The stride of the window.
     *
     * @param value
     *            in both dimensions, 1 unless set
     * @return this
     */
    public Conv2d stride(int value) {
        return set(() -> stride = value);
    }

    /**
     * Zeros at each border.
     *
     * @param value
     *            how many, 0 unless set
     * @return this
     */
    public Conv2d padding(int value) {
        return set(() -> padding = value);
    }

    /**
     * The dilation of the kernel.
     *
     * @param value
     *            in both dimensions, 1 unless set
     * @return this
     */
    public Conv2d dilation(int value) {
        return set(() -> dilation = value);
    }

    /**
     * The number of groups of channels that are convolved separately. With as many groups as channels the convolution
     * is depthwise.
     *
     * @param value
     *            a divisor of channels and filters, 1 unless set
     * @return this
     */
    public Conv2d groups(int value) {
        return set(() -> groups = value);
    }

    /**
     * Without bias.
     *
     * @return this
     */
    public Conv2d noBias() {
        return set(() -> bias = null);
    }

    /**
     * How the weights [filters, channels/groups, kernel, kernel] are made and trained.
     *
     * @param spec
     *            normal with deviation √(2/fan in) unless set
     * @return this
     */
    public Conv2d weights(ParameterSpec spec) {
        return set(() -> weights = spec);
    }

    /**
     * Makes the parameters now, so that layers get their names in the order in which they are made.
     *
     * @return this
     */
    public Conv2d make() {
        if (w == null) {
            if (groups < 1 || channels % groups != 0 || filters % groups != 0) {
                throw new IllegalArgumentException(
                        "The groups of a convolution are at least 1, and divide its channels and filters, but are "
                                + groups + " for " + channels + " and " + filters);
            }
            if (channels < 1 || filters < 1 || kernel < 1) {
                throw new IllegalArgumentException(
                        "Channels, filters and kernel of a convolution are known and at least 1, but are " + channels
                                + ", " + filters + " and " + kernel);
            }
            String name = graph.names().next("conv2d");
            double fan = (double) channels * kernel * kernel;
            w = graph.parameter(name + ".w", weights, Initializer.normal(0, Math.sqrt(2 / fan)), DType.FLOAT32, filters,
                    channels / groups,
                    kernel, kernel);
            ParameterSpec spec = bias;
            b = spec == null
                    ? null
                    : graph.parameter(name + ".b", spec, Initializer.constant(0), DType.FLOAT32, filters);
        }
        return this;
    }

    @Override
    public Value apply(Value x) {
        make();
        Value filter = Objects.requireNonNull(w, "made");
        String call = graph.names().next("conv2d");
        boolean depthwise = groups == channels && filters % channels == 0 && groups > 1;
        Value y = graph.op(depthwise ? "depthwise_conv2d" : "conv2d").call(call).in("Input", x).in("Filter", filter)
                .attr("strides", new int[]{stride, stride}).attr("paddings", new int[]{padding, padding})
                .attr("dilations", new int[]{dilation, dilation}).attr("groups", groups).attr("data_format", "NCHW")
                .attr("padding_algorithm", "EXPLICIT").one("Output");
        return b == null ? y : withBias(graph, call, y, b, filters);
    }

    static Value withBias(Graph graph, String call, Value y, Value bias, long filters) {
        Value wide = bias.reshape(1, Math.toIntExact(filters), 1, 1);
        return graph.op("elementwise_add").call(call).in("X", y).in("Y", wide).attr("axis", -1).one("Out");
    }
}
