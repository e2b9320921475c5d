package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Buffer;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that together compute what one operator computes are read as that operator; others are not. */
final class CompositionsTest {
    private static final int FLOAT = 1;
    private static final int SIZE = 5;
    private static final double ROOT_TWO = Math.sqrt(2);

    @TempDir
    Path folder = Path.of("");

    private WireMessage graph = new WireMessage().text(2, "g");
    private int names;

    private String node(String type, String... inputs) {
        return node(new WireMessage(), type, inputs);
    }

    private String node(WireMessage node, String type, String... inputs) {
        String output = "v" + names++;
        graph.message(1, node.texts(1, inputs).text(2, output).text(4, type));
        return output;
    }

    private String number(double value) {
        String name = "c" + names++;
        graph.message(5, new WireMessage().number(2, FLOAT).text(8, name).real(4, (float) value));
        return name;
    }

    private String vector(double... values) {
        String name = "w" + names++;
        WireMessage tensor = new WireMessage().number(1, values.length).number(2, FLOAT).text(8, name);
        for (double each : values) {
            tensor.real(4, (float) each);
        }
        graph.message(5, tensor);
        return name;
    }

    /** Multiplies some factors in an order and an association of chance. */
    private String product(Random random, String... factors) {
        List<String> left = new ArrayList<>(List.of(factors));
        Collections.shuffle(left, random);
        while (left.size() > 1) {
            String first = left.remove(random.nextInt(left.size()));
            int at = random.nextInt(left.size());
            left.set(at, node("Mul", first, left.get(at)));
        }
        return left.getFirst();
    }

    private String sum(Random random, String x, String y) {
        return random.nextBoolean() ? node("Add", x, y) : node("Add", y, x);
    }

    private InferenceModel model(String... outputs) throws IOException {
        graph.message(11, WireMessage.value("x", FLOAT, 3, SIZE));
        for (String output : outputs) {
            graph.message(12, WireMessage.value(output, FLOAT, 3, SIZE));
        }
        WireMessage root = WireMessage.model(graph, 17);
        graph = new WireMessage().text(2, "g");
        return OnnxModels.load(Files.write(folder.resolve("m" + names++ + ".onnx"), root.toBytes()));
    }

    private static List<String> operations(InferenceModel model) {
        return model.program().global().ops().stream().map(OpDesc::type).toList();
    }

    private static void assertComputes(DoubleUnaryOperator function, InferenceModel model, String where) {
        float[] x = new float[3 * SIZE];
        for (int i = 0; i < x.length; i++) {
            x[i] = (i - 7) * 0.61f;
        }
        Interpreter interpreter = Interpreter.of(Kernels.system());
        model.parameters().forEach(interpreter::set);
        Tensor y = Objects.requireNonNull(interpreter
                .run(model.program(), Map.of("x", Tensor.of(x, 3, SIZE)), model.fetches())
                .get(model.fetches().getFirst()));
        float[] found = y.toFloatArray();
        for (int i = 0; i < x.length; i++) {
            assertEquals(function.applyAsDouble(x[i]), found[i], 2e-6, where + ", of " + x[i]);
        }
    }

    private void check(String expected, DoubleUnaryOperator function, String result, String where)
            throws IOException {
        try (InferenceModel model = model(result)) {
            assertEquals(List.of(expected), operations(model), where);
            assertComputes(function, model, where);
        }
    }

    private static double erf(double x) {
        double sum = 0;
        double term = x;
        for (int n = 0; n < 200; n++) {
            sum += term / (2 * n + 1);
            term *= -x * x / (n + 1);
        }
        return 2 / Math.sqrt(Math.PI) * sum;
    }

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    private static double geluOfTanh(double x) {
        return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
    }

    @Test
    void functionsAreFoundInEveryOrder() throws IOException {
        for (long seed = 0; seed < 12; seed++) {
            Random random = new Random(seed);
            String where = "seed " + seed;
            String scaled = random.nextBoolean()
                    ? node("Div", "x", number(ROOT_TWO))
                    : product(random, "x", number(1 / ROOT_TWO));
            check("gelu", x -> 0.5 * x * (1 + erf(x / ROOT_TWO)),
                    product(random, "x", number(0.5), sum(random, number(1), node("Erf", scaled))), where + " gelu");
            String cube = random.nextBoolean()
                    ? product(random, number(0.044715), node("Pow", "x", number(3)))
                    : product(random, number(0.044715), "x", "x", "x");
            String inner = product(random, number(Math.sqrt(2 / Math.PI)), sum(random, "x", cube));
            check("gelu", CompositionsTest::geluOfTanh,
                    product(random, "x", number(0.5), sum(random, number(1), node("Tanh", inner))),
                    where + " tanh of a cube");
            String square = product(random, number(0.044715), "x", "x");
            inner = product(random, "x", number(Math.sqrt(2 / Math.PI)), sum(random, number(1), square));
            check("gelu", CompositionsTest::geluOfTanh,
                    product(random, "x", number(0.5), sum(random, number(1), node("Tanh", inner))),
                    where + " tanh of a square");
            check("swish", x -> x * sigmoid(x), product(random, "x", node("Sigmoid", "x")), where + " swish");
            check("mish", x -> x * Math.tanh(Math.log1p(Math.exp(x))),
                    product(random, "x", node("Tanh", node("Softplus", "x"))), where + " mish");
            String clipped = node("Clip", sum(random, "x", number(3)), number(0), number(6));
            check("hard_swish", x -> x * Math.clamp(x + 3, 0, 6) / 6, random.nextBoolean()
                    ? node("Div", product(random, "x", clipped), number(6))
                    : product(random, "x", clipped, number(1.0 / 6)), where + " hard swish");
        }
    }

