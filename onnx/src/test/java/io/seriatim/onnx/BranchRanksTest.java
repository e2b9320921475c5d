package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Branches of an If give tensors of different ranks, which other nodes, branches and outputs read. */
final class BranchRanksTest {
    private static final int FLOAT = 1;
    private static final int BOOL = 9;
    private static final int CONDITIONS = 3;

    @TempDir
    Path folder = Path.of("");

    private final WireMessage graph = new WireMessage().text(2, "g");
    private int names;

    private static WireMessage value(String name, int type, long... dims) {
        WireMessage shape = new WireMessage();
        for (long dim : dims) {
            shape.message(1, dim < 0 ? new WireMessage() : new WireMessage().number(1, dim));
        }
        WireMessage tensor = new WireMessage().number(1, type);
        return new WireMessage().text(1, name).message(2,
                new WireMessage().message(1, dims.length == 1 && dims[0] == -2 ? tensor : tensor.message(2, shape)));
    }

    private static WireMessage node(String type, String output, String... inputs) {
        return new WireMessage().texts(1, inputs).text(2, output).text(4, type);
    }

    private static WireMessage branch(String name, WireMessage body) {
        return new WireMessage().text(1, name).message(6, body).number(20, 5);
    }

    private static WireMessage integers(String name, long... values) {
        WireMessage tensor = new WireMessage().number(1, values.length).number(2, 7).text(8, name);
        for (long each : values) {
            tensor.number(7, each);
        }
        return tensor;
    }

    /** A value of the oracle. */
    private static final class Value {
        final float[] data;
        final long[] dims;

        Value(float[] data, long[] dims) {
            this.data = data;
            this.dims = dims;
        }
    }

    /** A node of the oracle, which computes a value from those before it and the conditions. */
    private interface Step {
        Value run(List<Value> before, boolean[] conditions);
    }

    private record Made(String name, Step step) {
    }

    private Made made(WireMessage into, Random random, List<String> before, int deep) {
        int source = random.nextInt(Math.max(0, before.size() - 3), before.size());
        String name = "v" + names++;
        String x = before.get(source);
        int kind = random.nextInt(deep < 3 ? 8 : 5);
        switch (kind) {
            case 0 -> into.message(1, node("Neg", name, x));
            case 1 -> into.message(1, node("Reshape", name, x, "flat"));
            case 2 -> into.message(1, node("Unsqueeze", name, x, "front"));
            case 3 -> into.message(1, node("Add", name, x, x));
            case 4 -> into.message(1, node("Identity", name, x));
            default -> {
                return branches(into, random, before, deep);
            }
        }
        return new Made(name, (values, _) -> {
            Value value = values.get(source);
            float[] changed = value.data.clone();
            for (int i = 0; i < changed.length; i++) {
                changed[i] *= kind == 0 ? -1 : kind == 3 ? 2 : 1;
            }
            long[] longer = new long[value.dims.length + 1];
            System.arraycopy(value.dims, 0, longer, 1, value.dims.length);
            longer[0] = 1;
            return new Value(changed, kind == 1 ? new long[]{changed.length} : kind == 2 ? longer : value.dims);
        });
    }

    private Made branches(WireMessage into, Random random, List<String> before, int deep) {
        int condition = random.nextInt(CONDITIONS);
        String name = "v" + names++;
        WireMessage node = node("If", name, "c" + condition);
        List<List<Step>> arms = new ArrayList<>();
        for (String attribute : new String[]{"then_branch", "else_branch"}) {
            WireMessage body = new WireMessage().text(2, "b" + names++);
            List<String> values = new ArrayList<>(before);
            List<Step> steps = new ArrayList<>();
            for (int i = random.nextInt(1, 3); i > 0; i--) {
                Made made = made(body, random, values, deep + 1);
                values.add(made.name);
                steps.add(made.step);
            }
            node.message(5, branch(attribute, body.message(12, value(values.getLast(), FLOAT, -2))));
            arms.add(steps);
        }
        into.message(1, node);
        return new Made(name, (values, conditions) -> {
            List<Value> all = new ArrayList<>(values);
            arms.get(conditions[condition] ? 0 : 1).forEach(step -> all.add(step.run(all, conditions)));
            return all.getLast();
        });
    }

    @Test
    void equalAnOracleForAllConditions() throws IOException {
        int count = Boolean.getBoolean("seriatim.full") ? 200 : 8;
        for (int seed = 0; seed < count; seed++) {
            BranchRanksTest test = new BranchRanksTest();
            test.folder = folder;
            test.equalAnOracle(new Random(seed), "seed " + seed);
        }
    }

