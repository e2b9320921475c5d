package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models that are made to harm. */
final class HandMadeModelsTest {
    private static final int FLOAT = 1;
    private static final int INT64 = 7;
    private static final long HUGE = 1L << 62;

    @TempDir
    Path folder = Path.of("");

    private static WireMessage message() {
        return new WireMessage();
    }

    private static WireMessage opset(String domain, long version) {
        return message().text(1, domain).number(2, version);
    }

    private static WireMessage model(WireMessage graph) {
        return message().number(1, 8).message(8, opset("", 17)).message(8, opset("own", 1)).message(7, graph);
    }

    private static WireMessage value(String name, long... dims) {
        WireMessage shape = message();
        for (long dim : dims) {
            shape.message(1, message().number(1, dim));
        }
        return message().text(1, name)
                .message(2, message().message(1, message().number(1, FLOAT).message(2, shape)));
    }

    private static WireMessage node(String type, String output, String... inputs) {
        return message().texts(1, inputs).text(2, output).text(4, type);
    }

    private static WireMessage own(String type, String output, String... inputs) {
        return node(type, output, inputs).text(7, "own");
    }

    private static WireMessage numbers(String name, long... values) {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            bytes.putLong(value);
        }
        return message().number(1, values.length).number(2, INT64).text(8, name).bytes(9, bytes.array());
    }

    private static WireMessage number(String name, long value) {
        WireMessage tensor = numbers(name, value);
        tensor.fields.removeFirst();
        return tensor;
    }

    /** A graph from x [2, 3] to y. */
    private static WireMessage graph(WireMessage... nodes) {
        WireMessage graph = message().text(2, "g").message(11, value("x", 2, 3)).message(12, value("y"));
        for (WireMessage node : nodes) {
            graph.message(1, node);
        }
        return graph;
    }

    private Path written(WireMessage model) throws IOException {
        return Files.write(folder.resolve("made.onnx"), model.toBytes());
    }

    private void assertRefused(WireMessage model, Class<? extends Exception> type, String... parts) throws IOException {
        Path file = written(model);
        String message = String.valueOf(assertThrows(type, () -> OnnxModels.load(file).close()).getMessage());
        assertTrue(message.contains("made.onnx"), message);
        for (String part : parts) {
            assertTrue(message.contains(part), message);
        }
    }

    private void assertRefused(WireMessage graph, String... parts) throws IOException {
        assertRefused(model(graph), IllegalArgumentException.class, parts);
    }

    @Test
    void cyclesAreRefused() throws IOException {
        assertRefused(graph(node("Relu", "y", "z"), node("Relu", "z", "y")), "[z]", "form a cycle");
        assertRefused(graph(node("Relu", "y", "y")), "[y]", "reads its own result");
    }

    private static long[] ones(int count) {
        long[] ones = new long[count];
        Arrays.fill(ones, 1);
        return ones;
    }

    /** In what reads, declares or computes it. */
    private static List<WireMessage> graphsOf(int rank) {
        WireMessage wide = numbers("wide", 1);
        wide.fields.removeFirst();
        for (int i = 0; i < rank; i++) {
            wide.number(1, 1);
        }
        WireMessage shape = numbers("shape", ones(rank));
        WireMessage integers = message().text(1, "shape").number(20, 7);
        for (int i = 0; i < rank; i++) {
            integers.number(8, 1);
        }
        return List.of(graph(node("Reshape", "y", "one", "shape")).message(5, number("one", 1)).message(5, shape),
                graph(node("Expand", "y", "x", "shape")).message(5, shape),
                graph(node("Unsqueeze", "y", "x", "shape")).message(5,
                        numbers("shape", LongStream.range(0, rank).toArray())),
                graph(node("ConstantOfShape", "y", "shape")).message(5, shape),
                graph(node("RandomNormal", "y").message(5, integers)),
                graph(node("Add", "y", "x", "wide")).message(5, wide),
                graph(node("Constant", "y").message(5, message().text(1, "value").number(20, 4).message(5, wide))),
                graph(node("Relu", "z", "x")).message(12, value("z", ones(rank))),
                graph(node("Relu", "y", "wide")).message(11, value("wide", ones(rank))));
    }

    @Test
    void ranksAreLimited() throws IOException {
        for (int rank : new int[]{33, 100_000}) {
            for (WireMessage graph : graphsOf(rank)) {
                Path file = written(model(graph));
                String message = String.valueOf(assertThrows(Exception.class, () -> OnnxModels.load(file).close())
                        .getMessage());
                assertTrue(message.contains("dimensions") && message.contains("at most 32")
                        && message.length() < 2000, message);
            }
        }
        assertEquals(32, dims(graphsOf(32).getFirst()).length);
    }

    private long[] dims(WireMessage graph) throws IOException {
        try (InferenceModel model = OnnxModels.load(written(model(graph)))) {
            return model.program().global().get(model.fetches().getFirst()).tensor().shape();
        }
    }

    @Test
    void namesAreUnique() throws IOException {
        assertRefused(graph(node("Relu", "y", "x"), node("Abs", "y", "x")), "'y'", "unique");
        assertRefused(graph(node("Relu", "y", "x")).message(11, value("x", 2)), "'x'", "unique");
        assertRefused(model(graph(node("Relu", "y", "x")).message(5, numbers("c", 1)).message(5, numbers("c", 2))),
                FileFormatException.class, "'c'");
        assertRefused(model(graph(node("Relu", "y", "x")).message(12, value("y"))), FileFormatException.class, "'y'");
    }

    @Test
    void typesMustFit() throws IOException {
        assertRefused(graph(node("Conv", "y", "x", "x")), "Conv");
        assertRefused(graph(node("MatMul", "y", "x", "x")), "MatMul");
        assertRefused(graph(node("If", "y", "x")), "If");
        WireMessage axis = message().text(1, "axis").real(2, 1).number(20, 1);
        assertRefused(graph(node("Softmax", "y", "x").message(5, axis)), "Softmax", "axis");
    }

    @ParameterizedTest
    @ValueSource(longs = {HUGE, Long.MAX_VALUE, -1, Long.MIN_VALUE, 1L << 40})
    void initialisersOfHugeDimensionsAreRefused(long dim) throws IOException {
        WireMessage tensor = message().number(1, dim).number(1, 4).number(2, FLOAT).text(8, "c").bytes(9, new byte[8]);
        assertRefused(model(graph(node("Relu", "y", "c")).message(5, tensor)), FileFormatException.class, "'c'");
    }

    /** What is computed of constants while a file is read is small. Whether such a model can run is another matter. */
    @ParameterizedTest
    @CsvSource({"ConstantOfShape,1099511627776", "ConstantOfShape,4611686018427387904", "Expand,1099511627776",
            "Expand,4611686018427387904", "Tile,1099511627776", "Tile,4611686018427387904", "Range,1099511627776",
            "Range,4611686018427387904", "OneHot,4611686018427387904", "OneHot,1099511627776",
            "Reshape,4611686018427387904", "Pad,1099511627776", "Pad,4611686018427387904", "Split,4611686018427387904",
            "HannWindow,4611686018427387904", "Slice,4611686018427387904", "Trilu,4611686018427387904",
            "TopK,4611686018427387904", "Unsqueeze,4611686018427387904"})
    void hugeSizesTakeNoMemory(String type, long size) throws IOException {
        WireMessage node = switch (type) {
            case "ConstantOfShape", "HannWindow" -> node(type, "y", "size");
            case "Range" -> node(type, "y", "zero", "number", "one");
            case "OneHot" -> node(type, "y", "ones", "number", "pair");
            case "Pad" -> node(type, "y", "ones", "pads");
            case "Slice" -> node(type, "y", "ones", "size", "size");
            default -> node(type, "y", "ones", "size");
        };
        WireMessage graph = graph(node).message(5, numbers("ones", 1)).message(5, number("zero", 0))
                .message(5, number("one", 1)).message(5, number("number", size)).message(5, numbers("pair", 0, 1))
                .message(5, numbers("pads", size, size)).message(5, numbers("size", size));
        Path file = written(model(graph));
        try (InferenceModel model = OnnxModels.load(file)) {
            assertEquals(1, model.fetches().size());
        } catch (IllegalArgumentException e) {
            assertTrue(String.valueOf(e.getMessage()).contains("made.onnx"), e.getMessage());
            assertTrue(String.valueOf(e.getMessage()).contains(type), e.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {HUGE, Integer.MAX_VALUE, -1, 0, (1L << 32) + 1, Long.MIN_VALUE})
    void numbersOfPartsAreChecked(long parts) throws IOException {
        WireMessage count = message().text(1, "num_outputs").number(3, parts).number(20, 2);
        WireMessage model = message().number(1, 8).message(8, opset("", 18))
                .message(7, graph(node("Split", "y", "x").message(5, count)));
        assertRefused(model, IllegalArgumentException.class, "Split");
    }

    @Test
    void sequencesAreNoTensors() throws IOException {
        WireMessage list = node("SequenceConstruct", "s", "x", "x");
        assertRefused(graph(list, node("Relu", "y", "s")), "Relu", "sequence");
        assertRefused(graph(list, node("SequenceInsert", "y", "x", "x")), "SequenceInsert", "is a tensor");
        WireMessage type = message().text(1, "type").message(14, message().message(1, message().number(1, FLOAT)))
                .number(20, 13);
        assertRefused(graph(node("Optional", "o").message(5, type), node("Relu", "y", "o")), "Relu", "may be missing");
        assertRefused(graph(node("Optional", "o").message(5, type), node("OptionalGetElement", "y", "o")),
                "OptionalGetElement", "has no element");
    }

    @ParameterizedTest
    @ValueSource(longs = {2, -3, HUGE, Long.MIN_VALUE, Long.MAX_VALUE})
    void placesOfSequencesAreChecked(long at) throws IOException {
        WireMessage list = node("SequenceConstruct", "s", "x", "x");
        for (String type : new String[]{"SequenceAt", "SequenceErase"}) {
            String reader = type.equals("SequenceAt") ? "Neg" : "SequenceLength";
            WireMessage graph = graph(list, node(type, "t", "s", "at"), node(reader, "y", "t"));
            assertRefused(graph.message(5, number("at", at)), type, "between -2 and 1", Long.toString(at));
        }
    }

    /** A sequence that is mapped in a body that maps it again would be repeated 256³ times. */
    @Test
    void sequencesDoNotMultiplyGraphsWithoutEnd() throws IOException {
        WireMessage body = null;
        for (int i = 0; i < 4; i++) {
            WireMessage inner = message().text(2, "g").message(11, value("e" + i)).message(12, value("r" + i));
            if (body == null) {
                inner.message(1, node("Relu", "r0", "e0"));
            } else {
                inner.message(1, node("SequenceMap", "m" + i, "s").message(5, body(body)))
                        .message(1, node("SequenceAt", "r" + i, "m" + i, "zero"));
            }
            body = inner;
        }
        WireMessage graph = graph(node("SplitToSequence", "s", "ones"), node("SequenceMap", "m", "s").message(5,
                body(Objects.requireNonNull(body))), node("SequenceAt", "y", "m", "zero"));
        long[] ones = new long[100];
        assertRefused(graph.message(5, numbers("ones", ones)).message(5, number("zero", 0)), "too often");
    }

    private static WireMessage body(WireMessage graph) {
        return message().text(1, "body").message(6, graph).number(20, 5);
    }

    @Test
    void windowsOverChannelsAreLimitedByTheirNumber() throws IOException {
        WireMessage size = message().text(1, "size").number(3, 1 << 30).number(20, 2);
        WireMessage graph = message().text(2, "g").message(1, node("LRN", "y", "x").message(5, size))
                .message(11, value("x", 1, 4, 2, 2)).message(12, value("y"));
        assertRefused(graph, "LRN", "size");
    }

    @Test
    void graphsAreNotDeep() throws IOException {
        WireMessage graph = graph(node("Relu", "y", "x"));
        for (int i = 0; i < 200; i++) {
            WireMessage then = message().text(1, "then_branch").message(6, graph).number(20, 5);
            graph = graph(node("If", "y", "x").message(5, then));
        }
        assertRefused(model(graph), FileFormatException.class, "deep");
    }

    @Test
    void functionsDoNotCallThemselves() throws IOException {
        WireMessage function = message().text(1, "F").text(4, "a").text(5, "b").message(7, own("F", "b", "a"))
                .message(9, opset("own", 1)).text(10, "own");
        assertRefused(model(graph(own("F", "y", "x"))).message(25, function), IllegalArgumentException.class, "'F'");
    }

    /** 60 functions of which each calls the next twice would be 2⁶⁰ nodes. */
    @Test
    void functionsDoNotMultiplyWithoutEnd() throws IOException {
        WireMessage model = model(graph(own("F0", "y", "x")));
        for (int i = 0; i < 60; i++) {
            String next = "F" + (i + 1);
            model.message(25, message().text(1, "F" + i).text(4, "a").text(5, "b").message(7, own(next, "m", "a"))
                    .message(7, own(next, "b", "m")).message(9, opset("own", 1)).text(10, "own"));
        }
        model.message(25, message().text(1, "F60").text(4, "a").text(5, "b").message(7, node("Identity", "b", "a"))
                .message(9, opset("", 17)).text(10, "own"));
        assertRefused(model, IllegalArgumentException.class, "too often");
    }

    private static WireMessage external(String location, long offset, long length) {
        WireMessage tensor = message().number(1, 2).number(2, FLOAT).text(8, "c").number(14, 1);
        tensor.message(13, message().text(1, "location").text(2, location));
        tensor.message(13, message().text(1, "offset").text(2, Long.toString(offset)));
        tensor.message(13, message().text(1, "length").text(2, Long.toString(length)));
        return model(graph(node("Relu", "y", "c")).message(5, tensor));
    }

    @Test
    void externalDataLieInTheFolder() throws IOException {
        Path outside = Files.write(Files.createDirectories(folder.resolve("outside")).resolve("data"), new byte[64]);
        Path inner = Files.createDirectories(folder.resolve("models"));
        Files.write(inner.resolve("data"), new byte[64]);
        Files.createSymbolicLink(inner.resolve("link"), outside);
        Files.createSymbolicLink(inner.resolve("dir"), folder.resolve("outside"));
        folder = inner;
        OnnxModels.load(written(external("data", 56, 8))).close();
        for (String location : new String[]{"../outside/data", outside.toString(), "link", "dir/data", "", ".", "..",
                "missing", "a\0b", "x/../../outside/data"}) {
            assertRefused(external(location, 0, 8), FileFormatException.class, "'c'");
        }
        long[][] ranges = {{0, 9}, {57, 8}, {-1, 8}, {0, -8}, {Long.MAX_VALUE, 8}, {8, Long.MAX_VALUE}, {64, 8},
                {0, 1L << 40}};
        for (long[] range : ranges) {
            assertRefused(external("data", range[0], range[1]), FileFormatException.class, "'c'");
        }
    }

    @Test
    void lengthsOfMessagesAreChecked() throws IOException {
        for (int cut = 1; cut < 40; cut++) {
            byte[] bytes = model(graph(node("Relu", "y", "x"))).toBytes();
            Path file = Files.write(folder.resolve("cut.onnx"), Arrays.copyOf(bytes, bytes.length - cut));
            assertTrue(String.valueOf(assertThrows(FileFormatException.class, () -> OnnxModels.load(file).close())
                    .getMessage()).contains("cut.onnx"));
        }
        assertArrayEquals(new byte[]{8, 8}, message().number(1, 8).toBytes());
    }
}
