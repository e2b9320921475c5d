package io.seriatim.benchmarks.train;

import io.seriatim.graph.Network;

/** The networks of the workloads for inference with one example per request. */
public enum ServedNetwork {
    /** A perceptron of three layers. */
    T1,
    /** LeNet. */
    T2,
    /** ResNet-18. */
    T6;

    /**
     * Returns the network.
     *
     * @param isOpen
     *            whether a request may have any number of examples instead of one
     * @return the network, whose main program is for inference
     */
    public Network network(boolean isOpen) {
        TrainPrograms.Task call = switch (this) {
            case T1 -> TrainPrograms.call(Networks::mlp, isOpen, 1, 784);
            case T2 -> TrainPrograms.call(Networks::leNet, isOpen, 1, 1, 28, 28);
            case T6 -> TrainPrograms.call(Networks::resNet18, isOpen, 1, 3, 64, 64);
        };
        Network network = call.network();
        return new Network(network.main().copyForTest(), network.startup(), network.outputs(), network.schedules());
    }

    /**
     * Returns the input.
     *
     * @return the name of the variable
     */
    public String fed() {
        return TrainPrograms.X;
    }

    /**
     * Returns the result of a network.
     *
     * @param network
     *            one of these networks
     * @return the name of the variable
     */
    public static String fetched(Network network) {
        return network.outputs().get(TrainPrograms.OUT).name();
    }
}
