package io.seriatim.onnx;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Results;
import io.seriatim.executor.Scope;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program that overwrites what it is fed computes the same after pruning, cloning for evaluation and normalising, and
 * after it was saved in each format and loaded, by the interpreter and by plans. With {@code -Dseriatim.keep=FOLDER}
 * the files, feeds and results of random programs stay there, for {@code tools/formats/overwritten_feeds.py}.
 */
class OverwrittenFeedsTest {
    private static final boolean FULL = Boolean.getBoolean("seriatim.full");
    private static final int SEEDS = FULL ? 1000 : 100;
    private static final int RUNS = 2;
    private static final @Nullable String KEEP = System.getProperty("seriatim.keep");
    /** Plans cost more than the interpreter: only every so many programs run as plans, too. */
    private static final int PLANS = FULL ? 1 : 10;

    private final Executor executor = Executor.builder().threads(2).build();

    @TempDir
    private Path folder;

    @AfterEach
    void close() {
        executor.close();
    }

    @Test
    void loopsKeepWritesOfTheirFedVariables() throws IOException {
        Network network = Network.define(g -> {
            Value first = g.data("first", INT64, -1, 1);
            List<Value> end = g.whileLoop(s -> List.of(s.getFirst().lessThan(4)), s -> {
                Value next = s.get(1).times(2);
                return List.of(s.getFirst().plus(1), next, s.get(2).plus(next));
            }, g.full(INT64, 0, 1), first, first.times(0));
            return Outputs.of("sum", end.get(2), "last", end.get(1).plus(0));
        });
        Map<String, Tensor> feeds = Map.of("first", Tensor.of(new long[]{1}, 1, 1));
        for (String output : List.of("sum", "last")) {
            Case each = new Case("loop, " + output, network.main(), List.of("first"),
                    List.of(network.outputs().get(output).name()), List.of(feeds), true);
            assertEquals(output.equals("sum") ? 30 : 16, each.expected.getFirst().getFirst().toLongArray()[0]);
            each.check();
        }
    }

    /** A name that the writer of ONNX gives to the counter of a loop. */
    @Test
    void variablesMayHaveTheNameOfALoopsCounter() throws IOException {
        Network network = Network.define(g -> {
            Value iteration = g.data("iteration", INT64, 1);
            Value end = g.whileLoop(s -> List.of(s.getFirst().lessThan(3)),
                    s -> List.of(s.getFirst().plus(1), s.get(1).plus(iteration)), g.full(INT64, 0, 1),
                    g.full(INT64, 0, 1))
                    .get(1);
            return Outputs.of("sum", end);
        });
        Case each = new Case("iteration", network.main(), List.of("iteration"),
                List.of(network.outputs().get("sum").name()),
                List.of(Map.of("iteration", Tensor.of(new long[]{5}, 1))), true);
        assertEquals(15, each.expected.getFirst().getFirst().toLongArray()[0]);
        each.check();
    }

