package io.seriatim.onnx.operators;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Recurrent layers as loops, or as the steps of short ones, beside the operation for whole layers, which takes their
 * usual forms.
 */
class RecurrentLoopTest {
    private static final int STEPS = 4;
    private static final int BATCH = 3;
    private static final int FEATURES = 2;
    private static final int SIZE = 3;

    @ParameterizedTest
    @CsvSource({"LSTM, forward, false, 6", "LSTM, reverse, false, 3", "LSTM, bidirectional, true, 6",
            "LSTM, bidirectional, true, 4", "GRU, forward, true, 6", "GRU, forward, true, 4",
            "GRU, bidirectional, false, 2", "RNN, reverse, false, 6", "LSTM, reverse, true, 6", "GRU, reverse, true, 3",
            "RNN, reverse, true, 6", "RNN, bidirectional, true, 4"})
    void loopComputesWhatTheOperationComputes(String mode, String direction, boolean lengths, int steps) {
        long gates = gates(mode);
        int directions = direction.equals("bidirectional") ? 2 : 1;
        SplittableRandom random = new SplittableRandom(mode.hashCode() * 31L + direction.hashCode());
        @Nullable
        Tensor[] operands = {random(random, steps, BATCH, FEATURES),
                random(random, directions, gates * SIZE, FEATURES), random(random, directions, gates * SIZE, SIZE),
                random(random, directions, 2 * gates * SIZE),
                lengths ? Tensor.of(DType.INT32, new long[]{steps, 1, 2}, BATCH) : null,
                random(random, directions, BATCH, SIZE)};
        int results = mode.equals("LSTM") ? 3 : 2;
        List<Tensor> whole = layer(mode, direction).runAll(results, operands);
        // A bound that no operand reaches changes no value, but the operation has none.
        List<Tensor> loop = layer(mode, direction).real("clip", 1e30).runAll(results, operands);
        for (int i = 0; i < results; i++) {
            assertArrayEquals(whole.get(i).toFloatArray(), loop.get(i).toFloatArray(), 1e-6f, "result " + i);
        }
    }

    /** Loops over steps are slow; sequences from their ends are the operation's too. */
    @ParameterizedTest
    @ValueSource(strings = {"LSTM", "GRU", "RNN"})
    void reverseOnesAreOneOperation(String mode) {
        SplittableRandom random = new SplittableRandom(2);
        long gates = gates(mode);
        List<String> types = layer(mode, "reverse").types(random(random, 6, BATCH, FEATURES),
                random(random, 1, gates * SIZE, FEATURES), random(random, 1, gates * SIZE, SIZE), null,
                Tensor.of(DType.INT32, new long[]{6, 0, 2}, BATCH));
        assertTrue(types.contains("rnn") && !types.contains("while") && !types.contains("flip"), types.toString());
    }

    @ParameterizedTest
    @CsvSource({"Sine, there is no activation 'sine'", "Tanh, has 2 activations for each direction"})
    void wrongActivationsAreRefused(String activation, String rule) {
        OneOperator layer = OneOperator.of(RecurrentOperators::register, "GRU", 14).integer("hidden_size", SIZE);
        if (activation.equals("Sine")) {
            layer.texts("activations", "Sigmoid", activation);
        } else {
            layer.texts("activations", activation);
        }
        SplittableRandom random = new SplittableRandom(1);
        String message = assertThrows(IllegalArgumentException.class,
                () -> layer.run(random(random, STEPS, BATCH, FEATURES), random(random, 1, 3 * SIZE, FEATURES),
                        random(random, 1, 3 * SIZE, SIZE)))
                .getMessage();
        assertTrue(message != null && message.contains(rule), message);
    }

    private static OneOperator layer(String mode, String direction) {
        return OneOperator.of(RecurrentOperators::register, mode, 14).integer("hidden_size", SIZE)
                .text("direction", direction).integer("linear_before_reset", 1);
    }

    private static int gates(String mode) {
        return switch (mode) {
            case "LSTM" -> 4;
            case "GRU" -> 3;
            default -> 1;
        };
    }

    private static Tensor random(SplittableRandom random, long... dims) {
        int count = 1;
        for (long dim : dims) {
            count *= Math.toIntExact(dim);
        }
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextDouble(-1, 1);
        }
        return Tensor.of(values, dims);
    }
}
