package io.seriatim.benchmarks.train;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;

/** The programs of the workloads and their feeds: random numbers that are the same in all steps. */
final class TrainPrograms {
    private static final long SEED = 1;
    /** Another seed, so that targets are independent of the inputs. */
    private static final long TARGET_SEED = 2;
    /** The name of a result. */
    static final String OUT = "out";
    /** The name of the input. */
    static final String X = "x";
    private static final String TARGET = "target";
    private static final int CHAIN = 1000;
    private static final int CHAIN_WIDTH = 16;

    private TrainPrograms() {
    }

    /**
     * A program with its data.
     *
     * @param network
     *            the network of one step or one call
     * @param feeds
     *            the names of the feeds
     * @param out
     *            the variable of the result, which is the loss for training
     * @param data
     *            the feeds
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Task(Network network, List<String> feeds, String out, Tensor... data) {
    }

    /**
     * Returns the program of a training step.
     *
     * @param open
     *            whether the batch size is variable, as the first dimension of all feeds, so that a batch can be split
     * @param bfloat16
     *            whether products and convolutions are computed in bfloat16
     */
    static Task training(TrainWork work, boolean open, boolean bfloat16) {
        return switch (work) {
            case T1 -> classifier(mixed(Momentum.of(0.01), bfloat16), 10, open, gauss(SEED, 128, 784),
                    new long[]{128, 1}, Networks::mlp);
            case T2 -> classifier(mixed(Adam.of(1e-3), bfloat16), 10, open, gauss(SEED, 64, 1, 28, 28),
                    new long[]{64, 1}, Networks::leNet);
            case T3 ->
                classifier(mixed(Adam.of(1e-3), bfloat16), Networks.SYMBOLS, open,
                        numbers(SEED, Networks.SYMBOLS, 32, Networks.CONTEXT),
                        new long[]{32, Networks.CONTEXT, 1}, Networks::gpt);
            case T4 -> classifier(mixed(Sgd.of(0.1), bfloat16), 10, open, sequences(open), new long[]{32, 1},
                    (g, x) -> Cells.lstm(g, stepsFirst(x, open)));
            case T4B -> gru(mixed(Sgd.of(0.1), bfloat16), open);
            case T6 ->
                classifier(mixed(Momentum.of(0.01), bfloat16), 10, open, gauss(SEED, 16, 3, 64, 64), new long[]{16, 1},
                        Networks::resNet18);
            case T5, T7 -> throw new IllegalArgumentException(work + " does not train");
        };
    }

    private static Optimizer mixed(Optimizer optimizer, boolean bfloat16) {
        return bfloat16 ? optimizer.precision(MixedPrecision.bfloat16()) : optimizer;
    }

    private static Tensor sequences(boolean batchFirst) {
        Tensor stepsFirst = gauss(SEED, Cells.STEPS, 32, Cells.WIDTH);
        return batchFirst
                ? Tensor.of(stepsFirst.transpose(1, 0, 2).toFloatArray(), 32, Cells.STEPS, Cells.WIDTH)
                : stepsFirst;
    }

    private static Value stepsFirst(Value x, boolean batchFirst) {
        return batchFirst ? x.transpose(1, 0, 2) : x;
    }

    private static Task classifier(Optimizer optimizer, int classes, boolean open, Tensor x, long[] labels,
            BiFunction<Graph, Value, Value> logits) {
        return training(optimizer, open, x, numbers(TARGET_SEED, classes, labels),
                (g, pair) -> g.softmaxCrossEntropy(logits.apply(g, pair.x()),
                        pair.target()).mean());
    }

    private static Task gru(Optimizer optimizer, boolean open) {
        return training(optimizer, open, sequences(open), gauss(TARGET_SEED, 32, Cells.WIDTH),
                (g, pair) -> Cells.gru(g, stepsFirst(pair.x(), open)).minus(pair.target()).square().mean());
    }

    /** The inputs and the targets. */
    private record Pair(Value x, Value target) {
    }

    private static Task training(Optimizer optimizer, boolean open, Tensor x, Tensor target,
            BiFunction<Graph, Pair, Value> loss) {
        Network network = Network.define(SEED, g -> {
            Value value = loss.apply(g, new Pair(data(g, X, x, open), data(g, TARGET, target, open)));
            g.minimize(value, optimizer);
            return Outputs.of(OUT, value);
        });
        return new Task(network, List.of(X, TARGET), network.outputs().get(OUT).name(), x, target);
    }

    private static Value data(Graph g, String name, Tensor tensor, boolean open) {
        long[] dims = tensor.shape().dims();
        if (open) {
            dims[0] = -1;
        }
        return g.data(name, tensor.dtype(), dims);
    }

    /** An inference call of the network of T1. */
    static Task mlpCall() {
        return call(Networks::mlp, false, gauss(SEED, 1, 784));
    }

    /** An inference call of the network of T2. */
    static Task leNetCall() {
        return call(Networks::leNet, false, gauss(SEED, 1, 1, 28, 28));
    }

    /** A chain of 1,000 additions. */
    static Task chain() {
        return call((g, x) -> {
            Value y = x;
            for (int i = 0; i < CHAIN; i++) {
                y = y.plus(1);
            }
            return y;
        }, false, gauss(SEED, CHAIN_WIDTH));
    }

    /** One inference call of a network. */
    static Task call(BiFunction<Graph, Value, Value> layers, boolean isOpen, long... dims) {
        return call(layers, isOpen, gauss(SEED, dims));
    }

    private static Task call(BiFunction<Graph, Value, Value> layers, boolean isOpen, Tensor x) {
        Network network = Network.define(SEED, g -> Outputs.of(OUT, layers.apply(g, data(g, X, x, isOpen))));
        return new Task(network, List.of(X), network.outputs().get(OUT).name(), x);
    }

    private static Tensor gauss(long seed, long... dims) {
        Random random = new Random(seed);
        float[] values = new float[Math.toIntExact(size(dims))];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, dims);
    }

    private static Tensor numbers(long seed, int below, long... dims) {
        return Tensor.of(DType.INT64, new Random(seed).longs(size(dims), 0, below).toArray(), dims);
    }

    private static long size(long... dims) {
        return Arrays.stream(dims).reduce(1, Math::multiplyExact);
    }
}
