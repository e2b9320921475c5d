package io.seriatim.benchmarks.train;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The workloads, with the names of the table of goals. */
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
    private final @Nullable String python;
    private final boolean trains;

    /**
     * Upper limits as goals; empty if there is no goal.
     *
     * @param ratio
     *            the ratio of the time to that of the fastest peer
     * @param megabytes
     *            the peak memory of the process
     * @param firstStep
     *            the seconds to the end of the first step
     */
    record Goal(double ratio, String megabytes, String firstStep) {
    }

    TrainWork(String label, @Nullable String python, boolean trains) {
        this.label = label;
        this.python = python;
        this.trains = trains;
    }

    /** The name in result lines, which is the Python peers' name; inference has one for each network. */
    String label() {
        return label;
    }

    /** The name on the Python peers' command line, or null if they do not support it. */
    @Nullable
    String python() {
        return python;
    }

    /** The JVM peers' names of its parts, with the names in result lines. */
    Map<String, String> jvm() {
        return switch (this) {
            case T1, T2, T3, T4 -> Map.of(name(), label);
            case T5 -> new TreeMap<>(Map.of("T5mlp", "infer_mlp", "T5lenet", "infer_lenet"));
            case T4B, T6, T7 -> Map.of();
        };
    }

    /** Returns the number of warm-up steps, which is that of the peers on a JVM. */
    int warmUps() {
        return switch (this) {
            case T1 -> 300;
            case T2 -> 100;
            case T3 -> 20;
            default -> 40;
        };
    }

    /** Returns the number of measured steps. */
    int steps() {
        return switch (this) {
            case T1 -> 1000;
            case T2 -> 300;
            case T3 -> 60;
            default -> 150;
        };
    }

    /** Returns whether the workload trains. */
    boolean trains() {
        return trains;
    }

    Goal goal() {
        return switch (this) {
            case T1 -> new Goal(0.8, "250", "0.6");
            case T2 -> new Goal(0.6, "250", "0.6");
            case T3 -> new Goal(0.7, "250", "1");
            case T4, T4B -> new Goal(0.4, "250", "");
            case T5 -> new Goal(0.7, "", "");
            case T6 -> new Goal(0.8, "½ of torch", "");
            case T7 -> new Goal(0.1, "", "");
        };
    }

    /**
     * Returns whether splitting the batch changes only rounding. Batch normalisation would use the statistics of each
     * part.
     */
    boolean isSameWhenSplit() {
        return trains && this != T6;
    }
}
