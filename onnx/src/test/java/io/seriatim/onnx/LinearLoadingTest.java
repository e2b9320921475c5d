package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.seriatim.executor.Predictor;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Loading, compiling and running a file for the first time takes linear work, which is measured by the bytes that all
 * threads allocate.
 */
@Tag("slow")
class LinearLoadingTest {
    private static final int COUNT = 1_500;
    private static final int TIMES = 4;
    /** Tables double, and what does not depend on the count is small. */
    private static final double AT_MOST = 5.5;
    private static final long CONSTANT = 16 << 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    Path folder = Path.of("");

    /** What a file has many of. */
    enum Part {
        NODES, INPUTS, FETCHED_OUTPUTS, READ_OUTPUTS, ATTRIBUTES, INITIALISERS
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
                graph.message(11, value("x", count)).message(1, node("Split", x, names("y", count)));
                Arrays.stream(names("y", count)).forEach(name -> graph.message(12, value(name, 1)));
            }
            case READ_OUTPUTS -> graph.message(11, value("x", count)).message(12, value("y", count))
                    .message(1, node("Split", x, names("v", count)))
                    .message(1, node("Sum", names("v", count), "y"));
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
        return graph;
    }

    private long allocated(Part part, int count) throws Exception {
        WireMessage model = message().number(1, 8).message(8, message().text(1, "").number(2, 17))
                .message(7, graph(part, count));
        Path file = Files.write(folder.resolve(part + "." + count + ".onnx"), model.toBytes());
        Map<String, Tensor> feeds = new HashMap<>();
        String[] fed = part == Part.INPUTS ? names("x", count) : new String[]{"x"};
        boolean isLong = part == Part.FETCHED_OUTPUTS || part == Part.READ_OUTPUTS;
        for (String name : fed) {
            int length = isLong ? count : 1;
            feeds.put(name, Tensor.of(DType.FLOAT32, new double[length], length));
        }
        long before = THREADS.getTotalThreadAllocatedBytes();
        try (Predictor predictor = Predictor.load(file)) {
            predictor.run(feeds);
        }
        return THREADS.getTotalThreadAllocatedBytes() - before;
    }

    @ParameterizedTest
    @EnumSource(Part.class)
    void filesWithManyParts(Part part) throws Exception {
        allocated(part, 10);
        long one = allocated(part, COUNT);
        long more = allocated(part, TIMES * COUNT);
        assertTrue(more < AT_MOST * one + CONSTANT, one + " bytes for " + COUNT + ", " + more + " for " + TIMES
                + " times as many");
    }
}