    private String normalised(String epsilon, String scale, String bias, boolean twice) {
        WireMessage last = new WireMessage().message(5, new WireMessage().text(1, "axes").number(20, 7).number(8, -1));
        String mean = node(last, "ReduceMean", "x");
        String centred = node("Sub", "x", mean);
        String again = twice ? node("Sub", "x", mean) : centred;
        WireMessage same = new WireMessage().message(5, new WireMessage().text(1, "axes").number(20, 7).number(8, -1));
        String variance = node(same, "ReduceMean", node("Pow", again, number(2)));
        String root = node("Sqrt", node("Add", variance, epsilon));
        return node("Add", node("Mul", node("Div", centred, root), scale), bias);
    }

    @Test
    void layerNormalisationIsOneOperation() throws IOException {
        for (boolean twice : new boolean[]{false, true}) {
            String y = normalised(number(1e-5), vector(1, 2, 3, 4, 5), vector(0, 1, 0, 1, 0), twice);
            try (InferenceModel model = model(y)) {
                assertEquals(List.of("layer_norm"), operations(model), "centred twice: " + twice);
                float[] x = {1, 2, 4, 8, 16, 3, 3, 3, 3, 3, -1, 0, 1, 0, -1};
                Interpreter interpreter = Interpreter.of(Kernels.system());
                model.parameters().forEach(interpreter::set);
                float[] found = Objects.requireNonNull(interpreter
                        .run(model.program(), Map.of("x", Tensor.of(x, 3, SIZE)), List.of(y)).get(y)).toFloatArray();
                for (int row = 0; row < 3; row++) {
                    double mean = 0;
                    double variance = 0;
                    for (int i = 0; i < SIZE; i++) {
                        mean += x[row * SIZE + i] / (double) SIZE;
                    }
                    for (int i = 0; i < SIZE; i++) {
                        variance += Math.pow(x[row * SIZE + i] - mean, 2) / SIZE;
                    }
                    for (int i = 0; i < SIZE; i++) {
                        double expected = (x[row * SIZE + i] - mean) / Math.sqrt(variance + 1e-5) * (i + 1) + i % 2;
                        assertEquals(expected, found[row * SIZE + i], 1e-5, "row " + row + ", element " + i);
                    }
                }
            }
        }
    }

    /** Means over the channels of each pixel, over each image, and over each channel of an image. */
    @Test
    void normalisationsOfChannelsAreOneOperation() throws IOException {
        for (long[] axes : new long[][]{{1}, {1, 2}, {-1, 1}, {2}}) {
            for (boolean factorFirst : new boolean[]{false, true}) {
                String y = normalisedChannels(axes, factorFirst, channels(1, 2, 3), channels(0, 1, 0));
                try (InferenceModel model = imagesOfChannels(y)) {
                    List<String> found = operations(model);
                    String where = Arrays.toString(axes) + ", factor first: " + factorFirst + ": " + found;
                    assertTrue(found.contains(axes.length == 1 && axes[0] == 1 ? "layer_norm" : "group_norm"), where);
                    assertTrue(Collections.disjoint(found, List.of("reduce_mean", "elementwise_div")), where);
                    assertNormalises(axes, model, where);
                }
            }
        }
    }

    /** A scale for each element of the line, not of the channel: the nodes stay. */
    @Test
    void normalisationsOfChannelsWithOtherParametersStay() throws IOException {
        String line = "p" + names++;
        graph.message(5, tensor(line, new long[]{1, 1, 4}, 1, 1, 1, 1));
        String y = normalisedChannels(new long[]{1, 2}, true, line, channels(0, 1, 0));
        try (InferenceModel model = imagesOfChannels(y)) {
            assertFalse(operations(model).contains("group_norm"), operations(model).toString());
        }
    }

    private static WireMessage tensor(String name, long[] dims, double... values) {
        WireMessage tensor = new WireMessage();
        for (long dim : dims) {
            tensor.number(1, dim);
        }
        tensor.number(2, FLOAT).text(8, name);
        for (double each : values) {
            tensor.real(4, (float) each);
        }
        return tensor;
    }

