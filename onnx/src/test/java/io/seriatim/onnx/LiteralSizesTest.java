package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.PlanView;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Arithmetic on shapes with indexes out of initialisers is folded when a plan is compiled. */
final class LiteralSizesTest {
    private static final int FLOAT = 1;
    private static final int INT64 = 7;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    private static WireMessage value(String name, int type, long... dims) {
        WireMessage shape = message();
        for (long dim : dims) {
            shape.message(1, dim < 0 ? message().text(2, "d") : message().number(1, dim));
        }
        return message().text(1, name).message(2, message().message(1, message().number(1, type).message(2, shape)));
    }

    private static WireMessage longs(String name, boolean isScalar, long... values) {
        WireMessage tensor = message().number(2, INT64).text(8, name);
        if (!isScalar) {
            tensor.number(1, values.length);
        }
        for (long value : values) {
            tensor.number(7, value);
        }
        return tensor;
    }

    /** Reshapes x to [length of axis 0, −1], as exporters write it; k is an initialiser that may be fed. */
    private Path model() throws IOException {
        WireMessage graph = message().text(2, "g")
                .message(1, message().texts(1, "x").text(2, "s").text(4, "Shape"))
                .message(1, message().texts(1, "s", "zero").text(2, "n").text(4, "Gather"))
                .message(1, message().texts(1, "n", "axes").text(2, "u").text(4, "Unsqueeze"))
                .message(1, message().texts(1, "u", "rest").text(2, "to").text(4, "Concat")
                        .message(5, message().text(1, "axis").number(3, 0).number(20, 2)))
                .message(1, message().texts(1, "x", "to").text(2, "y").text(4, "Reshape"))
                .message(1, message().texts(1, "y", "k").text(2, "z").text(4, "Gather")
                        .message(5, message().text(1, "axis").number(3, 1).number(20, 2)))
                .message(5, longs("zero", true, 0)).message(5, longs("axes", false, 0))
                .message(5, longs("rest", false, -1)).message(5, longs("k", false, 1))
                .message(11, value("x", FLOAT, -1, 2, 3)).message(11, value("k", INT64, 1))
                .message(12, value("z", FLOAT, -1, -1));
        return Files.write(folder.resolve("model.onnx"), WireMessage.model(graph, 17).toBytes());
    }

    /** A graph of one node whose second operand is an initialiser and, if so wanted, an input. */
    private Path model(String type, WireMessage initializer, int irVersion, long... number) throws IOException {
        WireMessage graph = message().text(2, "g")
                .message(1, message().texts(1, "k", "more").text(2, "sum").text(4, "Add"))
                .message(1, message().texts(1, "x", "sum").text(2, "y").text(4, type))
                .message(5, initializer).message(5, longs("more", number.length == 0, number.length == 0
                        ? new long[]{0}
                        : number))
                .message(11, value("x", FLOAT, 2, 3)).message(11, value("k", INT64, number.length == 0
                        ? new long[0]
                        : new long[]{number.length}))
                .message(12, value("y", FLOAT, -1, -1));
        return Files.write(folder.resolve(type + ".onnx"), message().number(1, irVersion)
                .message(8, message().text(1, "").number(2, 17)).message(7, graph).toBytes());
    }

    private static float[] run(InferenceModel model, Map<String, Tensor> given) {
        Map<String, Tensor> all = new LinkedHashMap<>(model.parameters());
        all.put("x", Tensor.of(new float[]{0, 1, 2, 3, 4, 5}, 2, 3));
        all.putAll(given);
        Tensor y = Objects.requireNonNull(Interpreter.of(Kernels.portable()).run(model.program(), all,
                List.of("y")).get("y"));
        float[] values = Arrays.copyOf(y.toFloatArray(), (int) y.shape().size() + 1);
        values[values.length - 1] = y.shape().dims()[0];
        return values;
    }

    /** Neither what is computed of an initialiser that may be fed nor the sizes that it gives are constants. */
    @ParameterizedTest
    @CsvSource({"Reshape,3 2,1 6,0 1 2 3 4 5 3,0 1 2 3 4 5 1", "Gather,1,0,3 4 5 3,0 1 2 3",
            "Tile,1 1,1 2,0 1 2 3 4 5 2,0 1 2 0 1 2 3 4 5 3 4 5 2", "Expand,2 3,1 3,0 1 2 3 4 5 2,0 1 2 3 4 5 2"})
    void initialisersThatMayBeFedAreNotFolded(String type, String own, String fed, String expected, String changed)
            throws IOException {
        long[] number = Stream.of(own.split(" ")).mapToLong(Long::parseLong).toArray();
        boolean scalar = type.equals("Gather");
        Path file = model(type, longs("k", scalar, number), 8, scalar ? new long[0] : new long[number.length]);
        try (InferenceModel model = OnnxModels.load(file)) {
            assertEquals(List.of("x"), model.feeds());
            assertTrue(model.parameters().containsKey("k"), model.parameters().toString());
            assertArrayEquals(floats(expected), run(model, Map.of()));
            long[] other = Stream.of(fed.split(" ")).mapToLong(Long::parseLong).toArray();
            assertArrayEquals(floats(changed), run(model, Map.of("k", scalar
                    ? Tensor.of(other, new long[0])
                    : Tensor.of(other, other.length))));
        }
        try (InferenceModel model = OnnxModels.load(model(type, longs("k", scalar, number), 3,
                scalar ? new long[0] : new long[number.length]))) {
            assertFalse(model.parameters().containsKey("k"), "before version 4, initialisers cannot be fed");
        }
    }

