package io.seriatim.graph.ops;

import io.seriatim.graph.GradientCheck;
import io.seriatim.graph.Graph;
import io.seriatim.graph.GraphOp;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Gradients of former types of operations, and gradients of those, against differences. */
class FormerGradientsTest {
    private static final double[] POINT = {0.3, 0.8, 0.45, 0.7, 0.4, 0.25};
    private static final Map<String, BiFunction<Graph, Value, Value>> OPERATIONS = new TreeMap<>();

    static {
        OPERATIONS.put("reshape", (g, x) -> op(g, "reshape", x).attr("shape", new int[]{3, 2}).one("Out"));
        OPERATIONS.put("transpose", (g, x) -> op(g, "transpose", x).attr("axis", new int[]{1, 0}).one("Out"));
        OPERATIONS.put("expand", (g, x) -> op(g, "expand", x).attr("expand_times", new int[]{2, 1}).one("Out"));
        OPERATIONS.put("reverse", (g, x) -> op(g, "reverse", x).attr("axis", new int[]{1}).one("Out"));
        OPERATIONS.put("minus", (g, x) -> op(g, "minus", x.times(x)).in("Y", x).one("Out"));
        OPERATIONS.put("fill_any", (g, x) -> x.plus(op(g, "fill_any", x).attr("value", 2f).one("Out")));
        OPERATIONS.put("l1_norm", (g, x) -> op(g, "l1_norm", x.times(x)).one("Out"));
        OPERATIONS.put("soft_relu", (g, x) -> op(g, "soft_relu", x).attr("threshold", 3f).one("Out"));
        OPERATIONS.put("identity_loss", (g, x) -> op(g, "identity_loss", x.times(x)).attr("reduction", 1).one("Out"));
        OPERATIONS.put("modified_huber_loss", (g, x) -> op(g, "modified_huber_loss", x.reshape(6, 1))
                .in("Y", g.full(DType.FLOAT64, 1, 6, 1)).all("Out", "IntermediateVal").getFirst());
        OPERATIONS.put("cross_entropy", (g, x) -> op(g, "cross_entropy", x).in("Label", g.full(DType.INT64, 1, 2, 1))
                .one("Y"));
        OPERATIONS.put("cross_entropy of soft labels", (g, x) -> op(g, "cross_entropy", x)
                .in("Label", g.full(DType.FLOAT64, 0.5, 2, 3)).attr("soft_label", true).one("Y"));
        OPERATIONS.put("as_strided", (g, x) -> g.op("as_strided").in("input", x).attr("dims", new long[]{4, 2})
                .attr("stride", new long[]{1, 1}).attr("offset", 8L).one("out"));
        OPERATIONS.put("tensor_unfold", (g, x) -> g.op("tensor_unfold").in("input", x).attr("axis", 1L)
                .attr("size", 2L).attr("step", 1L).one("out"));
        OPERATIONS.put("index_select_strided", (g, x) -> g.op("index_select_strided").in("x", x).attr("index", 1L)
                .attr("axis", 1).one("out"));
        OPERATIONS.put("view_shape", (g, x) -> g.op("view_shape").in("input", x).attr("dims", new long[]{6})
                .one("out"));
    }

    private static GraphOp op(Graph graph, String type, Value x) {
        return graph.op(type).in("X", x);
    }

    @TestFactory
    Stream<DynamicTest> first() {
        return OPERATIONS.keySet().stream().map(name -> DynamicTest.dynamicTest(name, () -> check(name, 1)));
    }

    @TestFactory
    Stream<DynamicTest> second() {
        return OPERATIONS.keySet().stream().map(name -> DynamicTest.dynamicTest(name, () -> check(name, 2)));
    }

    private static void check(String name, int order) {
        Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT64, 2, 3).wantGradient();
            Value y = Objects.requireNonNull(OPERATIONS.get(name)).apply(graph, x);
            Value loss = y.times(y).times(y).sum();
            for (int i = 1; i < order; i++) {
                loss = gradient(graph, loss, x).square().sum();
            }
            Program forward = graph.main().copy();
            Value gradient = gradient(graph, loss, x);
            new GradientCheck(forward, loss.name(), Map.of("x", Tensor.of(POINT, 2, 3))).check(name, graph.main(),
                    List.of("x"), List.of(gradient.name()), order);
            return Outputs.none();
        });
    }

    private static Value gradient(Graph graph, Value of, Value x) {
        return Objects.requireNonNull(graph.gradients(List.of(of), List.of(x)).getFirst());
    }
}
