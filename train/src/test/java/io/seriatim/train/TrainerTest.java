package io.seriatim.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Scope;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.optimizer.Adagrad;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.RmsProp;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.data.Split;
import io.seriatim.train.metrics.JsonLines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainerTest {
    private static final Split DATA = new Split(new Spirals(330, 1), new Spirals(90, 2));

    @TempDir
    private Path folder;

    /** Records the events of a training. */
    private static final class Log implements TrainingListener {
        private final List<Double> losses = new ArrayList<>();
        private final List<Evaluation> evaluations = new ArrayList<>();
        private final List<Long> checkpoints = new ArrayList<>();
        private final List<End> ends = new ArrayList<>();

        @Override
        public void step(Step step) {
            losses.add(step.loss());
        }

        @Override
        public void evaluated(Evaluation evaluation) {
            evaluations.add(evaluation);
        }

        @Override
        public void saved(long step, Path at) {
            checkpoints.add(step);
        }

        @Override
        public void ended(End end, long step) {
            ends.add(end);
        }
    }

    /** A training with every kind of state: dropout, a schedule with warm-up, clipping, moments. */
    private static Model model(double rate, double dropout) {
        return model(rate, dropout, false);
    }

    private static Model model(double rate, double dropout, boolean isNormalised) {
        List<Program> evaluation = new ArrayList<>();
        Schedule schedule = Schedule.cosine(rate, 60, rate / 10).warmUp(5, rate / 5, rate);
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 2);
            Value y = graph.data("y", DType.INT64, -1, 1);
            Value linear = graph.linear(x, 32);
            Value hidden = graph.dropout((isNormalised ? graph.batchNorm(linear) : linear).tanh(), dropout);
            Value logits = graph.linear(graph.linear(hidden, 32).relu(), Spirals.CLASSES);
            Value loss = graph.softmaxCrossEntropy(logits, y).mean();
            Value accuracy = graph.accuracy(logits, y, 1);
            evaluation.add(graph.main().copyForTest());
            graph.minimize(loss, AdamW.of(schedule).clip(Clip.globalNorm(1)));
            return Outputs.of("loss", loss, "accuracy", accuracy, "logits", logits);
        });
        return new Model("spirals", network.main(), network.startup(), evaluation.getFirst(), List.of("x", "y"),
                network.outputs().get("loss").name(), Map.of("accuracy", network.outputs().get("accuracy").name()),
                network.schedules(),
                List.of("x"), List.of(network.outputs().get("logits").name()), "points", 1);
    }

    private static Trainer.Builder training(Model model) {
        return Trainer.of(model, DATA).batch(30).epochs(5).seed(7);
    }

    private static Map<String, List<Double>> values(Scope scope) {
        Map<String, List<Double>> values = new TreeMap<>();
        for (String name : scope.names()) {
            Tensor tensor = scope.find(name);
            if (tensor != null) {
                values.put(name, Arrays.stream(tensor.toDoubleArray()).boxed().toList());
            }
        }
        return values;
    }

    private static Set<String> files(Path root) throws IOException {
        if (!Files.isDirectory(root)) {
            return Set.of();
        }
        try (Stream<Path> walk = Files.walk(root)) {
            return walk.filter(Files::isRegularFile).map(file -> root.relativize(file).toString())
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void learns() throws IOException {
        Log log = new Log();
        Trainer trainer = training(model(0.02, 0)).epochs(30).listener(log).build();
        Trainer.Result result = trainer.run();
        assertEquals(End.DONE, result.end());
        assertEquals(330, result.step());
        assertEquals(330, log.losses.size());
        assertEquals(30, log.evaluations.size());
        assertTrue(log.losses.getFirst() > 0.9, "loss at the start " + log.losses.getFirst());
        assertTrue(result.bestLoss() < 0.4, "best validation loss " + result.bestLoss());
        assertEquals(log.evaluations.stream().mapToDouble(TrainingListener.Evaluation::loss).min().orElseThrow(),
                result.bestLoss());
    }

    @Test
    void isTheSameEachTime() throws IOException {
        Trainer one = training(model(0.02, 0.2)).build();
        Trainer two = training(model(0.02, 0.2)).threads(2).build();
        one.run();
        two.run();
        assertEquals(values(one.scope()), values(two.scope()));
        Trainer other = training(model(0.02, 0.2)).seed(8).build();
        other.run();
        assertFalse(values(one.scope()).equals(values(other.scope())), "the seed must matter");
    }

    @Test
    void goesOnAsIfItHadNotBeenInterrupted() throws IOException {
        Log whole = new Log();
        Trainer uninterrupted = training(model(0.02, 0.2)).folder(folder.resolve("whole")).listener(whole).build();
        Trainer.Result expected = uninterrupted.run();
        // In the middle of an epoch, at the end of one, right after the first step and one before the last.
        for (int at : List.of(1, 17, 22, 54)) {
            Path run = folder.resolve("stopped-" + at);
            Log before = new Log();
            StopSignal stop = new StopSignal();
            Trainer.Result stopped = training(model(0.02, 0.2)).folder(run).stop(stop).listener(before)
                    .listener(new TrainingListener() {
                        @Override
                        public void step(Step step) {
                            if (step.step() == at) {
                                stop.request();
                            }
                        }
                    }).build().run();
            assertEquals(End.STOPPED, stopped.end());
            assertEquals(at, stopped.step());
            Log after = new Log();
            Trainer resumed = training(model(0.02, 0.2)).folder(run).resume().listener(after).build();
            Trainer.Result result = resumed.run();
            List<Double> losses = new ArrayList<>(before.losses);
            losses.addAll(after.losses);
            assertEquals(whole.losses, losses, "losses, stopped at " + at);
            assertEquals(expected, result, "result, stopped at " + at);
            assertEquals(values(uninterrupted.scope()), values(resumed.scope()), "variables, stopped at " + at);
        }
    }

    @Test
    void keepsTheNewestCheckpointsAndTheBest() throws IOException {
        Log log = new Log();
        Trainer.Result result = training(model(0.02, 0)).epochs(6).checkpointEvery(4).folder(folder).listener(log)
                .build().run();
        assertEquals(66, result.step());
        assertTrue(log.checkpoints.containsAll(List.of(4L, 8L, 11L, 12L, 66L)), log.checkpoints.toString());
        Set<String> expected = new TreeSet<>();
        for (long step : Set.copyOf(List.of(64L, 66L, result.bestStep()))) {
            expected.add("checkpoints/" + step + "/state.properties");
            expected.add("checkpoints/" + step + "/variables.pdiparams");
        }
        if (result.bestStep() == 66) {
            expected.addAll(List.of("checkpoints/60/state.properties", "checkpoints/60/variables.pdiparams"));
        }
        assertTrue(files(folder).containsAll(expected), files(folder) + " of which needed " + expected);
        Set<String> others = new TreeSet<>(files(folder));
        assertTrue(others.remove("run.lock"), others::toString);
        assertTrue(others.size() <= 6, others::toString);
    }

    @Test
    void endsEarly() throws IOException {
        // The learning rate is so high that the loss does not fall steadily.
        Trainer.Result result = training(model(0.5, 0)).epochs(200).patience(3).folder(folder).build().run();
        assertEquals(End.EARLY, result.end());
        assertTrue(result.step() < 2200);
        assertEquals(result.bestStep() + 33, result.step());
    }

    @Test
    void leavesTheBestParameters() throws IOException {
        Trainer trainer = training(model(0.5, 0)).epochs(200).patience(3).folder(folder).build();
        Trainer.Result result = trainer.run();
        Scope scope = new Scope();
        Checkpoints.in(folder).load(Checkpoints.in(folder).of(result.bestStep()), model(0.5, 0).main(), scope);
        assertEquals(values(scope), values(trainer.scope()));
    }

    @Test
    void savesWhatSeriatimAndPaddleLoad() throws IOException {
        Trainer trainer = training(model(0.02, 0.2)).epochs(1).build();
        trainer.run();
        trainer.save(folder.resolve("model"));
        assertEquals(Set.of("model.pdiparams", "model.pdmodel"), files(folder));
        List<Tensor> batch = DATA.validation().batch(new int[]{0, 1, 2, 3});
        try (InferenceModels.InferenceModel model = InferenceModels.load(folder.resolve("model"));
                Executor executor = Executor.on(Place.CPU)) {
            Model trained = model(0.02, 0.2);
            String logits = trained.outputs().getFirst();
            assertEquals(List.of("x"), model.feeds());
            float[] expected = executor
                    .compile(trained.evaluation(), Executor.feeds("x", "y"), Executor.fetches(logits))
                    .run(trainer.scope(), batch.get(0), batch.get(1)).get(logits).toFloatArray();
            model.parameters().forEach(executor.scope()::set);
            String fetched = model.fetches().getFirst();
            float[] loaded = executor.compile(model.program(), Executor.feeds("x"), Executor.fetches(fetched))
                    .run(batch.getFirst())
                    .get(fetched).toFloatArray();
            assertEquals(Arrays.toString(expected), Arrays.toString(loaded));
        }
    }

    @Test
    void trainsOnSeveralPlacesAsOnOne() throws IOException {
        Log one = new Log();
        Trainer alone = training(model(0.02, 0)).listener(one).build();
        alone.run();
        for (List<Place> places : List.of(List.of(Place.sim(0), Place.sim(1)), List.of(Place.CPU, Place.CPU),
                List.of(Place.sim(0), Place.sim(1), Place.sim(2)))) {
            Log several = new Log();
            Trainer together = training(model(0.02, 0)).places(places).threads(2).listener(several).build();
            together.run();
            for (int i = 0; i < one.losses.size(); i++) {
                assertEquals(one.losses.get(i), several.losses.get(i), 1e-5,
                        "loss of step " + (i + 1) + " on " + places);
            }
            assertEquals(one.evaluations.getLast().loss(), several.evaluations.getLast().loss(), 1e-5);
        }
    }

    /** The evaluation uses the running statistics. */
    @Test
    void normalisesOverTheRowsOfAllPlacesAsOnOne() throws IOException {
        Log one = new Log();
        training(model(0.02, 0, true)).listener(one).build().run();
        for (List<Place> places : List.of(List.of(Place.sim(0), Place.sim(1)),
                List.of(Place.CPU, Place.CPU, Place.CPU))) {
            Log all = new Log();
            training(model(0.02, 0, true)).places(places).exchange(Exchange.PLAIN.syncBatchNorm(true)).threads(2)
                    .listener(all).build().run();
            Log each = new Log();
            training(model(0.02, 0, true)).places(places).listener(each).build().run();
            double own = 0;
            for (int i = 0; i < one.losses.size(); i++) {
                assertEquals(one.losses.get(i), all.losses.get(i), 1e-3, "loss of step " + (i + 1) + " on " + places);
                own = Math.max(own, Math.abs(one.losses.get(i) - each.losses.get(i)));
            }
            assertTrue(own > 1e-2, "statistics of each place give other losses, but " + own);
            assertEquals(one.evaluations.getLast().loss(), all.evaluations.getLast().loss(), 1e-3);
        }
    }

    @Test
    void goesOnOnSeveralPlaces() throws IOException {
        List<Place> places = List.of(Place.sim(0), Place.sim(1));
        Log whole = new Log();
        training(model(0.02, 0.2)).places(places).listener(whole).build().run();
        StopSignal stop = new StopSignal();
        Log parts = new Log();
        training(model(0.02, 0.2)).places(places).folder(folder).stop(stop).listener(parts)
                .listener(new TrainingListener() {
                    @Override
                    public void step(Step step) {
                        if (step.step() == 20) {
                            stop.request();
                        }
                    }
                }).build().run();
        training(model(0.02, 0.2)).places(places).folder(folder).resume().listener(parts).build().run();
        assertEquals(whole.losses, parts.losses);
    }

    @Test
    void findsTheOperationThatMadeNan() {
        // The value is finite, but its square overflows a float.
        Split broken = new Split(new Spirals(330, 1).with(123, Float.POSITIVE_INFINITY), new Spirals(90, 2));
        Trainer trainer = Trainer.of(model(0.02, 0), broken).batch(30).epochs(5).seed(7).folder(folder).build();
        NotFiniteException e = assertThrows(NotFiniteException.class, trainer::run);
        String message = String.valueOf(e.getMessage());
        assertTrue(
                message.matches(
                        "(?s)The loss of step \\d+ is NaN\\. The first such value came in step \\d+: .*matmul_v2.*"),
                message);
    }

    @Test
    void tellsOfExplodingSteps() {
        Trainer trainer = training(model(1e30, 0)).epochs(20).folder(folder).build();
        NotFiniteException e = assertThrows(NotFiniteException.class, trainer::run);
        assertTrue(String.valueOf(e.getMessage()).contains("learning rate"), String.valueOf(e.getMessage()));
    }

    @Test
    void refusesCheckpointsOfOthers() throws IOException {
        training(model(0.02, 0)).steps(5).folder(folder).build().run();
        for (Trainer.Builder other : List.of(training(model(0.02, 0.3)), training(model(0.02, 0)).seed(8),
                training(model(0.02, 0)).batch(15),
                Trainer.of(model(0.02, 0), new Split(new Spirals(300, 1), DATA.validation())).batch(30)
                        .epochs(5).seed(7))) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    other.folder(folder).resume().build()::run);
            assertTrue(String.valueOf(e.getMessage()).contains("resume with"), String.valueOf(e.getMessage()));
        }
        IOException none = assertThrows(IOException.class,
                training(model(0.02, 0)).folder(folder.resolve("no")).resume().build()::run);
        assertTrue(String.valueOf(none.getMessage()).contains("no checkpoint"), String.valueOf(none.getMessage()));
    }

    /** A linear model, whose optimizer and schedule differ from case to case. */
    private static Model linear(Optimizer optimizer) {
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 2);
            Value y = graph.data("y", DType.INT64, -1, 1);
            Value logits = graph.linear(x, Spirals.CLASSES);
            Value loss = graph.softmaxCrossEntropy(logits, y).mean();
            graph.minimize(loss, optimizer);
            return Outputs.of("loss", loss, "logits", logits);
        });
        return new Model("linear", network.main(), network.startup(), network.main().copyForTest(), List.of("x", "y"),
                network.outputs().get("loss").name(), Map.of(), network.schedules(), List.of("x"),
                List.of(network.outputs().get("logits").name()), "points", 1);
    }

    /** Optimizers that differ from each other in one thing. */
    private static List<Optimizer> optimizers() {
        List<Optimizer> all = new ArrayList<>(List.<Optimizer>of(Sgd.of(0.1), Sgd.of(0.1000001), Momentum.of(0.1),
                Momentum.of(0.1).mu(0.8), Adam.of(0.1), Adam.of(0.1).beta1(0.8), Adam.of(0.1).epsilon(1e-6),
                AdamW.of(0.1), Adagrad.of(0.1), Adagrad.of(0.1).initial(0.5), RmsProp.of(0.1),
                Adam.of(0.1).clip(Clip.globalNorm(1)), Adam.of(0.1).clip(Clip.globalNorm(2))));
        List<Schedule> schedules = List.of(Schedule.constant(0.1), Schedule.constant(0.2),
                Schedule.exponential(0.1, 0.99), Schedule.exponential(0.1, 0.98), Schedule.cosine(0.1, 55, 0),
                Schedule.cosine(0.1, 110, 0), Schedule.step(0.1, 40, 0.5), Schedule.step(0.1, 41, 0.5),
                Schedule.step(0.1, 40, 0.6), Schedule.constant(0.1).warmUp(5, 0, 0.1),
                Schedule.constant(0.1).warmUp(6, 0, 0.1));
        schedules.forEach(schedule -> all.add(Sgd.of(schedule)));
        return all;
    }

    @Test
    void aChangedOptimizerRateOrScheduleIsNoticed() throws IOException {
        List<Optimizer> optimizers = optimizers();
        for (int i = 0; i < optimizers.size(); i++) {
            Path run = folder.resolve("run" + i);
            Trainer.of(linear(optimizers().get(i)), DATA).batch(30).steps(7).epochs(5).folder(run).build().run();
            for (int j = 0; j < optimizers.size(); j++) {
                // All pairs take long, because each is a training: by default some of them, among them neighbours.
                if (!Boolean.getBoolean("seriatim.full") && Math.abs(i - j) > 1
                        && (i + j) % 11 != 0) {
                    continue;
                }
                Trainer.Builder resumed = Trainer.of(linear(optimizers().get(j)), DATA).batch(30).steps(8).epochs(5)
                        .folder(run).resume();
                if (i == j) {
                    assertEquals(8, resumed.build().run().step());
                } else {
                    String what = i + " resumed with " + j;
                    IllegalArgumentException e =
                            assertThrows(IllegalArgumentException.class, resumed.build()::run, what);
                    assertTrue(String.valueOf(e.getMessage()).contains("resume with"), what + ": " + e.getMessage());
                }
            }
        }
    }

    /** As the tables of rates of some callers. */
    @Test
    void aScheduleMayEndWithTheTraining() throws IOException {
        double[] rates = {0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03};
        Model model = linear(Sgd.of(step -> rates[(int) step]));
        Trainer.of(model, DATA).batch(30).steps(5).epochs(5).folder(folder).build().run();
        Trainer.of(model, DATA).batch(30).steps(8).epochs(5).folder(folder).resume().build().run();
        double[] shorter = Arrays.copyOf(rates, 6);
        assertThrows(IllegalArgumentException.class, Trainer.of(linear(Sgd.of(step -> shorter[(int) step])), DATA)
                .batch(30).steps(8).epochs(5).folder(folder).resume().build()::run);
    }

    @Test
    void aFolderWithCheckpointsIsOnlyForTheirTraining() throws IOException {
        training(model(0.02, 0)).steps(5).folder(folder).build().run();
        Path metrics = Files.writeString(folder.resolve("m.jsonl"), "kept");
        Set<String> before = files(folder);
        byte[] variables = Files.readAllBytes(folder.resolve("checkpoints/5/variables.pdiparams"));
        for (Model other : List.of(model(0.02, 0), model(0.1, 0), linear(Sgd.of(0.1)))) {
            for (int steps : List.of(2, 5, 20)) {
                IllegalStateException e = assertThrows(IllegalStateException.class, training(other).steps(steps)
                        .folder(folder).listener(new JsonLines(metrics)).build()::run);
                assertEquals("The folder " + folder + " holds the checkpoints of a training, the newest after step 5: "
                        + "resume that training with resume(), or train into another folder", e.getMessage());
            }
        }
        assertEquals(before, files(folder));
        assertEquals("kept", Files.readString(metrics));
        assertTrue(Arrays.equals(variables, Files.readAllBytes(folder.resolve("checkpoints/5/variables.pdiparams"))));
        assertEquals(9, training(model(0.02, 0)).steps(9).folder(folder).resume().build().run().step());
    }

    @Test
    void aCheckpointOfAnEarlierVersionIsResumed() throws IOException {
        training(model(0.02, 0)).steps(5).folder(folder).build().run();
        Path state = folder.resolve("checkpoints/5/state.properties");
        List<String> lines = Files.readAllLines(state);
        assertTrue(lines.stream().anyMatch(line -> line.matches("rates=100000 steps, from 0.004, hash [0-9a-f]+")),
                lines::toString);
        Files.write(state, lines.stream().filter(line -> !line.matches("(startup|rates)=.*")).toList());
        assertEquals(9, training(model(0.02, 0)).steps(9).folder(folder).resume().build().run().step());
    }

    @Test
    void refusesDamagedCheckpoints() throws IOException {
        training(model(0.02, 0)).steps(5).folder(folder).build().run();
        Path variables = folder.resolve("checkpoints/5/variables.pdiparams");
        byte[] bytes = Files.readAllBytes(variables);
        Files.write(variables, Arrays.copyOf(bytes, bytes.length - 3));
        IOException cut = assertThrows(IOException.class,
                training(model(0.02, 0)).folder(folder).resume().build()::run);
        assertTrue(String.valueOf(cut.getMessage()).contains("variables.pdiparams"), String.valueOf(cut.getMessage()));
        Files.write(variables, bytes);
        Path state = folder.resolve("checkpoints/5/state.properties");
        Files.writeString(state, Files.readString(state).replaceAll("step=5", "step=five"));
        IOException wrong = assertThrows(IOException.class,
                training(model(0.02, 0)).folder(folder).resume().build()::run);
        assertTrue(String.valueOf(wrong.getMessage()).contains("'step' five is not a number"),
                String.valueOf(wrong.getMessage()));
    }

    @Test
    void refusesWhatDoesNotFit() {
        Model model = model(0.02, 0);
        assertThrows(IllegalArgumentException.class, () -> Trainer.of(model, DATA).batch(331).build());
        assertThrows(IllegalArgumentException.class, () -> Trainer.of(model, DATA).batch(0));
        assertThrows(IllegalArgumentException.class,
                () -> Trainer.of(model, DATA).batch(31).places(List.of(Place.sim(0), Place.sim(1))).build());
        assertThrows(IllegalArgumentException.class, () -> Trainer.of(model, DATA).places(List.of()));
    }
}