    private void equalAnOracle(Random random, String seed) throws IOException {
        graph.message(5, integers("flat", -1)).message(5, integers("front", 0));
        boolean open = random.nextBoolean();
        graph.message(11, open ? value("x", FLOAT, -1, -1) : value("x", FLOAT, 2, 3));
        for (int i = 0; i < CONDITIONS; i++) {
            graph.message(11, value("c" + i, BOOL));
        }
        List<String> values = new ArrayList<>(List.of("x"));
        List<Step> steps = new ArrayList<>();
        for (int i = random.nextInt(2, 6); i >= 0; i--) {
            Made made = i % 2 == 0 ? branches(graph, random, values, 1) : made(graph, random, values, 1);
            values.add(made.name);
            steps.add(made.step);
            graph.message(12, value(made.name, FLOAT, -2));
        }
        try (InferenceModel model = model(); Executor executor = Executor.builder().threads(1).build()) {
            model.parameters().forEach(executor.scope()::setCopy);
            Interpreter interpreter = Interpreter.of(Kernels.system());
            model.parameters().forEach(interpreter::set);
            for (int bits = 0; bits < 1 << CONDITIONS; bits++) {
                Map<String, Tensor> feeds = feeds(bits);
                boolean[] conditions = new boolean[CONDITIONS];
                for (int i = 0; i < CONDITIONS; i++) {
                    conditions[i] = (bits >> i & 1) != 0;
                }
                List<Value> all = new ArrayList<>(
                        List.of(new Value(new float[]{1, 2, 3, 4, 5, 6}, new long[]{2, 3})));
                steps.forEach(step -> all.add(step.run(all, conditions)));
                List<Map<String, Tensor>> results = List.of(
                        interpreter.run(model.program(), feeds, model.fetches()),
                        executor.run(model.program(), feeds, new Fetches(model.fetches())).all());
                for (Map<String, Tensor> each : results) {
                    for (int i = 1; i < all.size(); i++) {
                        Tensor actual = Objects.requireNonNull(each.get(values.get(i)));
                        String where = seed + ", conditions " + bits + ", " + values.get(i);
                        assertArrayEquals(all.get(i).dims, actual.shape().dims(), where);
                        assertArrayEquals(all.get(i).data, actual.toFloatArray(), where);
                    }
                }
            }
        }
    }

