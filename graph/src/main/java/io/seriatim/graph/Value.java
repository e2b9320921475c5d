package io.seriatim.graph;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.util.Ranges;
import io.seriatim.tensor.DType;

/**
 * A variable of a {@link Graph}. The methods that compute something add an operation to the graph and return its
 * result. Inputs that do not fit are refused by an {@link IllegalArgumentException} that names the operation, its slots
 * and their shapes.
 *
 * <p>
 * Numbers go into the program as float32: 0.1 is not exactly 0.1, not even for a float64 variable. For a variable of
 * whole numbers only numbers that are exact in float32 are accepted.
 */
public final class Value extends ValueIndexing {
    Value(Graph graph, String name) {
        super(graph, name);
    }

    @Override
    Value self() {
        return this;
    }

    private GraphOp poolOp(String kind, int[] kernel, int[] strides, int[] paddings) {
        return graph().op("pool2d").in("X", this).attr("pooling_type", kind).attr("ksize", kernel)
                .attr("strides", strides)
                .attr("paddings", paddings)
                .attr("global_pooling", false).attr("ceil_mode", false).attr("exclusive", true).attr("adaptive", false)
                .attr("data_format", "NCHW").attr("padding_algorithm", "EXPLICIT");
    }

    private Value pool(String kind, int kernel, int stride, int padding) {
        return poolOp(kind, new int[]{kernel, kernel}, new int[]{stride, stride}, new int[]{padding, padding})
                .attr("use_cudnn", true)
                .one("Out");
    }

    /**
     * The matrix product.
     *
     * @param other
     *            [..., k, n]
     * @return [..., m, n]
     */
    public Value matmul(Value other) {
        return matmul(other, false, false);
    }

    /**
     * The matrix product.
     *
     * @param other
     *            [..., k, n]
     * @param transposeThis
     *            whether the last two dimensions of this are exchanged
     * @param transposeOther
     *            whether those of the other are
     * @return [..., m, n]
     */
    public Value matmul(Value other, boolean transposeThis, boolean transposeOther) {
        return graph().op("matmul_v2").in("X", this).in("Y", other).attr("trans_x", transposeThis)
                .attr("trans_y", transposeOther).one("Out");
    }

    /**
     * The largest of each window.
     *
     * @param kernel
     *            height and width of the window
     * @param stride
     *            from one to the next
     * @param padding
     *            at each border
     * @return [n, channels, height', width']
     */
    public Value maxPool2d(int kernel, int stride, int padding) {
        return pool("max", kernel, stride, padding);
    }

    /**
     * The mean of each window, padding left out.
     *
     * @param kernel
     *            height and width of the window
     * @param stride
     *            from one to the next
     * @param padding
     *            at each border
     * @return [n, channels, height', width']
     */
    public Value averagePool2d(int kernel, int stride, int padding) {
        return pool("avg", kernel, stride, padding);
    }

    /**
     * The means of as many windows as asked for.
     *
     * @param height
     *            of the result
     * @param width
     *            of the result
     * @return [n, channels, height, width]
     */
    public Value adaptiveAveragePool2d(int height, int width) {
        return poolOp("avg", new int[]{height, width}, new int[]{1, 1}, new int[]{0, 0}).attr("adaptive", true)
                .one("Out");
    }

    /**
     * The mean of each channel.
     *
     * @return [n, channels, 1, 1]
     */
    public Value globalAveragePool2d() {
        return adaptiveAveragePool2d(1, 1);
    }

    /**
     * No gradient flows through this variable from now on.
     *
     * @return this
     */
    public Value stopGradient() {
        Block owner = graph().block().owner(name());
        if (owner != null) {
            owner.put(owner.get(name()).stopping(true));
            graph().flow().stop(name());
        }
        return this;
    }

    /**
     * A gradient flows through this variable from now on: what is fed has none otherwise.
     *
     * @return this
     */
    public Value wantGradient() {
        Block owner = graph().block().owner(name());
        if (owner != null) {
            owner.put(owner.get(name()).stopping(false));
            graph().wantGradient(name());
        }
        return this;
    }

    /**
     * A copy.
     *
     * @return of this shape
     */
    public Value assign() {
        return graph().op("assign").in("X", this).one("Out");
    }

    /**
     * Adds to this variable itself, which must be a number of one element.
     *
     * @param step
     *            what is added
     * @return this
     */
    public Value increment(double step) {
        if (shape().stream().anyMatch(dim -> dim != 1)) {
            throw new IllegalArgumentException(
                    "What is incremented has one element, but '" + name() + "' is " + type() + "; take plus(...)");
        }
        if (dtype() == DType.BOOL) {
            throw new IllegalArgumentException("What is incremented is a number, but '" + name() + "' is " + type());
        }
        if (!dtype().isFloating()) {
            Ranges.whole("A step", dtype().toString(), step);
        }
        graph().op("increment").in("X", this).attr("step", (float) step).to("Out", this).append();
        return this;
    }

    /**
     * Prints this variable at each run.
     *
     * @param message
     *            goes before it
     * @return this variable
     */
    public Value print(String message) {
        return graph().op("print").in("In", this).attr("first_n", -1).attr("message", message).attr("summarize", 20)
                .one("Out");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Value value && graph() == value.graph() && name().equals(value.name());
    }

    @Override
    public int hashCode() {
        return name().hashCode();
    }

    @Override
    public String toString() {
        return name() + " : " + type();
    }
}
