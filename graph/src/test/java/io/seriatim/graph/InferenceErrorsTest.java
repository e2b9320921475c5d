package io.seriatim.graph;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Shapes that do not fit are refused when an operation is added, with its name, slots and shapes; unknown dimensions
 * are passed on.
 */
class InferenceErrorsTest {
    private static void refused(String operation, List<String> parts, Function<Graph, Value> body) {
        Exception e = assertThrows(IllegalArgumentException.class,
                () -> Network.define(graph -> Outputs.of("y", body.apply(graph))));
        String message = String.valueOf(e.getMessage());
        assertTrue(message.startsWith("Operation '" + operation + "': "), message);
        parts.forEach(part -> assertTrue(message.contains(part), () -> "'" + part + "' is not in: " + message));
    }

    private static Value x(Graph g, long... dims) {
        return g.data("x", FLOAT32, dims);
    }

    private static Value y(Graph g, long... dims) {
        return g.data("y", FLOAT32, dims);
    }

    @Test
    void products() {
        List<String> parts = List.of("X=x float32[2, 3]", "Y=y float32[4, 5]");
        refused("matmul_v2", parts, g -> x(g, 2, 3).matmul(y(g, 4, 5)));
    }

    @Test
    void elementwise() {
        List<String> parts = List.of("X=x float32[2, 3]", "Y=y float32[4]");
        refused("elementwise_add", parts, g -> x(g, 2, 3).plus(y(g, 4)));
        refused("elementwise_mul", parts, g -> x(g, 2, 3).times(y(g, 4)));
    }

    @Test
    void shapes() {
        refused("reshape2", List.of("X=x float32[2, 3]"), g -> x(g, 2, 3).reshape(4, 2));
        refused("transpose2", List.of("X=x float32[2, 3]"), g -> x(g, 2, 3).transpose(0, 1, 2));
        refused("concat", List.of("x float32[2, 3]", "y float32[3, 3]"), g -> g.concat(1, x(g, 2, 3), y(g, 3, 3)));
        refused("split", List.of("X=x float32[2, 3]"), g -> x(g, 2, 3).split(2, 1).getFirst());
        refused("stack", List.of("x float32[2, 3]", "y float32[3, 3]"), g -> g.stack(0, x(g, 2, 3), y(g, 3, 3)));
        refused("expand_v2", List.of("X=x float32[2, 3]"), g -> x(g, 2, 3).expand(2, 5));
    }

    @Test
    void axes() {
        refused("softmax", List.of("X=x float32[2, 3]"), g -> x(g, 2, 3).softmax(2));
        refused("reduce_sum", List.of("X=x float32[2, 3]"), g -> x(g, 2, 3).sum(2));
        refused("gather", List.of("X=x float32[2, 3]"), g -> x(g, 2, 3).gather(g.data("i", INT64, 4), 2));
    }

    @Test
    void images() {
        refused("pool2d", List.of("X=x float32[2, 3]"), g -> x(g, 2, 3).maxPool2d(2, 2, 0));
        refused("conv2d", List.of("Input=x float32[2, 4, 8, 8]"),
                g -> g.layers().conv2d(3, 4, 3).make().apply(x(g, 2, 4, 8, 8)));
    }

    @Test
    void losses() {
        refused("softmax_with_cross_entropy", List.of("Logits=x float32[2, 3]", "Label=y int64[4, 1]"),
                g -> g.softmaxCrossEntropy(x(g, 2, 3), g.data("y", INT64, 4, 1)));
    }

    private static void inferred(List<Long> dims, Function<Graph, Value> body) {
        Network.define(graph -> {
            assertEquals(dims, body.apply(graph).shape());
            return Outputs.none();
        });
    }

    @Test
    void unknownDimensions() {
        inferred(List.of(-1L, 5L), g -> x(g, -1, 3).matmul(y(g, 3, 5)));
        inferred(List.of(-1L, 3L), g -> x(g, -1, 3).plus(y(g, 3)));
        inferred(List.of(3L, -1L), g -> x(g, -1, 3).transpose(1, 0));
        inferred(List.of(-1L, 12L), g -> x(g, -1, 3, 4).flatten(1));
        inferred(List.of(-1L, 6L), g -> g.concat(1, x(g, -1, 3), y(g, -1, 3)));
        inferred(List.of(-1L, 3L), g -> g.concat(0, x(g, -1, 3), y(g, 2, 3)));
        inferred(List.of(-1L), g -> x(g, -1, 3).sum(1));
        inferred(List.of(3L), g -> x(g, -1, 3).mean(0));
        inferred(List.of(), g -> x(g, -1, 3).mean());
        inferred(List.of(-1L, 4L, 6L, 6L), g -> g.conv2d(x(g, -1, 3, 8, 8), 4, 3, 1, 0));
        inferred(List.of(-1L, 3L, 4L, 4L), g -> x(g, -1, 3, 8, 8).maxPool2d(2, 2, 0));
        inferred(List.of(-1L, 1L), g -> g.softmaxCrossEntropy(x(g, -1, 3), g.data("y", INT64, -1, 1)));
        inferred(List.of(-1L, 5L, 8L), g -> g.embedding(g.data("i", INT64, -1, 5), 10, 8));
        inferred(List.of(-1L, 2L), g -> x(g, -1, 3).slice(1, 1, 3));
        inferred(List.of(-1L, 3L, 1L), g -> x(g, -1, 3).unsqueeze(2));
    }
}