    private static Map<String, Tensor> feeds(int bits) {
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        feeds.put("x", Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3));
        for (int i = 0; i < CONDITIONS; i++) {
            feeds.put("c" + i, Tensor.of(DType.BOOL, new double[]{bits >> i & 1}));
        }
        return feeds;
    }

    private InferenceModel model() throws IOException {
        WireMessage root = WireMessage.model(graph, 17);
        return OnnxModels.load(Files.write(folder.resolve("branches.onnx"), root.toBytes()));
    }

    /** An If whose results are x [2, 3] as it is or flat. */
    private WireMessage flattened(String name) {
        return node("If", name, "c0")
                .message(5, branch("then_branch", new WireMessage().text(2, name + "t")
                        .message(1, node("Reshape", name + "f", "x", "flat"))
                        .message(12, value(name + "f", FLOAT, -2))))
                .message(5, branch("else_branch", new WireMessage().text(2, name + "e")
                        .message(1, node("Identity", name + "i", "x")).message(12, value(name + "i", FLOAT, -2))));
    }

    /** A node that allows one of the ranks only fails in the runs that come there. */
    @Test
    void aRankThatANodeDoesNotAllowFailsWhereItIsTaken() throws IOException {
        WireMessage order = new WireMessage().text(1, "perm").number(20, 7).number(8, 1).number(8, 0);
        graph.message(5, integers("flat", -1)).message(11, value("x", FLOAT, 2, 3)).message(11, value("c0", BOOL))
                .message(1, flattened("y")).message(1, node("Transpose", "z", "y").message(5, order))
                .message(12, value("z", FLOAT, -2));
        try (InferenceModel model = model(); Executor executor = Executor.builder().build()) {
            model.parameters().forEach(executor.scope()::setCopy);
            Map<String, Tensor> feeds = feeds(0);
            feeds.keySet().removeAll(List.of("c1", "c2"));
            Tensor z = Objects.requireNonNull(
                    executor.run(model.program(), feeds, new Fetches(model.fetches())).all().get("z"));
            assertArrayEquals(new long[]{3, 2}, z.shape().dims());
            feeds.put("c0", Tensor.of(DType.BOOL, new double[]{1}));
            String message = String.valueOf(assertThrows(RuntimeException.class,
                    () -> executor.run(model.program(), feeds, new Fetches(model.fetches()))).getMessage());
            assertTrue(message.contains("Transpose") && message.contains("'z'") && message.contains("perm"), message);
        }
    }

    /** A branch whose nodes do not allow their operands fails in runs that take it; unread nodes never do. */
    @Test
    void aBranchThatDoesNotFitFailsWhereItIsTaken() throws IOException {
        WireMessage axis = new WireMessage().text(1, "axis").number(20, 2).number(3, 0);
        WireMessage unfit =
                new WireMessage().text(2, "t").message(1, node("Concat", "unfit", "x", "flat").message(5, axis))
                        .message(12, value("unfit", FLOAT, -2));
        WireMessage fit =
                new WireMessage().text(2, "e").message(1, node("Concat", "unread", "x", "flat").message(5, axis))
                        .message(1, node("Neg", "n", "x")).message(12, value("n", FLOAT, -2));
        graph.message(5, integers("flat", -1)).message(11, value("x", FLOAT, 2, 3)).message(11, value("c0", BOOL))
                .message(1, node("If", "z", "c0").message(5, branch("then_branch", unfit))
                        .message(5, branch("else_branch", fit)))
                .message(12, value("z", FLOAT, -2));
        try (InferenceModel model = model(); Executor executor = Executor.builder().build()) {
            model.parameters().forEach(executor.scope()::setCopy);
            Map<String, Tensor> feeds = feeds(0);
            feeds.keySet().removeAll(List.of("c1", "c2"));
            Fetches fetches = new Fetches(model.fetches());
            assertArrayEquals(new float[]{-1, -2, -3, -4, -5, -6},
                    executor.run(model.program(), feeds, fetches).get("z").toFloatArray());
            feeds.put("c0", Tensor.of(DType.BOOL, new double[]{1}));
            String message = String.valueOf(assertThrows(RuntimeException.class,
                    () -> executor.run(model.program(), feeds, fetches)).getMessage());
            assertTrue(message.contains("Concat") && message.contains("'unfit'"), message);
        }
    }

    /** Conditions that the declared sizes decide leave no branch. */
    @Test
    void sizesThatAreDeclaredChooseTheBranch() throws IOException {
        WireMessage choice = flattened("y");
        WireMessage at = integers("at", 0);
        graph.message(5, integers("flat", -1)).message(5, at).message(5, integers("two", 2))
                .message(11, value("x", FLOAT, 2, 3)).message(1, node("Shape", "s", "x"))
                .message(1, node("Gather", "n", "s", "at")).message(1, node("Equal", "c0", "n", "two"))
                .message(1, choice).message(1, node("Neg", "z", "y")).message(12, value("z", FLOAT, -2));
        try (InferenceModel model = model()) {
            assertEquals(1, model.program().blocks().size());
            assertEquals(List.of(6L),
                    Arrays.stream(model.program().global().get("z").tensor().shape()).boxed().toList());
        }
    }

    /** A node with 12 operands that depend on a condition each would be translated 4096 times. */
    @Test
    void repetitionIsBounded() throws IOException {
        graph.message(5, integers("flat", -1)).message(11, value("x", FLOAT, 2, 3)).message(11, value("c0", BOOL));
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            graph.message(1, node("Not", "n" + i, "c0"));
            WireMessage branches = flattened("y" + i);
            graph.message(1, node("If", "w" + i, "n" + i).message(5, branch("then_branch",
                    new WireMessage().text(2, "t" + i).message(1, branches).message(12, value("y" + i, FLOAT, -2))))
                    .message(5, branch("else_branch", new WireMessage().text(2, "e" + i)
                            .message(1, node("Unsqueeze", "u" + i, "x", "flat"))
                            .message(12, value("u" + i, FLOAT, -2)))));
            all.add("w" + i);
        }
        graph.message(1, node("Sum", "z", all.toArray(String[]::new))).message(12, value("z", FLOAT, -2));
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, this::model).getMessage());
        assertTrue(message.contains("Sum") && message.contains("combination") && message.length() < 1000, message);
    }

    private InferenceModel squeezed(int followers) throws IOException {
        graph.message(11, value("x", FLOAT, -1, 1, -1)).message(1, node("Squeeze", "v0", "x"));
        for (int i = 0; i < followers; i++) {
            graph.message(1, node("Neg", "v" + (i + 1), "v" + i));
        }
        graph.message(12, value("v" + followers, FLOAT, -1, -1));
        return model();
    }

    /** Networks squeeze their last result, and are run with one example. */
    @ParameterizedTest
    @CsvSource({"1, 3, 3", "2, 3, 23", "2, 1, 2", "1, 1, ''"})
    void aSqueezeWithoutAxesRemovesWhatARunGives(int batch, int columns, String expected) throws IOException {
        try (InferenceModel model = squeezed(2); Executor executor = Executor.builder().build()) {
            Tensor x = Tensor.of(floats(batch * columns), batch, 1, columns);
            Tensor y = executor.run(model.program(), Map.of("x", x), new Fetches(model.fetches())).get("v2");
            assertEquals(expected, y.shape().toString().replaceAll("[^0-9]", ""));
            assertArrayEquals(floats(batch * columns), y.toFloatArray());
        }
    }

    /** If much follows, it is not repeated for each number of dimensions. */
    @Test
    void manyNodesAfterASqueezeKnowItsNumberOfDimensions() throws IOException {
        try (InferenceModel model = squeezed(100); Executor executor = Executor.builder().build()) {
            assertEquals(1, model.program().blocks().size());
            Fetches fetches = new Fetches(model.fetches());
            Tensor two = Tensor.of(floats(6), 2, 1, 3);
            assertArrayEquals(floats(6),
                    executor.run(model.program(), Map.of("x", two), fetches).get("v100").toFloatArray());
            Tensor one = Tensor.of(floats(3), 1, 1, 3);
            String message = String.valueOf(assertThrows(RuntimeException.class,
                    () -> executor.run(model.program(), Map.of("x", one), fetches)).getMessage());
            assertTrue(message.contains("axes"), message);
        }
    }

    private static float[] floats(int count) {
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
            floats[i] = i - 2.5f;
        }
        return floats;
    }
}
