package io.seriatim.graph;

import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT64;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** A network of parameters [2, 2] whose gradients are compared with differences of its loss. */
final class ParameterCheck {
    private final Graph graph;
    private final Random random;
    private final Map<String, Tensor> feeds = new LinkedHashMap<>();
    private final List<Value> parameters = new ArrayList<>();

    private ParameterCheck(Graph graph, long seed, int count) {
        this.graph = graph;
        this.random = new Random(seed);
        for (int i = 0; i < count; i++) {
            Value parameter = graph.parameter(ParameterSpec.DEFAULT.named("p" + i), FLOAT64, 2, 2);
            parameters.add(parameter);
            feeds.put(parameter.name(), values(2, 2));
        }
    }

    private Tensor values(long... dims) {
        int size = Math.toIntExact(LongStream.of(dims).reduce(1, Math::multiplyExact));
        return Tensor.of(FLOAT64, random.doubles(size, -0.9, 0.9).toArray(), dims);
    }

    Graph graph() {
        return graph;
    }

    Value parameter(int index) {
        return parameters.get(index);
    }

    /** Which stops gradients, as what is fed does. */
    Value feed(String name, long... dims) {
        feeds.put(name, values(dims));
        return graph.data(name, FLOAT64, dims);
    }

    Value flag(String name, boolean value) {
        feeds.put(name, Tensor.of(BOOL, new double[]{value ? 1 : 0}, 1));
        return graph.data(name, BOOL, 1);
    }

    /** All parameters have a gradient, and the right one. */
    static void check(String what, long seed, int count, Function<ParameterCheck, Value> loss) {
        check(what, seed, count, List.of(), loss);
    }

    /** The loss does not move with some of the parameters: these have no gradient, or zeros. */
    static void check(String what, long seed, int count, List<Integer> still, Function<ParameterCheck, Value> loss) {
        Network.define(graph -> {
            ParameterCheck made = new ParameterCheck(graph, seed, count);
            Value value = loss.apply(made);
            made.compare(what + ", seed " + seed, value, still);
            return Outputs.none();
        });
    }

    private void compare(String what, Value loss, List<Integer> still) {
        Program forward = graph.main().copy();
        Map<String, String> gradients = new LinkedHashMap<>();
        graph.backward(loss).forEach(pair -> gradients.put(pair.parameter(), pair.gradient()));
        List<String> moving = IntStream.range(0, parameters.size()).filter(i -> !still.contains(i))
                .mapToObj(i -> parameters.get(i).name())
                .toList();
        List<String> missing = moving.stream().filter(name -> !gradients.containsKey(name)).toList();
        assertEquals(List.of(), missing, what + ": parameters without a gradient in\n" + graph.main());
        GradientCheck differences = new GradientCheck(forward, loss.name(), feeds);
        differences.check(what, graph.main(), moving, moving.stream().map(gradients::get).toList(), 7);
    }
}
