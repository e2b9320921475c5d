package io.seriatim.cli.bench.train;

import org.jspecify.annotations.Nullable;

/** What is measured, under the names of the table of goals. */
enum TrainWork {
    /** A perceptron of three layers. */
    T1("mlp", "mlp", true),
    /** LeNet. */
    T2("lenet", "lenet", true),
    /** A transformer over characters. */
    T3("gpt", "gpt", true),
    /** A long short-term memory in primitive operations. */
    T4("lstm_ops", null, true),
    /** A gated recurrent unit in primitive operations. */
    T4B("gru_ops", "gru_ops", true),
    /** Single calls of the networks of T1 and T2. */
    T5("infer", "infer", false),
    /** ResNet-18. */
    T6("resnet18", "resnet18", true),
    /** A chain of small additions. */
    T7("chain1000", "chain", false);

    private final String label;
    private final @Nullable String peer;
    private final boolean trains;

    TrainWork(String label, @Nullable String peer, boolean trains) {
        this.label = label;
        this.peer = peer;
        this.trains = trains;
    }

    /** The name in lines of figures, which is the peers' name. */
    String label() {
        return label;
    }

    /** What the Python peers call it on their command line, or null where they do not have it. */
    @Nullable
    String peer() {
        return peer;
    }

    /** Whether it makes training steps. */
    boolean trains() {
        return trains;
    }

    /** Whether halves of a batch give the whole batch's step but for rounding: batch normalisation takes the statistics of each half. */
    boolean isSameWhenSplit() {
        return trains && this != T6;
    }
}
