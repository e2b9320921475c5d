package io.seriatim.benchmarks.executor;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;

/**
 * A network and its feeds.
 *
 * @param name
 *            the name in tables
 * @param input
 *            the element type of the input
 * @param inputDims
 *            the dimensions of the input
 * @param labelDims
 *            the dimensions of the labels, the last of which is 1
 * @param classes
 *            the number of classes, or of words
 * @param logits
 *            appends the layers
 * @param optimizer
 *            the optimizer
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Model(String name, DType input, long[] inputDims, long[] labelDims, int classes,
        BiFunction<Graph, Value, Value> logits,
        Optimizer optimizer) {
    private static final long SEED = 1;

    static Model ofImages(String name, int batch, int channels, int size, BiFunction<Graph, Value, Value> logits) {
        return new Model(name, DType.FLOAT32, new long[]{batch, channels, size, size}, new long[]{batch, 1}, 10, logits,
                Momentum.of(0.001));
    }

    static Model ofWords(String name, int batch, int length, int classes, BiFunction<Graph, Value, Value> logits,
            Optimizer optimizer) {
        return new Model(name, DType.INT64, new long[]{batch, length}, new long[]{batch, length, 1}, classes, logits,
                optimizer);
    }

    /**
     * A program to compile.
     *
     * @param program
     *            the measured program
     * @param startup
     *            the program that initialises its parameters
     * @param feeds
     *            the names of the feeds
     * @param fetch
     *            the name of the result
     */
    record Task(Program program, Program startup, List<String> feeds, String fetch) {
    }

    /** A training step. */
    Task training() {
        Network network = Network.define(SEED, g -> {
            Value loss = g
                    .softmaxCrossEntropy(logits.apply(g, g.data("x", input, inputDims)),
                            g.data("label", DType.INT64, labelDims))
                    .mean();
            g.minimize(loss, optimizer);
            return Outputs.of("loss", loss);
        });
        return new Task(network.main(), network.startup(), List.of("x", "label"), network.outputs().get("loss").name());
    }

    /** An inference call. */
    Task inference() {
        Network network = Network.define(SEED,
                g -> Outputs.of("logits", logits.apply(g, g.data("x", input, inputDims))));
        return new Task(network.main().copyForTest(), network.startup(), List.of("x"),
                network.outputs().get("logits").name());
    }

    /** Creates tensors for the feeds. */
    Tensor[] feeds(Task task) {
        Random random = new Random(SEED);
        Tensor x = input == DType.FLOAT32
                ? Tensor.of(DType.FLOAT32, random.doubles(size(inputDims), -1, 1).toArray(), inputDims)
                : numbers(random, inputDims);
        return task.feeds().size() == 1 ? new Tensor[]{x} : new Tensor[]{x, numbers(random, labelDims)};
    }

    private Tensor numbers(Random random, long... dims) {
        return Tensor.of(random.longs(size(dims), 0, classes).toArray(), dims);
    }

    private static long size(long... dims) {
        return Arrays.stream(dims).reduce(1, Math::multiplyExact);
    }
}
