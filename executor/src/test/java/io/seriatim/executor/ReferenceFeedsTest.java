package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests feeds and fetches, derived from the reference system's tests and issues. */
class ReferenceFeedsTest {
    private static final Program DOUBLED = doubled();

    private static Program doubled() {
        Program program = new Program();
        program.global().put(new VarDesc("x", VarType.dense(FLOAT32, -1, 3), null, true, null, true))
                .put(VarDesc.of("y", VarType.dense(FLOAT32, -1, 3)))
                .add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 2f).build());
        return program;
    }

    private static String message(Throwable thrown) {
        return String.valueOf(thrown.getMessage());
    }

    @Test
    void anEmptyProgramRunsTenTimes() {
        try (Executor executor = Executor.on(Place.CPU)) {
            for (int i = 0; i < 10; i++) {
                assertEquals(Map.of(), executor.run(new Program(), Map.of(), fetches()).all());
                executor.run(new Program());
            }
            assertEquals(List.of(), executor.scope().names());
        }
    }

    @Test
    void aFetchThatNothingComputesIsNamed() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Map<String, Tensor> x = Map.of("x", Bits.normal(1, 2, 3));
            Exception thrown = assertThrows(IllegalArgumentException.class,
                    () -> executor.run(DOUBLED, x, fetches("y", "nothing")));
            assertTrue(message(thrown).contains("'nothing'"), message(thrown));
            assertEquals(2, executor.run(DOUBLED, x, fetches("y")).get("y").shape().dim(0), "the next run works");
        }
    }

    @Test
    void aVariableOfTheScopeThatNoOperationTouchesIsFetched() {
        Program program = DOUBLED.copy();
        program.global().put(VarDesc.of("w", VarType.dense(FLOAT32, 2)).persistent())
                .put(VarDesc.of("idle", VarType.dense(FLOAT32, 2)));
        try (Executor executor = Executor.on(Place.CPU)) {
            Map<String, Tensor> x = Map.of("x", Bits.normal(1, 2, 3));
            String none = message(
                    assertThrows(IllegalArgumentException.class, () -> executor.run(program, x, fetches("y", "w"))));
            assertTrue(none.contains("'w'"), none);
            executor.scope().set("w", Bits.floats(4, 5));
            Tensor w = executor.run(program, x, fetches("y", "w")).get("w");
            assertArrayEquals(new float[]{4, 5}, w.toFloatArray());
            w.memory().fill((byte) 0);
            assertArrayEquals(new float[]{4, 5}, executor.scope().get("w").toFloatArray(), "what is fetched is a copy");
            String idle = message(
                    assertThrows(IllegalArgumentException.class, () -> executor.run(program, x, fetches("idle", "y"))));
            assertTrue(idle.contains("'idle'"), idle);
        }
    }

    @Test
    void oneVariableIsFetchedTwice() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Results results = executor.compile(DOUBLED, feeds("x"), fetches("y", "y"))
                    .run(Tensor.of(new float[]{1, 2, 3}, 1, 3));
            assertArrayEquals(new float[]{2, 4, 6}, results.get("y").toFloatArray());
            assertEquals(List.of("y"), List.copyOf(results.all().keySet()));
        }
    }

    @Test
    void whatIsFedIsFetched() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Tensor x = Tensor.of(new float[]{1, 2, 3}, 1, 3);
            Tensor fetched = executor.compile(DOUBLED, feeds("x"), fetches("x", "y")).run(x).get("x");
            Bits.assertSame(x, fetched, "x");
            fetched.memory().fill((byte) 0);
            assertEquals(1, x.getDouble(0, 0), "what is fetched belongs to the caller and is not what he has fed");
        }
    }

    @Test
    void anEmptyTensorIsComputedAndFetched() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 3, -1);
            return Outputs.of("relu", x.relu(), "none", x.relu().plus(1).slice(1, 0, 0));
        });
        String relu = network.outputs().get("relu").name();
        String none = network.outputs().get("none").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(relu, none));
            Results empty = plan.run(Tensor.of(new float[0], 3, 0));
            assertArrayEquals(new long[]{3, 0}, empty.get(relu).shape().dims());
            assertEquals(FLOAT32, empty.get(relu).dtype());
            assertArrayEquals(new long[]{3, 0}, empty.get(none).shape().dims());
            Results full = plan.run(Bits.normal(1, 3, 2));
            assertArrayEquals(new long[]{3, 2}, full.get(relu).shape().dims());
            assertArrayEquals(new long[]{3, 0}, full.get(none).shape().dims());
        }
    }

    @Test
    void feedsAreCheckedWhereTheVariableSaysSo() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(DOUBLED, feeds("x"), fetches("y"));
            for (Tensor wrong : List.of(Bits.normal(1, 2, 4), Bits.normal(1, 6), Bits.normal(1, 2, 3, 1),
                    Tensor.of(FLOAT64, new double[3], 1, 3),
                    Tensor.of(new long[3], 1, 3))) {
                String text = message(assertThrows(IllegalArgumentException.class, () -> plan.run(wrong)));
                assertTrue(text.contains("'x'") && text.contains("float32[-1, 3]")
                        && text.contains(wrong.spec().toString()), text);
            }
            assertEquals(5, plan.run(Bits.normal(1, 5, 3)).get("y").shape().dim(0), "-1 matches any");
        }
    }

    @Test
    void onlyTheElementTypeIsCheckedElsewhere() {
        Program program = DOUBLED.copy();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, 7)));
        try (Executor executor = Executor.on(Place.CPU)) {
            Tensor result = executor.run(program, Map.of("x", Bits.floats(1, 2)), fetches("y")).get("y");
            assertArrayEquals(new float[]{2, 4}, result.toFloatArray());
            Tensor other = Tensor.of(new double[7], 7);
            String text = message(assertThrows(BadRequestException.class,
                    () -> executor.run(program, Map.of("x", other), fetches("y"))));
            assertTrue(text.contains("Feed 'x' must be of the element type float32, but is float64"), text);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMissingFeedIsNamed(boolean exported) {
        Program program = exported ? InferenceModels.export(DOUBLED, List.of("x"), List.of("y")) : DOUBLED;
        try (Executor executor = Executor.on(Place.CPU)) {
            RuntimeException thrown = assertThrows(RuntimeException.class,
                    () -> executor.run(program, Map.of(), fetches("y")));
            assertTrue(thrown instanceof IllegalArgumentException || thrown instanceof ProgramFailedException,
                    () -> "not clear: " + thrown);
            assertTrue(message(thrown).contains("'x'"), message(thrown));
            Tensor x = Tensor.of(new float[]{1, 2, 3}, 1, 3);
            assertEquals(2, executor.run(program, Map.of("x", x), fetches("y")).get("y").getDouble(0, 0),
                    "the next run works");
        }
    }

    @Test
    void anUnknownFeedIsAnErrorUnlessThatIsAskedFor() {
        Map<String, Tensor> fed = Map.of("x", Tensor.of(new float[]{1, 2, 3}, 1, 3), "nobody", Bits.floats(1));
        try (Executor executor = Executor.on(Place.CPU);
                Executor lenient = Executor.builder().ignoreUnknownFeeds().build()) {
            String run = message(
                    assertThrows(IllegalArgumentException.class, () -> executor.run(DOUBLED, fed, fetches("y"))));
            assertTrue(run.contains("'nobody'"), run);
            String compiled = message(assertThrows(IllegalArgumentException.class,
                    () -> executor.compile(DOUBLED, feeds("nobody"), fetches("y")).run(Bits.floats(1))));
            assertTrue(compiled.contains("'nobody'"), compiled);
            assertArrayEquals(new float[]{2, 4, 6}, lenient.run(DOUBLED, fed, fetches("y")).get("y").toFloatArray());
            String missing = message(
                    assertThrows(RuntimeException.class,
                            () -> lenient.run(DOUBLED, Map.of("nobody", Bits.floats(1)), fetches("y"))));
            assertTrue(missing.contains("'x'"), missing);
        }
    }

    /** A variable that no operation reads may be fed. */
    @Test
    void aFeedThatNothingReadsIsIgnored() {
        Program program = DOUBLED.copy();
        program.global().put(VarDesc.of("fake", VarType.dense(FLOAT32, 1)));
        try (Executor executor = Executor.on(Place.CPU)) {
            Map<String, Tensor> fed = Map.of("x", Tensor.of(new float[]{1, 2, 3}, 1, 3), "fake", Bits.floats(1));
            assertArrayEquals(new float[]{2, 4, 6}, executor.run(program, fed, fetches("y")).get("y").toFloatArray());
        }
    }

    @Test
    void theNumberOfTensorsIsThatOfTheFeeds() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(DOUBLED, feeds("x"), fetches("y"));
            String none = message(assertThrows(IllegalArgumentException.class, plan::run));
            assertTrue(none.contains("[x]") && none.contains("0"), none);
            Tensor x = Bits.normal(1, 1, 3);
            String two = message(assertThrows(IllegalArgumentException.class, () -> plan.run(x, x)));
            assertTrue(two.contains("[x]") && two.contains("2"), two);
        }
    }

    @Test
    void anyVariableMayBeFed() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2);
            Value middle = x.plus(1);
            return Outputs.of("middle", middle, "y",
                    g.op("elementwise_mul").in("X", middle).in("Y", g.data("z", FLOAT32, 2)).one("Out"));
        });
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), feeds("x", "z"), fetches(y));
            assertArrayEquals(new float[]{4, 9}, plan.run(Bits.floats(1, 2), Bits.floats(2, 3)).get(y).toFloatArray());
        }
        Program without = new Program();
        without.global().put(VarDesc.of("m", VarType.dense(FLOAT32, 2))).put(VarDesc.of("n", VarType.dense(FLOAT32, 2)))
                .add(OpDesc.of("scale").in("X", "m").out("Out", "n").attr("bias", 1f).build());
        try (Executor executor = Executor.on(Place.CPU)) {
            Results results = executor.run(without, Map.of("m", Bits.floats(1, 2)), fetches("n"));
            assertArrayEquals(new float[]{2, 3}, results.get("n").toFloatArray());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anIdOutOfRangeInTheSecondFeedFailsThatRunOnly(int threads) {
        Network network = Network.define(1, g -> {
            Value ids = g.data("ids", INT64, -1);
            return Outputs.of("rows", g.embedding(ids, 10, 4));
        });
        String rows = network.outputs().get("rows").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("ids"), fetches(rows));
            Tensor first = plan.run(Bits.longs(1, 9)).get(rows);
            BadRequestException thrown = assertThrows(BadRequestException.class, () -> plan.run(Bits.longs(1, 10)));
            ProgramFailedException failed = assertInstanceOf(ProgramFailedException.class, thrown.getCause());
            assertEquals("lookup_table_v2", failed.operation());
            assertEquals(failed.getMessage(), thrown.getMessage());
            assertTrue(message(thrown).contains("10"), message(thrown));
            assertThrows(BadRequestException.class, () -> plan.run(Bits.longs(-1, 0)));
            Bits.assertSame(first, plan.run(Bits.longs(1, 9)).get(rows), "the next run");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void theCheckForNanNamesTheOperation(int threads) {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2);
            return Outputs.of("y", x.plus(1).log().tanh().sum());
        });
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().threads(threads).eager().nanCheck().build();
                Executor careless = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            ProgramFailedException nan = assertThrows(ProgramFailedException.class, () -> plan.run(Bits.floats(1, -2)));
            assertEquals("log", nan.operation());
            assertTrue(message(nan).contains("NaN"), message(nan));
            ProgramFailedException infinite = assertThrows(ProgramFailedException.class,
                    () -> plan.run(Bits.floats(1, -1)));
            assertEquals("log", infinite.operation());
            assertTrue(message(infinite).contains("Infinity"), message(infinite));
            assertTrue(Double.isFinite(plan.run(Bits.floats(1, 2)).scalar(y)), "the next run works");
            assertTrue(
                    Double.isNaN(careless.run(network.main(), Map.of("x", Bits.floats(1, -2)), fetches(y)).scalar(y)),
                    "nothing is checked unless asked for");
        }
    }

    @Test
    void aFeedThatTheProgramOverwritesIsCopiedInEveryRun() {
        Program program = new Program();
        program.global().put(VarDesc.of("n", VarType.dense(FLOAT32, 1)))
                .add(OpDesc.of("increment").in("X", "n").out("Out", "n").attr("step", 1f).build());
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(program, feeds("n"), fetches("n"));
            Tensor n = Bits.floats(4);
            for (int i = 0; i < 3; i++) {
                assertEquals(5, plan.run(n).scalar("n"), "run " + i);
                assertEquals(4, n.getDouble(0), "what is fed stays as it is");
            }
        }
    }

    @Test
    void aFeedThatALoopOverwritesIsCopiedInEveryRun() {
        Network network = Network.define(g -> {
            Value i = g.data("i", INT64, 1);
            Value last = g.full(INT64, 10, 1);
            Value end = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> List.of(v.getFirst().plus(1)), i)
                    .getFirst();
            return Outputs.of("end", end);
        });
        String end = network.outputs().get("end").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            Plan plan = executor.compile(network.main(), feeds("i"), fetches(end));
            Tensor i = Bits.longs(3);
            for (int run = 0; run < 3; run++) {
                assertEquals(10, plan.run(i).scalar(end), "run " + run);
                assertEquals(3, i.getLong(0), "what is fed stays as it is");
            }
            assertEquals(12, plan.run(Bits.longs(12)).scalar(end));
        }
    }

    @Test
    void aViewIsFed() {
        try (Executor executor = Executor.on(Place.CPU)) {
            Tensor whole = Bits.normal(5, 3, 4);
            Tensor result = executor.run(DOUBLED, Map.of("x", whole.transpose(1, 0)), fetches("y")).get("y");
            assertArrayEquals(new long[]{4, 3}, result.shape().dims());
            assertEquals(2 * (float) whole.getDouble(2, 1), (float) result.getDouble(1, 2));
            Tensor part = executor.run(DOUBLED, Map.of("x", Bits.normal(5, 6, 3).slice(0, 2, 5)), fetches("y"))
                    .get("y");
            assertEquals(2 * (float) Bits.normal(5, 6, 3).getDouble(4, 0), (float) part.getDouble(2, 0));
        }
    }
}