    private String channels(double... values) {
        String name = "p" + names++;
        graph.message(5, tensor(name, new long[]{1, values.length, 1}, values));
        return name;
    }

    private InferenceModel imagesOfChannels(String output) throws IOException {
        graph.message(11, WireMessage.value("x", FLOAT, 2, 3, 4));
        graph.message(12, WireMessage.value(output, FLOAT, 2, 3, 4));
        WireMessage root = WireMessage.model(graph, 18);
        graph = new WireMessage().text(2, "g");
        return OnnxModels.load(Files.write(folder.resolve("m" + names++ + ".onnx"), root.toBytes()));
    }

    /** As version 18 writes it, where the axes of means are an operand. */
    private String normalisedChannels(long[] axes, boolean factorFirst, String scale, String bias) {
        String over = "a" + names++;
        WireMessage row = new WireMessage().number(1, axes.length).number(2, 7).text(8, over);
        for (long axis : axes) {
            row.number(7, axis);
        }
        graph.message(5, row);
        String centred = node("Sub", "x", node("ReduceMean", "x", over));
        String variance = node("ReduceMean", node("Pow", centred, number(2)), over);
        String root = node("Sqrt", node("Add", variance, number(1e-5)));
        String scaled = factorFirst
                ? node("Div", node("Mul", scale, centred), root)
                : node("Mul", node("Div", centred, root), scale);
        return node("Add", scaled, bias);
    }

    private static void assertNormalises(long[] axes, InferenceModel model, String where) {
        float[] x = new float[24];
        Random random = new Random(3);
        for (int i = 0; i < x.length; i++) {
            x[i] = random.nextFloat() * 4 - 1;
        }
        Interpreter interpreter = Interpreter.of(Kernels.system());
        model.parameters().forEach(interpreter::set);
        float[] found = Objects.requireNonNull(interpreter
                .run(model.program(), Map.of("x", Tensor.of(x, 2, 3, 4)), model.fetches())
                .get(model.fetches().getFirst())).toFloatArray();
        boolean overChannels = Arrays.stream(axes).anyMatch(axis -> axis == 1);
        boolean overLines = Arrays.stream(axes).anyMatch(axis -> axis != 1);
        for (int i = 0; i < x.length; i++) {
            double sum = 0;
            double squares = 0;
            int count = 0;
            for (int j = 0; j < x.length; j++) {
                if (j / 12 == i / 12 && (overChannels || j / 4 == i / 4) && (overLines || j % 4 == i % 4)) {
                    sum += x[j];
                    squares += x[j] * x[j];
                    count++;
                }
            }
            double mean = sum / count;
            int channel = i / 4 % 3;
            double expected = (x[i] - mean) / Math.sqrt(squares / count - mean * mean + 1e-5) * (channel + 1)
                    + channel % 2;
            assertEquals(expected, found[i], 1e-5, where + ", element " + i);
        }
    }

    @Test
    void squaresOfPowersAreProducts() throws IOException {
        check("square", x -> x * x, node("Pow", "x", number(2)), "a power of 2");
    }

    /** Another number, a value that is read elsewhere, a scale of another size: the nodes stay. */
    @Test
    void whatIsAnotherFunctionStays() throws IOException {
        Random random = new Random(1);
        String half = product(random, "x", number(0.51), sum(random, number(1),
                node("Erf", node("Div", "x", number(ROOT_TWO)))));
        try (InferenceModel model = model(half)) {
            assertTrue(operations(model).contains("erf"), "a factor of 0.51");
            assertComputes(x -> 0.51 * x * (1 + erf(x / ROOT_TWO)), model, "a factor of 0.51");
        }
        String gate = node("Sigmoid", "x");
        String swish = node("Mul", "x", gate);
        try (InferenceModel model = model(swish, gate)) {
            assertTrue(operations(model).contains("sigmoid"), "the gate is a result");
            assertComputes(x -> x * sigmoid(x), model, "the gate is a result");
        }
        String other = node("Mul", "x", node("Sigmoid", node("Neg", "x")));
        try (InferenceModel model = model(other)) {
            assertTrue(operations(model).contains("sigmoid"), "the gate of another value");
            assertComputes(x -> x * sigmoid(-x), model, "the gate of another value");
        }
        try (InferenceModel model = model(normalised(number(1e-5), number(2), number(0), false))) {
            assertNotEquals(List.of("layer_norm"), operations(model), "a scale of one element");
        }
    }

    /** Plans keep packed copies of weights only while they know of every change. */
    @Test
    void weightsAreNotWrittenUncounted() throws IOException {
        String y = node("Mul", "x", vector(1, 2, 3, 4, 5));
        try (InferenceModel model = model(y)) {
            assertEquals(1, model.parameters().size());
            model.parameters().forEach(
                    (name, weights) -> assertNotEquals(Buffer.UNKNOWN, weights.buffer().changes(), name));
        }
    }
}
