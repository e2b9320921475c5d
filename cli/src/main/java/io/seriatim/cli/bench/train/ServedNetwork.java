package io.seriatim.cli.bench.train;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Value;
import java.util.function.BiFunction;

/** Networks of the works as they answer a request: one example at a time. */
public enum ServedNetwork {
    /** A perceptron of three layers. */
    T1(Networks::mlp, 784),
    /** LeNet. */
    T2(Networks::leNet, 1, 28, 28),
    /** ResNet-18. */
    T6(Networks::resNet18, 3, 64, 64);

    private final BiFunction<Graph, Value, Value> layers;
    private final long[] example;

    ServedNetwork(BiFunction<Graph, Value, Value> layers, long... example) {
        this.layers = layers;
        this.example = example;
    }

    /**
     * The network.
     *
     * @return its first program is for inference
     */
    public Network network() {
        long[] dims = new long[example.length + 1];
        dims[0] = 1;
        System.arraycopy(example, 0, dims, 1, example.length);
        Network network = TrainPrograms.call(layers, dims).network();
        return new Network(network.main().copyForTest(), network.startup(), network.outputs(), network.schedules());
    }

    /**
     * What is fed.
     *
     * @return the name of the variable
     */
    public String fed() {
        return TrainPrograms.X;
    }

    /**
     * The result of a network.
     *
     * @param network
     *            one of these
     * @return the name of the variable
     */
    public static String fetched(Network network) {
        return network.outputs().get(TrainPrograms.OUT).name();
    }
}
