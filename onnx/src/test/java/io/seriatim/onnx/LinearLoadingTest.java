package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.seriatim.executor.Predictor;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Loading, compiling and running a file for the first time takes linear work, which is measured by the bytes that all
 * threads allocate.
 */
@Tag("slow")
class LinearLoadingTest {
    private static final int TIMES = 4;
    /** Tables double, and what does not depend on the count is small. */
    private static final double AT_MOST = 5.5;
    private static final long CONSTANT = 8 << 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    Path folder = Path.of("");

    /** What a file has many of. */
    enum Part {
        NODES(300), INPUTS(300), FETCHED_OUTPUTS(300), READ_OUTPUTS(300), JOINED_OUTPUTS(300), ATTRIBUTES(
                400), INITIALISERS(300), DIMENSIONS(60), LIST(600),
        /** Each depends on the one before. */
        CONDITIONS(60),
        /** All are read by one operation. */
        SEPARATE_CONDITIONS(60),
        /** The size of each result is known only at run time, and something is computed from it. */
        LATE_SIZES(40);

        private final int count;

        Part(int count) {
            this.count = Boolean.getBoolean("seriatim.full") ? 4 * count : count;
        }

        boolean isLong() {
            return this == FETCHED_OUTPUTS || this == READ_OUTPUTS || this == JOINED_OUTPUTS;
        }

        boolean isConditional() {
            return this == CONDITIONS || this == SEPARATE_CONDITIONS || this == LATE_SIZES;
        }
    }

    static List<Arguments> cases() {
        List<Arguments> cases = new ArrayList<>();
        for (Part part : Part.values()) {
            for (String ending : List.of(".onnx", ".pdmodel", ".json")) {
                cases.add(Arguments.of(part, ending));
            }
        }
        return cases;
    }

    private static WireMessage message() {
        return new WireMessage();
    }

    private static WireMessage value(String name, long length) {
        WireMessage shape = message().message(1, message().number(1, length));
        return message().text(1, name)
                .message(2, message().message(1, message().number(1, 1).message(2, shape)));
    }

    private static WireMessage node(String type, String[] inputs, String... outputs) {
        return message().texts(1, inputs).texts(2, outputs).text(4, type);
    }