    /** Scales of an image stand in the program, unless anything computes with them or they may be fed. */
    @ParameterizedTest
    @ValueSource(strings = {"alone", "computed with", "fed"})
    void scalesAreLiterals(String use) throws IOException {
        WireMessage scales = message().number(1, 2).number(2, FLOAT).text(8, "scales").real(4, 1).real(4, 2);
        WireMessage graph = message().text(2, "g")
                .message(1, message().texts(1, "x", "", "scales").text(2, "y").text(4, "Resize")
                        .message(5, message().text(1, "coordinate_transformation_mode").bytes(4, "asymmetric"
                                .getBytes(StandardCharsets.UTF_8)).number(20, 3)))
                .message(5, scales).message(11, value("x", FLOAT, 2, 3)).message(12, value("y", FLOAT, -1, -1));
        if (use.equals("computed with")) {
            graph.message(1, message().texts(1, "scales").text(2, "z").text(4, "Sqrt")).message(12,
                    value("z", FLOAT, 2));
        } else if (use.equals("fed")) {
            graph.message(11, value("scales", FLOAT, 2));
        }
        Path file = Files.write(folder.resolve("scales.onnx"), WireMessage.model(graph, 17).toBytes());
        try (InferenceModel model = OnnxModels.load(file)) {
            assertEquals(!use.equals("alone"), model.parameters().containsKey("scales"), use);
            assertArrayEquals(floats("0 0 1 1 2 2 3 3 4 4 5 5 2"), run(model, Map.of()));
        }
    }

    /** A shape of ones in front of kept dimensions; x is [2, 3], and what follows needs the sizes of the result. */
    @ParameterizedTest
    @CsvSource({"2,3", "-1,3", "2,-1"})
    void expandKeepsDimensionsFromTheRight(long rows, long columns) throws IOException {
        WireMessage graph = message().text(2, "g")
                .message(1, message().texts(1, "x", "shape").text(2, "e").text(4, "Expand"))
                .message(1, message().texts(1, "e", "to").text(2, "y").text(4, "Reshape"))
                .message(5, longs("shape", false, 4, 1, 1)).message(5, longs("to", false, 2, 12))
                .message(11, value("x", FLOAT, rows, columns)).message(12, value("y", FLOAT, -1, -1));
        Path file = Files.write(folder.resolve("expand.onnx"), WireMessage.model(graph, 17).toBytes());
        try (InferenceModel model = OnnxModels.load(file)) {
            assertArrayEquals(floats("0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5 2"), run(model, Map.of()));
        }
    }

    /** x is [2, 3] with rows of 0 1 2 and 3 4 5; the last number of what is expected is the length of axis 0. */
    @ParameterizedTest
    @CsvSource({"0,1,false,3 4 5 3,false", "1,-1,false,2 5 2,false", "1,1 2,false,1 2 4 5 2,false",
            "1,-2 -1,false,1 2 4 5 2,false", "1,0 1 2,false,0 1 2 3 4 5 2,false", "1,1,true,1 4 2,false",
            "1,2 1,false,2 1 5 4 2,true", "1,2 0,false,2 0 5 3 2,true"})
    void constantPlacesThatFollowOneAnotherAreSlices(int axis, String places, boolean isList, String expected,
            boolean gathers) throws IOException {
        long[] numbers = Stream.of(places.split(" ")).mapToLong(Long::parseLong).toArray();
        WireMessage graph = message().text(2, "g")
                .message(1, message().texts(1, "x", "k").text(2, "y").text(4, "Gather")
                        .message(5, message().text(1, "axis").number(3, axis).number(20, 2)))
                .message(5, longs("k", numbers.length == 1 && !isList, numbers))
                .message(11, value("x", FLOAT, 2, 3)).message(12, value("y", FLOAT, -1, -1));
        Path file = Files.write(folder.resolve("gather.onnx"), WireMessage.model(graph, 17).toBytes());
        try (InferenceModel model = OnnxModels.load(file)) {
            assertEquals(gathers, model.program().toString().contains("gather"), model.program().toString());
            assertArrayEquals(floats(expected), run(model, Map.of()));
        }
    }

    private static float[] floats(String text) {
        String[] words = text.split(" ", -1);
        float[] floats = new float[words.length];
        for (int i = 0; i < words.length; i++) {
            floats[i] = Float.parseFloat(words[i]);
        }
        return floats;
    }

    @Test
    void indexesOfInitialisersAreFolded() throws IOException {
        Tensor x = Tensor.of(new float[]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 2, 2, 3);
        try (InferenceModel model = OnnxModels.load(model());
                Executor executor = Executor.builder().build()) {
            model.parameters().forEach(executor.scope()::set);
            assertEquals(Set.of("k"), model.parameters().keySet());
            String plan = PlanView.of(executor, model.program(), 2, model.fetches()).text();
            assertFalse(plan.contains("interpreted"), plan);
            float[] own = executor.compile(model.program(), new Feeds(List.of("x")), new Fetches(List.of("z"))).run(x)
                    .get("z").toFloatArray();
            assertArrayEquals(new float[]{1, 7}, own);
            float[] fed = executor.compile(model.program(), new Feeds(List.of("x", "k")), new Fetches(List.of("z")))
                    .run(x, Tensor.of(new long[]{5}, 1)).get("z").toFloatArray();
            assertArrayEquals(new float[]{5, 11}, fed);
        }
    }
}
