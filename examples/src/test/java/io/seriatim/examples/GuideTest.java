package io.seriatim.examples;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static io.seriatim.tensor.DType.INT8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Access;
import io.seriatim.device.Buffer;
import io.seriatim.device.DataRaceException;
import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.device.Stream;
import io.seriatim.engine.AggregateTable;
import io.seriatim.engine.Completion;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Guarded;
import io.seriatim.engine.OperationFailedException;
import io.seriatim.engine.Recorder;
import io.seriatim.engine.TraceFile;
import io.seriatim.engine.Var;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Predictor;
import io.seriatim.executor.Results;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import io.seriatim.train.TablePredictor;
import io.seriatim.train.Trainer;
import io.seriatim.train.data.Split;
import io.seriatim.train.data.TableData;
import io.seriatim.train.data.TableEncoding;
import io.seriatim.train.metrics.History;
import io.seriatim.train.model.Recipe;
import io.seriatim.train.model.TableMlp;
import io.seriatim.train.quantization.ModelComparison;
import io.seriatim.train.quantization.PostTrainingQuantization;
import io.seriatim.train.quantization.QuantizedModel;
import io.seriatim.train.report.Chart;
import io.seriatim.train.report.Series;
import io.seriatim.train.report.TrainingReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The code of docs/guide.md: this test or the examples compile and run the page's lines, and the messages on the page
 * are compared with real ones.
 */
class GuideTest {
    private static final Stream.Body NOTHING = () -> {
    };

    @TempDir
    private Path folder;

    private static List<Integer> load() {
        return List.of(30, 12);
    }