    private static String[] names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toArray(String[]::new);
    }

    private static WireMessage branch(String type, String from, String to) {
        return message().text(2, to).message(1, node(type, new String[]{from}, to)).message(12, value(to, 1));
    }

    private static WireMessage condition(String from, String to) {
        return node("If", new String[]{"c"}, to)
                .message(5, message().text(1, "then_branch").message(6, branch("Relu", from, to + "t")).number(20, 5))
                .message(5, message().text(1, "else_branch").message(6, branch("Neg", from, to + "e")).number(20, 5));
    }

    private static WireMessage condition() {
        return message().text(1, "c").message(2,
                message().message(1, message().number(1, 9).message(2, message())));
    }

    private static WireMessage number(String name, long value) {
        return message().text(1, name).number(3, value).number(20, 2);
    }

    private static WireMessage graph(Part part, int count) {
        WireMessage graph = message().text(2, "g");
        String[] x = {"x"};
        switch (part) {
            case NODES -> {
                graph.message(11, value("x", 1)).message(12, value("v" + count, 1));
                graph.message(1, node("Relu", x, "v1"));
                for (int i = 2; i <= count; i++) {
                    graph.message(1, node("Relu", new String[]{"v" + (i - 1)}, "v" + i));
                }
            }
            case INPUTS -> {
                Arrays.stream(names("x", count)).forEach(name -> graph.message(11, value(name, 1)));
                graph.message(12, value("y", 1)).message(1, node("Sum", names("x", count), "y"));
            }
            case FETCHED_OUTPUTS -> {
                graph.message(11, value("x", count)).message(1,
                        node("Split", new String[]{"x", "sizes"}, names("y", count)));
                Arrays.stream(names("y", count)).forEach(name -> graph.message(12, value(name, 1)));
            }
            case READ_OUTPUTS -> graph.message(11, value("x", count)).message(12, value("y", count))
                    .message(1, node("Split", new String[]{"x", "sizes"}, names("v", count)))
                    .message(1, node("Sum", names("v", count), "y"));
            case JOINED_OUTPUTS -> graph.message(11, value("x", count)).message(12, value("y", count))
                    .message(1, node("Split", new String[]{"x", "sizes"}, names("v", count)))
                    .message(1, node("Concat", names("v", count), "y").message(5, number("axis", 0)));
            case DIMENSIONS -> {
                graph.message(11, value("x", 1)).message(12, value("y", 1));
                String[] all = names("w", count);
                for (String name : all) {
                    WireMessage shape = message();
                    IntStream.range(0, 30).forEach(_ -> shape.message(1, message().number(1, 1)));
                    graph.message(13, message().text(1, name)
                            .message(2, message().message(1, message().number(1, 1).message(2, shape))));
                    WireMessage sizes = message().number(2, 7).number(1, 30).text(8, name + "s");
                    byte[] ones = new byte[30 * Long.BYTES];
                    IntStream.range(0, 30).forEach(i -> ones[i * Long.BYTES] = 1);
                    graph.message(5, sizes.bytes(9, ones)).message(1,
                            node("Reshape", new String[]{"x", name + "s"}, name));
                }
                graph.message(5, message().number(2, 7).number(1, 1).text(8, "one").bytes(9,
                        new byte[]{1, 0, 0, 0, 0, 0, 0, 0}));
                graph.message(1, node("Sum", all, "s")).message(1, node("Reshape", new String[]{"s", "one"}, "y"));
            }
            case LIST -> graph.message(11, value("x", 1)).message(12, value("y", count))
                    .message(1, node("SequenceConstruct", Collections.nCopies(count, "x").toArray(new String[0]), "l"))
                    .message(1, node("ConcatFromSequence", new String[]{"l"}, "y").message(5, number("axis", 0)));
            case CONDITIONS, LATE_SIZES -> {
                graph.message(11, condition()).message(11, value("x", 1)).message(12, value("y", 1));
                String last = "x";
                for (int i = 0; i < count; i++) {
                    graph.message(1, condition(last, "v" + i));
                    last = "v" + i;
                    if (part == Part.LATE_SIZES) {
                        graph.message(1, node("Neg", new String[]{last}, "n" + i));
                        last = "n" + i;
                    }
                }
                graph.message(1, node("Relu", new String[]{last}, "y"));
            }
            case SEPARATE_CONDITIONS -> {
                graph.message(11, condition()).message(11, value("x", 1)).message(12, value("y", 1));
                Arrays.stream(names("v", count)).forEach(name -> graph.message(1, condition("x", name)));
                graph.message(1, node("Sum", names("v", count), "y"));
            }
            case ATTRIBUTES -> {
                WireMessage node = node("Relu", x, "y");
                for (int i = 0; i < count; i++) {
                    node.message(5, message().text(1, "a" + i).number(3, i).number(20, 2));
                }
                graph.message(11, value("x", 1)).message(12, value("y", 1)).message(1, node);
            }
            case INITIALISERS -> {
                graph.message(11, value("x", 1)).message(12, value("y", 1));
                for (String name : names("w", count)) {
                    byte[] one = ByteBuffer.allocate(Float.BYTES).order(ByteOrder.LITTLE_ENDIAN).putFloat(1).array();
                    graph.message(5, message().number(1, 1).number(2, 1).text(8, name).bytes(9, one));
                }
                graph.message(1, node("Sum", names("w", count), "s"))
                        .message(1, node("Add", new String[]{"x", "s"}, "y"));
            }
        }
        if (part.isLong()) {
            ByteBuffer ones = ByteBuffer.allocate(count * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            IntStream.range(0, count).forEach(_ -> ones.putLong(1));
            graph.message(5, message().number(2, 7).number(1, count).text(8, "sizes").bytes(9, ones.array()));
        }
        return graph;
    }

    private long allocated(Part part, String ending, int count) throws Exception {
        WireMessage model = message().number(1, 8).message(8, message().text(1, "").number(2, 17))
                .message(7, graph(part, count));
        Path written = Files.write(folder.resolve(part + "." + count + ".onnx"), model.toBytes());
        Path file = folder.resolve(part + "." + count + ending);
        if (!ending.equals(".onnx")) {
            try (InferenceModel read = InferenceModels.load(written)) {
                InferenceModels.save(file, read);
            }
        }
        Map<String, Tensor> feeds = new HashMap<>();
        String[] fed = part == Part.INPUTS ? names("x", count) : new String[]{"x"};
        for (String name : fed) {
            int length = part.isLong() ? count : 1;
            feeds.put(name, Tensor.of(DType.FLOAT32, new double[length], length));
        }
        if (part.isConditional()) {
            feeds.put("c", Tensor.of(DType.BOOL, new double[]{1}).reshape());
        }
        long before = THREADS.getTotalThreadAllocatedBytes();
        try (Predictor predictor = Predictor.load(file)) {
            predictor.run(feeds);
        }
        return THREADS.getTotalThreadAllocatedBytes() - before;
    }

    @ParameterizedTest
    @MethodSource("cases")
    void filesWithManyParts(Part part, String ending) throws Exception {
        allocated(part, ending, 10);
        long one = allocated(part, ending, part.count);
        long more = allocated(part, ending, TIMES * part.count);
        assertTrue(more < AT_MOST * one + CONSTANT, one + " bytes for " + part.count + ", " + more + " for " + TIMES
                + " times as many");
    }
}
