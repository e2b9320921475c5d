package io.seriatim.graph.ops.recurrent;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.OneRun;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Recurrent networks beyond the golden cases: our own dropout, values kept for the gradient, empty sequences, realistic
 * sizes.
 */
class RecurrentOperationsTest {
    private static final long SEED = 20261121;
    private static final int STEPS = 3;
    private static final int BATCH = 2;
    private static final int SIZE = 4;

    private static OpDesc.Builder rnn(String prefix, String mode, int layers, String input, List<String> weights,
            int states) {
        return OpDesc.of("rnn").in("Input", input).in("PreState", names(prefix + "h", states)).in("WeightList", weights)
                .out("Out", prefix + "out")
                .out("State", names(prefix + "s", states)).out("Reserve", prefix + "reserve")
                .out("DropoutState", prefix + "mask")
                .attr("mode", mode).attr("num_layers", layers).attr("hidden_size", SIZE).attr("input_size", SIZE);
    }

    private static List<String> names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
    }

    private static OpDesc gradient(OpDesc rnn) {
        OpDesc.Builder builder = OpDesc.of("rnn_grad").in("Out@GRAD", "dy").in("Out", rnn.output("Out"))
                .in("Reserve", rnn.output("Reserve"))
                .in("DropoutState", rnn.output("DropoutState")).out("Input@GRAD", "dx");
        rnn.inputs().forEach(builder::in);
        rnn.attributes().forEach(each -> builder.attr(each.name(), each.value()));
        return builder.build();
    }

    private static Map<String, Tensor> feeds(int layers) {
        SplittableRandom random = new SplittableRandom(SEED);
        Map<String, Tensor> feeds = new HashMap<>();
        feeds.put("x", OneRun.random(random, DType.FLOAT64, STEPS, BATCH, SIZE));
        feeds.put("dy", OneRun.random(random, DType.FLOAT64, STEPS, BATCH, SIZE));
        feeds.put("h0", OneRun.random(random, DType.FLOAT64, layers, BATCH, SIZE));
        for (int i = 0; i < 4 * layers; i++) {
            feeds.put("w" + i,
                    i < 2 * layers
                            ? OneRun.random(random, DType.FLOAT64, SIZE, SIZE)
                            : OneRun.random(random, DType.FLOAT64, SIZE));
        }
        return feeds;
    }

    @Test
    void theGradientTakesTheMaskThatWasDrawn() {
        Map<String, Tensor> feeds = feeds(2);
        OpDesc both = rnn("", "RNN_TANH", 2, "x", names("w", 8), 1).attr("dropout_prob", 0.5f).attr("seed", 3).build();
        Map<String, Tensor> results = OneRun.of(feeds, both, gradient(both));
        double[] mask = OneRun.values(results, "mask");
        assertTrue(Arrays.stream(mask).allMatch(each -> each == 0 || each == 1), Arrays.toString(mask));
        assertTrue(Arrays.stream(mask).sum() > 0 && Arrays.stream(mask).sum() < mask.length, Arrays.toString(mask));

        Map<String, Tensor> first = layer(feeds, 0, "x", feeds);
        double[] dropped = OneRun.values(first, "out").clone();
        Arrays.setAll(dropped, i -> dropped[i] * mask[i] * 2);
        Map<String, Tensor> more = new HashMap<>(feeds);
        more.put("y", Tensor.of(DType.FLOAT64, dropped, STEPS, BATCH, SIZE));
        Map<String, Tensor> second = layer(feeds, 1, "y", more);
        assertArrayEquals(OneRun.values(second, "out"), OneRun.values(results, "out"), 1e-12);
        double[] between = OneRun.values(second, "dx").clone();
        Arrays.setAll(between, i -> between[i] * mask[i] * 2);
        more.put("dy", Tensor.of(DType.FLOAT64, between, STEPS, BATCH, SIZE));
        assertArrayEquals(OneRun.values(layer(feeds, 0, "x", more), "dx"), OneRun.values(results, "dx"), 1e-12);
    }

    /** One of two layers on its own, with its gradient. */
    private static Map<String, Tensor> layer(Map<String, Tensor> all, int layer, String input,
            Map<String, Tensor> feeds) {
        Map<String, Tensor> given = new HashMap<>(feeds);
        double[] states = OneRun.values(all, "h0");
        int length = BATCH * SIZE;
        given.put("h0", Tensor.of(DType.FLOAT64, Arrays.copyOfRange(states, layer * length, (layer + 1) * length), 1,
                BATCH, SIZE));
        List<String> weights = List.of("w" + 2 * layer, "w" + (2 * layer + 1), "w" + (4 + 2 * layer),
                "w" + (5 + 2 * layer));
        OpDesc one = rnn("", "RNN_TANH", 1, input, weights, 1).build();
        return OneRun.of(given, one, gradient(one));
    }

    @Test
    void droppingAllLeavesNoGradient() {
        OpDesc all = rnn("", "RNN_RELU", 2, "x", names("w", 8), 1).attr("dropout_prob", 1f).build();
        Map<String, Tensor> results = OneRun.of(feeds(2), all, gradient(all));
        assertArrayEquals(new double[STEPS * BATCH * SIZE], OneRun.values(results, "dx"));
    }

    @Test
    void aTestKeepsNothingForTheGradient() {
        OpDesc test = rnn("", "RNN_TANH", 2, "x", names("w", 8), 1).attr("is_test", true).attr("dropout_prob", 0.5f)
                .build();
        Map<String, Tensor> results = OneRun.of(feeds(2), test);
        assertEquals(Shape.of(0), OneRun.get(results, "reserve").shape());
        assertEquals(Shape.of(0), OneRun.get(results, "mask").shape());
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
                () -> OneRun.of(feeds(2), test, gradient(test)));
        assertTrue(
                String.valueOf(refused.getMessage())
                        .contains("Reserve must be what the forward operation saved, 24 numbers"),
                refused.getMessage());
    }

    @Test
    void anEmptySequenceEndsAsItBegins() {
        Map<String, Tensor> feeds = feeds(1);
        feeds.put("lengths", Tensor.of(DType.INT32, new long[]{0, 2}, 2));
        OpDesc op = rnn("", "RNN_TANH", 1, "x", names("w", 4), 1).in("SequenceLength", "lengths").build();
        Map<String, Tensor> results = OneRun.of(feeds, op, gradient(op));
        double[] state = Arrays.copyOf(OneRun.values(results, "s0"), SIZE);
        assertArrayEquals(Arrays.copyOf(OneRun.values(feeds, "h0"), SIZE), state);
        double[] out = OneRun.values(results, "out");
        double[] dx = OneRun.values(results, "dx");
        for (int step = 0; step < STEPS; step++) {
            int at = step * BATCH * SIZE;
            assertArrayEquals(new double[SIZE], Arrays.copyOfRange(out, at, at + SIZE));
            assertArrayEquals(new double[SIZE], Arrays.copyOfRange(dx, at, at + SIZE));
        }
        feeds.put("lengths", Tensor.of(DType.INT32, new long[]{1, 4}, 2));
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> OneRun.of(feeds, op));
        assertTrue(
                String.valueOf(refused.getMessage())
                        .contains("recurrence: length number 1 must be from 0 to 3, but is 4"),
                refused.getMessage());
    }

    @Test
    void wrongWeightsAndStatesAreRefused() {
        Map<String, Tensor> feeds = feeds(2);
        refused(feeds, rnn("", "RNN_TANH", 2, "x", names("w", 4), 1).build(),
                "WeightList must hold 4 tensors for each layer and direction, 8 in all, but has 4");
        refused(feeds, rnn("", "GRU", 2, "x", names("w", 8), 1).build(),
                "WeightList, place 0, must be [12, 4], but is [4, 4]");
        refused(feeds, rnn("", "LSTM", 2, "x", names("w", 8), 1).build(),
                "PreState must hold 2 tensors for the mode LSTM, but has 1");
        refused(feeds, rnn("", "LTSM", 2, "x", names("w", 8), 1).build(),
                "'mode' must be LSTM, GRU, RNN_TANH, RNN_RELU, PEEPHOLE_LSTM or RESET_GRU, but is 'LTSM'");
        refused(feeds, rnn("", "PEEPHOLE_LSTM", 2, "x", names("w", 8), 1).build(),
                "PreState must hold 2 tensors for the mode PEEPHOLE_LSTM, but has 1");
        refused(feeds, rnn("", "RNN_TANH", 2, "w0", names("w", 8), 1).build(),
                "Input must be [steps, batch, size], but has 2 dimensions");
        refused(feeds, rnn("", "RNN_TANH", 2, "x", names("w", 8), 1).attr("dropout_prob", 2f).build(),
                "'dropout_prob' must be from 0 to 1, but is 2.0");
        refused(feeds, rnn("", "RNN_TANH", 2, "x", names("w", 8), 1).in("SequenceLength", "w4").build(),
                "SequenceLength must be int32 or int64");
    }

    /** The cells of ONNX in networks of several layers: gradients against central differences. */
    @ParameterizedTest
    @CsvSource({"PEEPHOLE_LSTM,1,false,false", "PEEPHOLE_LSTM,2,true,true", "RESET_GRU,1,false,true",
            "RESET_GRU,2,true,false"})
    void gradientsOfCellsOfOnnx(String mode, int layers, boolean both, boolean lengths) {
        SplittableRandom random = new SplittableRandom(SEED + layers);
        int directions = both ? 2 : 1;
        int rows = layers * directions;
        boolean lstm = mode.equals("PEEPHOLE_LSTM");
        int states = lstm ? 2 : 1;
        long gates = (lstm ? 4 : 3) * (long) SIZE;
        Map<String, Tensor> feeds = new HashMap<>();
        feeds.put("x", OneRun.random(random, DType.FLOAT64, STEPS, BATCH, SIZE));
        feeds.put("dy", OneRun.random(random, DType.FLOAT64, STEPS, BATCH, (long) directions * SIZE));
        feeds.put("lengths", Tensor.of(DType.INT64, new long[]{3, 1}, BATCH));
        for (int i = 0; i < states; i++) {
            feeds.put("h" + i, OneRun.random(random, DType.FLOAT64, rows, BATCH, SIZE));
            feeds.put("ds" + i, OneRun.random(random, DType.FLOAT64, rows, BATCH, SIZE));
        }
        int weights = (lstm ? 5 : 4) * rows;
        for (int i = 0; i < weights; i++) {
            long width = i % 2 == 0 && i >= 2 * directions ? (long) directions * SIZE : SIZE;
            feeds.put("w" + i, i < 2 * rows
                    ? OneRun.random(random, DType.FLOAT64, gates, width)
                    : OneRun.random(random, DType.FLOAT64, i < 4 * rows ? gates : 3L * SIZE));
        }
        OpDesc op = rnn("", mode, layers, "x", names("w", weights), states).attr("is_bidirec", both)
                .attr("gate_order", layers == 1 ? "onnx" : "paddle")
                .in("SequenceLength", lengths ? List.of("lengths") : List.of()).build();
        Map<String, List<String>> inputs = new HashMap<>(gradient(op).inputs());
        inputs.put("State@GRAD", names("ds", states));
        OpDesc gradient = gradient(op).with(inputs, Map.of("Input@GRAD", List.of("dx"), "PreState@GRAD",
                names("dh", states), "WeightList@GRAD", names("dw", weights)));
        Map<String, Tensor> results = OneRun.of(feeds, op, gradient);
        List<String> variables = new ArrayList<>(List.of("x"));
        variables.addAll(names("h", states));
        variables.addAll(names("w", weights));
        for (String variable : variables) {
            double[] given = OneRun.values(results, "d" + variable);
            double[] values = OneRun.values(feeds, variable);
            for (int k = 0; k < 3; k++) {
                int at = random.nextInt(values.length);
                double change = 1e-5;
                double[] sums = new double[2];
                for (int side = 0; side < 2; side++) {
                    double[] changed = values.clone();
                    changed[at] += side == 0 ? -change : change;
                    Map<String, Tensor> other = new HashMap<>(feeds);
                    other.put(variable, Tensor.of(DType.FLOAT64, changed, OneRun.get(feeds, variable).shape().dims()));
                    sums[side] = sum(OneRun.of(other, op), feeds, states);
                }
                assertEquals((sums[1] - sums[0]) / (2 * change), given[at], 1e-7,
                        "seed " + (SEED + layers) + ", " + variable + ", element " + at);
            }
        }
    }

    /** All results times the gradients that are given for them. */
    private static double sum(Map<String, Tensor> results, Map<String, Tensor> feeds, int states) {
        double sum = dot(OneRun.values(results, "out"), OneRun.values(feeds, "dy"));
        for (int i = 0; i < states; i++) {
            sum += dot(OneRun.values(results, "s" + i), OneRun.values(feeds, "ds" + i));
        }
        return sum;
    }

    private static double dot(double[] x, double[] y) {
        return IntStream.range(0, x.length).mapToDouble(i -> x[i] * y[i]).sum();
    }

    /** Without lengths, a layer from the end is one over reversed sequences; with them, each has its own end. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fromTheEnd(boolean lengths) {
        Map<String, Tensor> feeds = feeds(1);
        long[] given = lengths ? new long[]{2, 3} : new long[]{STEPS, STEPS};
        feeds.put("lengths", Tensor.of(DType.INT64, given, BATCH));
        Map<String, Tensor> reversed = new HashMap<>(feeds);
        for (String name : List.of("x", "dy")) {
            reversed.put(name,
                    Tensor.of(DType.FLOAT64, reversed(OneRun.values(feeds, name), given), STEPS, BATCH, SIZE));
        }
        List<String> slot = lengths ? List.of("lengths") : List.of();
        OpDesc forward = rnn("", "RNN_TANH", 1, "x", names("w", 4), 1).in("SequenceLength", slot).build();
        OpDesc backward = forward.with("is_reverse", true);
        Map<String, Tensor> expected = OneRun.of(reversed, forward, gradient(forward));
        Map<String, Tensor> actual = OneRun.of(feeds, backward, gradient(backward));
        assertArrayEquals(reversed(OneRun.values(expected, "out"), given), OneRun.values(actual, "out"), 1e-12);
        assertArrayEquals(reversed(OneRun.values(expected, "dx"), given), OneRun.values(actual, "dx"), 1e-12);
        assertArrayEquals(OneRun.values(expected, "s0"), OneRun.values(actual, "s0"), 1e-12);
        refused(feeds, backward.with("is_bidirec", true), "'is_reverse' is for one layer of one direction");
    }

    private static double[] reversed(double[] of, long[] lengths) {
        double[] result = of.clone();
        for (int row = 0; row < BATCH; row++) {
            for (int step = 0; step < lengths[row]; step++) {
                int from = (Math.toIntExact(lengths[row]) - 1 - step) * BATCH + row;
                System.arraycopy(of, from * SIZE, result, (step * BATCH + row) * SIZE, SIZE);
            }
        }
        return result;
    }

    private static void refused(Map<String, Tensor> feeds, OpDesc op, String message) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> OneRun.of(feeds, op));
        assertTrue(String.valueOf(refused.getMessage()).contains(message), refused.getMessage());
    }

    /** With weights of 0, each step of an LSTM halves the cell: its gates are ½ and its candidate 0. */
    @Test
    void aLongWideLstm() {
        long size = 128;
        long steps = 64;
        long batch = 16;
        Map<String, Tensor> feeds = new HashMap<>();
        feeds.put("x", OneRun.random(new SplittableRandom(SEED), DType.FLOAT32, steps, batch, size));
        feeds.put("dy", OneRun.random(new SplittableRandom(SEED + 1), DType.FLOAT32, steps, batch, size));
        List<Tensor> zeros = new ArrayList<>(
                List.of(Tensor.allocate(DType.FLOAT32, 4L * size, size),
                        Tensor.allocate(DType.FLOAT32, 4L * size, size),
                        Tensor.allocate(DType.FLOAT32, 4L * size), Tensor.allocate(DType.FLOAT32, 4L * size)));
        zeros.forEach(tensor -> tensor.memory().fill((byte) 0));
        for (int i = 0; i < zeros.size(); i++) {
            feeds.put("w" + i, zeros.get(i));
        }
        double[] ones = new double[Math.toIntExact(batch * size)];
        Arrays.fill(ones, 1);
        feeds.put("h0", Tensor.of(DType.FLOAT32, ones, 1, batch, size));
        feeds.put("h1", Tensor.of(DType.FLOAT32, ones, 1, batch, size));
        OpDesc op = rnn("", "LSTM", 1, "x", names("w", 4), 2).attr("hidden_size", size).build();
        Map<String, Tensor> results = OneRun.of(feeds, op, gradient(op));
        double[] cell = new double[Math.toIntExact(batch * size)];
        Arrays.fill(cell, Math.pow(0.5, (double) steps));
        assertArrayEquals(cell, OneRun.values(results, "s1"), 1e-24);
        assertEquals(Shape.of(steps, batch, size), OneRun.get(results, "dx").shape());
    }
}