    /** A parameter that is fed has the value that is fed, whatever the file stores for it. */
    @Test
    void parametersMayBeFed() throws IOException {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2);
            Value w = g.parameter(ParameterSpec.of(Initializer.constant(5)).named("w"), FLOAT32, 2);
            g.op("scale").in("X", w).attr("scale", 3f).to("Out", w).append();
            return Outputs.of("out", x.plus(w));
        });
        Map<String, Tensor> feeds = Map.of("x", Tensor.of(new float[]{1, 2}, 2), "w",
                Tensor.of(new float[]{10, 20}, 2));
        Case each = new Case("fed parameter", network.main(), List.of("x", "w"),
                List.of(network.outputs().get("out").name()), List.of(feeds), true);
        each.stored.put("w", Tensor.of(new float[]{5, 5}, 2));
        assertArrayEquals(new float[]{31, 62}, each.expected.getFirst().getFirst().toFloatArray());
        each.check();
    }

    @Test
    void randomPrograms() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            Network network = OverwrittenFeeds.of(seed);
            List<String> fetches = network.outputs().values().values().stream().map(Value::name).toList();
            List<Map<String, Tensor>> feeds = new ArrayList<>();
            for (int run = 0; run < RUNS; run++) {
                feeds.add(OverwrittenFeeds.feeds(seed, run));
            }
            try {
                Case each = new Case("seed " + seed, network.main(), OverwrittenFeeds.FEEDS, fetches, feeds,
                        seed % PLANS == 0);
                each.check();
                if (KEEP != null) {
                    each.keep(Files.createDirectories(Path.of(KEEP, "seed" + seed)));
                }
            } catch (AssertionError | IllegalArgumentException | IOException e) {
                wrong.add("seed " + seed + ": " + e.getMessage());
            }
        }
        assertEquals(List.of(), wrong);
    }

    /** A program, its feeds, and what the interpreter computes. */
    private final class Case {
        private final String where;
        private final Program main;
        private final List<String> feeds;
        private final List<String> fetches;
        private final List<Map<String, Tensor>> runs;
        private final boolean plans;
        /** The values of parameters that are saved. */
        private final Map<String, Tensor> stored = new HashMap<>();
        private final List<List<Tensor>> expected = new ArrayList<>();

        Case(String where, Program main, List<String> feeds, List<String> fetches, List<Map<String, Tensor>> runs,
                boolean plans) {
            this.where = where;
            this.main = main;
            this.feeds = feeds;
            this.fetches = fetches;
            this.runs = runs;
            this.plans = plans;
            for (Map<String, Tensor> run : runs) {
                expected.add(interpreted(main, Map.of(), run, fetches));
            }
        }

        void check() throws IOException {
            compare("main", main, feeds, fetches);
            compare("for evaluation", main.copyForTest(), feeds, fetches);
            Program pruned = main.prune(feeds, fetches);
            List<String> needed = feeds.stream().filter(name -> pruned.global().var(name) != null).toList();
            compare("pruned", pruned, needed, fetches);
            Program normalised = InferenceModels.export(main, needed, fetches);
            compare("normalised", normalised, needed, normalised.global().ops().stream()
                    .filter(op -> op.type().equals("fetch")).map(op -> op.input("X").getFirst()).toList());
            InferenceModel model = InferenceModels.of(main, feeds, fetches, stored::get);
            compare("model", model);
            for (String end : List.of(".pdmodel", ".json", ".onnx")) {
                Path path = folder.resolve("model" + end);
                if (!save(path, model)) {
                    continue;
                }
                try (InferenceModel loaded = InferenceModels.load(path)) {
                    compare(end, loaded);
                }
            }
            InferenceModels.save(folder.resolve("saved"), main, needed, fetches, stored::get);
            try (InferenceModel loaded = InferenceModels.load(folder.resolve("saved"))) {
                compare("saved", loaded);
            }
        }

        /** Saves a model, unless it fetches what it is fed and overwrites, which ONNX cannot express. */
        private boolean save(Path path, InferenceModel model) throws IOException {
            try {
                InferenceModels.save(path, model);
                return true;
            } catch (IllegalArgumentException e) {
                boolean isKnown = path.toString().endsWith(".onnx") && fetches.stream().anyMatch(feeds::contains)
                        && String.valueOf(e.getMessage()).contains("is fed, overwritten and fetched");
                if (!isKnown) {
                    throw e;
                }
                return false;
            }
        }

        /** Writes the whole program, the model in each format, and what is fed and computed in each run. */
        void keep(Path to) throws IOException {
            ProgramFiles.write(to.resolve("main.program"), main);
            Files.write(to.resolve("fetches.txt"), fetches);
            InferenceModel model = InferenceModels.of(main, feeds, fetches, stored::get);
            for (String end : List.of(".pdmodel", ".json", ".onnx")) {
                save(to.resolve("model" + end), model);
            }
            for (int i = 0; i < runs.size(); i++) {
                Path run = Files.createDirectories(to.resolve("run" + i));
                for (Map.Entry<String, Tensor> feed : runs.get(i).entrySet()) {
                    Npy.write(run.resolve(feed.getKey() + ".npy"), feed.getValue());
                }
                for (int j = 0; j < fetches.size(); j++) {
                    Npy.write(run.resolve("expected" + j + ".npy"), expected.get(i).get(j));
                }
            }
        }

        private List<Tensor> interpreted(Program program, Map<String, Tensor> parameters, Map<String, Tensor> given,
                List<String> names) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            parameters.forEach(interpreter::set);
            Map<String, Tensor> found = interpreter.run(program, given, names);
            return names.stream().map(name -> Objects.requireNonNull(found.get(name))).toList();
        }

        private void compare(String form, InferenceModel model) {
            compare(form, model.program(), model.parameters(), model.feeds(), model.fetches());
        }

        private void compare(String form, Program program, List<String> given, List<String> names) {
            compare(form, program, Map.of(), given, names);
        }

        private void compare(String form, Program program, Map<String, Tensor> parameters, List<String> given,
                List<String> names) {
            Scope scope = new Scope();
            parameters.forEach(scope::setCopy);
            try {
                for (int i = 0; i < runs.size(); i++) {
                    Map<String, Tensor> run = new LinkedHashMap<>(runs.get(i));
                    run.keySet().retainAll(given);
                    String which = where + ", " + form + ", run " + i;
                    assertSame(expected.get(i), interpreted(program, parameters, run, names), which + ", interpreter");
                    if (!plans) {
                        continue;
                    }
                    Results found = executor.compile(program, new Feeds(given), new Fetches(names))
                            .run(scope, given.stream().map(run::get).toArray(Tensor[]::new));
                    assertSame(expected.get(i), names.stream().map(found::get).toList(), which + ", plan");
                }
            } catch (RuntimeException e) {
                throw new AssertionError(where + ", " + form + ": " + e.getMessage() + "\n" + program, e);
            }
        }
    }

    private static void assertSame(List<Tensor> expected, List<Tensor> found, String where) {
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i).spec().rowMajor(), found.get(i).spec().rowMajor(), where + ", output " + i);
            assertArrayEquals(expected.get(i).toDoubleArray(), found.get(i).toDoubleArray(),
                    where + ", output " + i);
        }
    }
}
