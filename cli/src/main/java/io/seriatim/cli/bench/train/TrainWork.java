package io.seriatim.cli.bench.train;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What is measured, under the names of the table of goals. */
enum TrainWork {
    /** A perceptron of three layers. */
    T1("mlp", "mlp", Map.of("T1", "mlp"), true, new Goal(0.8, "250", "0.6")),
    /** LeNet. */
    T2("lenet", "lenet", Map.of("T2", "lenet"), true, new Goal(0.6, "250", "0.6")),
    /** A transformer over characters. */
    T3("gpt", "gpt", Map.of("T3", "gpt"), true, new Goal(0.7, "250", "1")),
    /** A long short-term memory in primitive operations. */
    T4("lstm_ops", null, Map.of("T4", "lstm_ops"), true, new Goal(0.4, "250", "")),
    /** A gated recurrent unit in primitive operations. */
    T4B("gru_ops", "gru_ops", Map.of(), true, new Goal(0.4, "250", "")),
    /** Single calls of the networks of T1 and T2. */
    T5("infer", "infer", Map.of("T5mlp", "infer_mlp", "T5lenet", "infer_lenet"), false, new Goal(0.7, "", "")),
    /** ResNet-18. */
    T6("resnet18", "resnet18", Map.of(), true, new Goal(0.8, "½ of torch", "")),
    /** A chain of small additions. */
    T7("chain1000", "chain", Map.of(), false, new Goal(0.1, "", ""));

    private final String label;
    private final @Nullable String python;
    private final Map<String, String> jvm;
    private final boolean trains;
    private final Goal goal;

    /**
     * What is to be reached at most; empty where nothing is said.
     *
     * @param ratio
     *            of the time to that of the fastest peer
     * @param megabytes
     *            of the process
     * @param firstStep
     *            seconds to its end
     */
    record Goal(double ratio, String megabytes, String firstStep) {
    }

    TrainWork(String label, @Nullable String python, Map<String, String> jvm, boolean trains, Goal goal) {
        this.label = label;
        this.python = python;
        this.jvm = Collections.unmodifiableMap(new TreeMap<>(jvm));
        this.trains = trains;
        this.goal = goal;
    }

    /** The name in lines of figures, which is the Python peers' name; what infers has one for each network. */
    String label() {
        return label;
    }

    /** What the Python peers call it on their command line, or null where they do not have it. */
    @Nullable
    String python() {
        return python;
    }

    /** What the peers in Java call its parts, with their names in lines of figures. */
    Map<String, String> jvm() {
        return jvm;
    }

    /** Whether it makes training steps. */
    boolean trains() {
        return trains;
    }

    Goal goal() {
        return goal;
    }

    /** Whether halves of a batch give the whole batch's step but for rounding: batch normalisation takes the statistics of each half. */
    boolean isSameWhenSplit() {
        return trains && this != T6;
    }
}