    private static int sum(List<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).sum();
    }

    static int total(Engine engine) throws InterruptedException {
        Guarded<List<Integer>> orders = Guarded.of(engine, "orders", List.of());
        Guarded<Integer> total = Guarded.of(engine, "total", 0);
        engine.op("load").mutates(orders.var()).push(() -> orders.set(load()));
        engine.op("sum").mutates(total.var()).push(() -> total.set(sum(orders.get()))); // something is missing here
        engine.waitToRead(total.var());
        return total.get();
    }

    private static void assertShown(String text) throws IOException {
        String page = Document.of("guide.md").text();
        for (String line : text.lines().toList()) {
            assertTrue(page.contains(line), () -> "the guide does not show: " + line);
        }
    }

    @Test
    void theNaiveEngineDoesNotMindAMissingRead() throws InterruptedException {
        try (Engine engine = Engine.builder().naive().build()) {
            assertEquals(42, total(engine));
        }
    }

    @Test
    void theCheckedEngineSaysWhatIsMissing() throws IOException {
        try (Engine engine = Engine.builder().checked(true).build()) {
            OperationFailedException failure = assertThrows(OperationFailedException.class, () -> total(engine));
            assertShown(String.valueOf(failure.getMessage()));
        }
    }

    @Test
    void theShuffledEngineRepeatsIt() throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>();
        Set<Integer> totals = new TreeSet<>();
        for (int seed = 0; seed < 4; seed++) {
            try (Engine engine = Engine.builder().shuffled(seed).build()) {
                lines.add("seed " + seed + ": " + total(engine));
            }
            try (Engine engine = Engine.builder().shuffled(seed).build()) {
                totals.add(total(engine));
            }
        }
        assertShown(String.join("\n", lines));
        assertEquals(Set.of(0, 42), totals);
    }

    @Test
    void theReadThatWasMissing() throws InterruptedException {
        for (int seed = 0; seed < 20; seed++) {
            try (Engine engine = Engine.builder().shuffled(seed).checked(true).build()) {
                Guarded<List<Integer>> orders = Guarded.of(engine, "orders", List.of());
                Guarded<Integer> total = Guarded.of(engine, "total", 0);
                engine.op("load").mutates(orders.var()).push(() -> orders.set(load()));
                engine.op("sum").reads(orders.var()).mutates(total.var()).push(() -> total.set(sum(orders.get())));
                engine.waitToRead(total.var());
                assertEquals(42, total.get(), "seed " + seed);
            }
        }
    }

    @Test
    void recordersTellOfOperations() throws Exception {
        Path file = folder.resolve("trace.json");
        try (TraceFile trace = Recorder.trace(file); Engine engine = Engine.builder().recorder(trace).build()) {
            engine.op("load").push(GuideTest::load);
        }
        assertTrue(Files.readString(file).contains("\"load\""));

        AggregateTable table = Recorder.aggregate();
        try (Engine engine = Engine.create()) {
            engine.record(table); // from now on; null stops it
            engine.op("load").push(GuideTest::load);
            engine.waitForAll();
            engine.record(null);
            engine.op("sum").push(GuideTest::load);
            engine.waitForAll();
        }
        assertEquals(List.of("load"), table.rows().stream().map(AggregateTable.Row::name).toList());
        assertShown(table.toString().lines().findFirst().orElseThrow());
    }

    @Test
    void aVariableIsFollowed() throws Exception {
        List<String> lines = new ArrayList<>();
        List<Throwable> unhandled = new ArrayList<>();
        try (Engine engine = Engine.builder().naive().onUnhandled(unhandled::add).build()) {
            Var orders = engine.newVar("orders");
            engine.trace(orders,
                    event -> lines.add(event.kind() + " by " + event.operation() + ", version " + event.version()));
            engine.op("load").mutates(orders).push(GuideTest::load);
            engine.op("sum").reads(orders).push(GuideTest::load);
            engine.op("sort").mutates(orders).push(() -> {
                throw new IllegalStateException("no order");
            });
        }
        assertShown(String.join("\n", lines));
        assertEquals("POISONED by sort, version 2", lines.getLast());
        assertEquals(1, unhandled.size());
    }

    @Test
    void aSnapshotSaysWhatWaits() throws Exception {
        CompletableFuture<Completion> started = new CompletableFuture<>();
        try (Engine engine = Engine.builder().pooled(1).build()) {
            Var orders = engine.newVar("orders");
            Var total = engine.newVar("total");
            engine.op("fetch").overwrites(orders).pushAsync(started::complete);
            engine.op("sum").reads(orders).mutates(total).push(GuideTest::load);
            Completion fetched = started.get();
            String snapshot = engine.snapshot().toString();
            while (snapshot.contains("RUNNING")) { // its body is about to return
                snapshot = engine.snapshot().toString();
            }
            fetched.complete();
            assertShown(snapshot.substring(snapshot.indexOf('\n') + 1));
        }
    }

    private static Path save(Path prefix) throws IOException {
        Network net = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 4);
            return Outputs.of("y", g.linear(g.linear(x, 8).relu(), 3));
        });
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(net.startup());
            String y = net.outputs().get("y").name();
            InferenceModels.save(prefix, net.main(), List.of("x"), List.of(y), executor.scope()::find);
        }
        return prefix;
    }

    @Test
    void aSavedModelIsServedAndRecorded() throws IOException {
        Path file = save(folder.resolve("model"));
        Tensor x = Tensor.of(new float[]{1, 2, 3, 4}, 1, 4);
        RunRecorder recorder = new RunRecorder();
        try (InferenceModel model = InferenceModels.load(file);
                Executor executor = Executor.builder().recorder(recorder).build()) {
            model.parameters().forEach(executor.scope()::set);
            Plan plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
            Tensor answer = plan.run(x).get(model.fetches().getFirst()); // from any thread, from many at once
            assertEquals(3, answer.shape().size());
        }
        recorder.trace().writeReport(folder.resolve("report.html"));
        recorder.trace().writeTrace(folder.resolve("trace.json"));
        assertTrue(Files.size(folder.resolve("report.html")) > 1000 && Files.size(folder.resolve("trace.json")) > 100);
    }

    @Test
    void aSavedModelIsServedInThreeLines() throws IOException {
        Path file = folder.resolve("served.onnx");
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1, 4)))
                .put(VarDesc.of("y", VarType.dense(FLOAT32, -1, 4)))
                .add(OpDesc.of("scale").in("X", "x").out("Out", "y").attr("scale", 2f).build());
        InferenceModels.save(file, InferenceModels.of(program, List.of("x"), List.of("y"), _ -> null));
        Tensor x = Tensor.of(new float[]{1, 2, 3, 4}, 1, 4);
        try (Predictor predictor = Predictor.load(file)) {
            Tensor answer = predictor.run(Map.of("x", x)).get("y"); // from any thread, from many at once
            assertEquals(8, answer.getDouble(0, 3));
        }
    }

    @Test
    void theRaceDetectorNamesBothOperations() throws IOException, InterruptedException {
        try (Devices devices = Devices.builder().build()) {
            Device device = devices.get(Place.sim(0));
            Stream left = device.newStream("left"), right = device.newStream("right");
            Buffer activations = device.allocate(1024, left);
            left.launch("relu", List.of(Access.write(activations)), NOTHING);
            DataRaceException race = assertThrows(DataRaceException.class, () -> {
                right.launch("matmul", List.of(Access.read(activations)), NOTHING);
            });
            assertShown(String.valueOf(race.getMessage()));

            right.waitFor(left.record());
            right.launch("matmul", List.of(Access.read(activations)), NOTHING);
            right.synchronize();
        }
    }

    @Test
    void aProgramRunsOnASlowDevice() {
        Network net = Network.define(g -> Outputs.of("y", g.linear(g.data("x", FLOAT32, -1, 4), 3)));
        String y = net.outputs().get("y").name();
        SimOptions slow = SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(20_000)).withCopyBandwidth(1L << 30);
        try (Devices devices = Devices.builder().sim(slow).build();
                Executor executor = Executor.builder().devices(devices).place(Place.sim(0)).build()) {
            executor.run(net.startup());
            Plan plan = executor.compile(net.main(), feeds("x"), fetches(y));
            assertNotEquals(0, plan.run(Tensor.of(new float[]{1, 2, 3, 4}, 1, 4)).get(y).toFloatArray()[0]);
        }
    }

    @Test
    void aTableIsLearnedAndAsked() throws IOException {
        Random random = new Random(1);
        StringBuilder text = new StringBuilder("city,age,class\n");
        for (int i = 0; i < 300; i++) {
            int age = random.nextBoolean() ? random.nextInt(40) : 60 + random.nextInt(40);
            text.append(random.nextBoolean() ? "Rome," : "Oslo,").append(age).append(age < 50 ? ",young\n" : ",old\n");
        }
        Path file = Files.writeString(folder.resolve("people.csv"), text);
        TableData.Examples people = TableData.csv(file).category("city").number("age").label("class").read();
        TableMlp network = new TableMlp(people.encoding());
        Recipe recipe = network.recipe();
        Model model = network.build(recipe, recipe.steps(people.split().training().size()));
        Trainer trainer = Trainer.of(model, people.split()).batch(recipe.batch()).epochs(recipe.epochs()).build();
        trainer.run();
        trainer.saveAs(folder.resolve("people.json"));
        people.encoding().save(folder.resolve(TableEncoding.FILE));
        try (TablePredictor predictor = TablePredictor.load(folder.resolve("people.json"))) {
            TablePredictor.Prediction answer = predictor.predict(Map.of("city", "Rome", "age", "31"));
            assertEquals("young", answer.label());
            assertEquals(Set.of("young", "old"), answer.scores().keySet());
        }
    }

    private static List<Map<String, Tensor>> batches(Random random) {
        List<Map<String, Tensor>> batches = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            float[] values = new float[16 * 4];
            for (int j = 0; j < values.length; j++) {
                values[j] = (float) random.nextGaussian();
            }
            batches.add(Map.of("x", Tensor.of(values, 16, 4)));
        }
        return batches;
    }

    @Test
    void aModelIsQuantizedAndCompared() throws IOException {
        Path file = save(folder.resolve("float"));
        List<Map<String, Tensor>> batches = batches(new Random(3));
        try (InferenceModel model = InferenceModels.load(file);
                QuantizedModel quantized = PostTrainingQuantization.of(model).quantize(batches)) {
            quantized.save(folder.resolve("int8.pdmodel"));
            assertEquals(2, quantized.quantized());
            for (ModelComparison.Difference each : ModelComparison.of(model, quantized.model(), batches, null, 1)) {
                System.out.println(each.output() + ": " + each.largest() + ", same class in " + each.agreeing() + " of "
                        + each.rows());
                assertTrue(each.largest() < 0.1 * each.magnitude() && each.agreeing() > 0.9 * each.rows(),
                        each::toString);
            }
        }
        try (InferenceModel saved = InferenceModels.load(folder.resolve("int8.pdmodel"))) {
            assertTrue(saved.parameters().values().stream().anyMatch(each -> each.dtype() == INT8));
        }
    }

    @Test
    void aTrainingIsReported() throws IOException {
        StringBuilder text = new StringBuilder("a,b,side\n");
        Random random = new Random(2);
        for (int i = 0; i < 300; i++) {
            double a = random.nextGaussian();
            text.append(a).append(',').append(random.nextGaussian()).append(a < 0 ? ",left\n" : ",right\n");
        }
        TableData.Examples points = TableData.csv(Files.writeString(folder.resolve("points.csv"), text)).number("a")
                .number("b").label("side").read();
        Network net = Network.define(g -> {
            Value logits = g.linear(points.encoding().features(g), 2);
            Value side = g.data("side", INT64, -1, 1);
            Value loss = g.softmaxCrossEntropy(logits, side).mean();
            Value certainty = logits.softmax(-1).square().sum(1).mean();
            g.minimize(loss, Adam.of(0.01));
            return Outputs.of("loss", loss, "certainty", certainty, "logits", logits);
        });
        Model model = Model.of("points", net).metric("certainty").predicts("logits");
        Split data = points.split();
        double[] at = {0, 10};
        double[] values = {2, 2};
        History history = new History();
        Trainer trainer = Trainer.of(model, data).batch(50).epochs(3).listener(history).build();
        trainer.run();
        Chart widths =
                Chart.of("Width", "of the widest layer").with(Series.of("weights", Series.Style.LINE, at, values));
        TrainingReport report = new TrainingReport("points").history(history, Map.of("chance", Math.log(2)));
        report.chart(widths).graph(model.main()).environment("Seed", "1").write(folder.resolve("report.html"));
        String page = Files.readString(folder.resolve("report.html"));
        for (String shown : List.of("Certainty", "Width", "chance", "Throughput")) {
            assertTrue(page.contains(shown), shown);
        }
    }

    /** The vectors of sentences are their words' mean; padding does not change them. */
    @Test
    void sentencesOfSeveralLengthsBecomeVectors() throws IOException {
        int words = 100;
        Network network = Network.define(g -> {
            Value ids = g.data("input_ids", INT64, -1, -1);
            Value present = g.data("attention_mask", INT64, -1, -1).cast(FLOAT32).unsqueeze(2);
            Value sum = g.embedding(ids, words, 8).times(present).sum(1);
            return Outputs.of("sentence_embedding", sum.dividedBy(present.sum(1)));
        });
        Path file = folder.resolve("sentences.pdmodel");
        InferenceModels.save(file, InferenceModels.of(network, "sentence_embedding"));
        Function<String, long[]> tokenizer = text -> Arrays.stream(text.split(" ")).mapToLong(
                word -> 1 + Math.floorMod(word.hashCode(), words - 1)).toArray();
        List<String> sentences = List.of("a short one", "one with some more words than the other one has", "one");
        try (Predictor predictor = Predictor.load(file)) {
            Tensor vectors = vectors(predictor, tokenizer, sentences);
            assertEquals(3 * 8, vectors.shape().size());
            float[] all = vectors.toFloatArray();
            for (int i = 0; i < sentences.size(); i++) {
                assertArrayEquals(vectors(predictor, tokenizer, List.of(sentences.get(i))).toFloatArray(),
                        Arrays.copyOfRange(all, 8 * i, 8 * i + 8), 1e-6f, sentences.get(i));
            }
        }
    }

    private static Tensor vectors(Predictor predictor, Function<String, long[]> tokenizer, List<String> sentences) {
        List<long[]> rows = sentences.stream().map(tokenizer).toList();
        int longest = rows.stream().mapToInt(row -> row.length).max().orElseThrow();
        int length = (longest + 15) / 16 * 16;
        long[] ids = new long[rows.size() * length];
        long[] mask = new long[ids.length];
        for (int i = 0; i < rows.size(); i++) {
            System.arraycopy(rows.get(i), 0, ids, i * length, rows.get(i).length);
            Arrays.fill(mask, i * length, i * length + rows.get(i).length, 1);
        }
        Tensor vectors = predictor.run(Map.of("input_ids", Tensor.of(ids, rows.size(), length),
                "attention_mask", Tensor.of(mask, rows.size(), length))).get("sentence_embedding");
        return vectors;
    }

    @Test
    void thePageSaysTheSame() throws IOException {
        List<String> missing = Document.of("guide.md").missingIn(DocumentImportsTest.SOURCES.toArray(Path[]::new));
        assertEquals(List.of("System.out.println(answer.label() + \" of \" + answer.scores());",
                "System.out.println(table);",
                "engine.trace(orders, event -> System.out.println(event.kind() + \" by \" + event.operation() + "
                        + "\", version \" + event.version()));",
                "System.out.println(\"seed \" + seed + \": \" + total(engine));"), missing);
    }

    private static long best(float... scores) {
        int best = 0;
        for (int i = 1; i < scores.length; i++) {
            best = scores[i] > scores[best] ? i : best;
        }
        return best;
    }

    @Test
    void aCacheIsFedFromStepToStep() throws IOException {
        Network decoder = Network.define(7, g -> {
            Value past = g.data("past", FLOAT32, -1, -1, 8);
            Value now = g.embedding(g.data("token", INT64, -1, 1), 12, 8);
            Value present = g.concat(1, past, now);
            Value weights = now.matmul(present, false, true).softmax(2);
            return Outputs.of("logits", g.linear(weights.matmul(present).sum(1), 12), "present", present);
        });
        Path file = folder.resolve("decoder.json");
        InferenceModels.save(file, InferenceModels.of(decoder, "logits", "present"));
        long token = 1;
        List<Long> answer = new ArrayList<>(List.of(token));
        try (Predictor predictor = Predictor.load(file)) {
            Tensor past = Tensor.of(new float[0], 1, 0, 8); // [sequences, positions, width]
            for (int i = 0; i < 6; i++) {
                Results step = predictor.run(Map.of("token", Tensor.of(new long[]{token}, 1, 1), "past", past));
                token = best(step.get("logits").toFloatArray());
                past = step.get("present");
                answer.add(token);
            }
            assertArrayEquals(new long[]{1, 6, 8}, past.shape().dims());
            float[] cached = past.toFloatArray();
            for (int i = 0; i < 6; i++) {
                Results alone = predictor.run(Map.of("token", Tensor.of(new long[]{answer.get(i)}, 1, 1), "past",
                        Tensor.of(new float[0], 1, 0, 8)));
                assertArrayEquals(alone.get("present").toFloatArray(), Arrays.copyOfRange(cached, 8 * i, 8 * i + 8));
            }
        }
    }
}
