package io.seriatim.graph.program;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The operations of a program whose results are random, or depend on the statistics of a batch, because they are in
 * their form for training. A model that was exported in training mode has such operations.
 */
public final class TrainingMode {
    private static final String IS_TEST = "is_test";
    private static final Set<String> DROPOUTS = Set.of("dropout", "dropout_nd", "rnn", "cudnn_lstm");
    private static final Set<String> NORMALISATIONS = Set.of("batch_norm", "sync_batch_norm");
    private static final Set<String> OTHERS = Set.of("rrelu", "fake_quantize_range_abs_max",
            "fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max",
            "moving_average_abs_max_scale");

    private TrainingMode() {
    }

    /**
     * Counts the operations in their form for training.
     *
     * @param program
     *            any program
     * @return how many there are of each type, in the order of the names; types of the file for those that a reader has
     *         expressed by several operations
     */
    public static Map<String, Integer> operations(Program program) {
        Map<String, Integer> counts = new TreeMap<>();
        program.blocks().forEach(block -> block.ops().stream().filter(TrainingMode::isTraining)
                .forEach(op -> counts.merge(op.type(), 1, Integer::sum)));
        program.expressedTraining().forEach(type -> counts.merge(type, 1, Integer::sum));
        return counts;
    }

    /**
     * Describes the operations in their form for training.
     *
     * @param program
     *            any program
     * @return such as {@code 1 × batch_norm, 2 × dropout}; empty if there are none
     */
    public static String describe(Program program) {
        return operations(program).entrySet().stream().map(each -> each.getValue() + " × " + each.getKey())
                .collect(Collectors.joining(", "));
    }

    private static boolean isTraining(OpDesc op) {
        if (isTrue(op, IS_TEST)) {
            return false;
        }
        return NORMALISATIONS.contains(op.type())
                ? !isTrue(op, "use_global_stats")
                : DROPOUTS.contains(op.type()) ? drops(op) : OTHERS.contains(op.type());
    }

    private static boolean isTrue(OpDesc op, String attribute) {
        return op.attribute(attribute) instanceof Attribute.Bool(boolean value) && value;
    }

    /** Recurrent networks drop nothing by default, the other operations half of the elements. */
    private static boolean drops(OpDesc op) {
        return op.attribute("dropout_prob") instanceof Attribute.Real(float probability)
                ? probability > 0
                : op.type().startsWith("dropout");
    }
}
