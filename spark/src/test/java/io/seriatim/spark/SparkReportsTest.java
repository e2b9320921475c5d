package io.seriatim.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.tensor.DType;
import io.seriatim.train.Model;
import io.seriatim.train.TrainingListener;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.jdk.javaapi.CollectionConverters;

/** What the driver is told by rank 0, and tells the user. */
class SparkReportsTest {
    private static final int ROWS = 200;
    private static final int BATCH = 20;
    private static final int EPOCHS = 3;
    private static final int STEPS = EPOCHS * ROWS / BATCH;
    private static final double RATE = 0.02;
    private static final long LIMIT_SECONDS = 120;
    /** Opened by the driver's listener, and waited for by rank 0, which is a thread of this process. */
    private static final CountDownLatch HEARD = new CountDownLatch(1);

    @TempDir
    private Path folder;

    private static Model model() {
        Network network = Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 2);
            Value y = graph.data("y", DType.INT64, -1, 1);
            Value logits = graph.linear(graph.linear(x, 8).tanh(), 2);
            Value loss = graph.softmaxCrossEntropy(logits, y).mean();
            graph.minimize(loss, AdamW.of(Schedule.cosine(RATE, STEPS, RATE / 10)));
            return Outputs.of("loss", loss, "logits", logits);
        });
        return Model.of("sides <b>", network).loss("loss").predicts("logits");
    }

    private static Dataset<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            rows.add(RowFactory.create(new float[]{i % 2 + i * 1e-3f, i * 1e-2f}, (long) i % 2));
        }
        return LocalSpark.session().createDataFrame(rows, new StructType()
                .add("x", DataTypes.createArrayType(DataTypes.FloatType)).add("y", DataTypes.LongType));
    }

    private static SparkTraining training() {
        return SparkTraining.of(model(), rows()).ranks(2).batch(BATCH).epochs(EPOCHS).seed(1);
    }

    private static Map<String, double[]> fit(SparkTraining training) throws IOException {
        try (SparkTraining.Result result = training.fit()) {
            Map<String, double[]> values = new TreeMap<>();
            result.variables().forEach((name, tensor) -> values.put(name, tensor.toDoubleArray()));
            return values;
        }
    }

    /** Keeps what it is told. */
    private static final class Told implements TrainingListener {
        private final List<Object> events = new ArrayList<>();

        @Override
        public void started(Started started) {
            events.add(started);
        }

        @Override
        public void step(Step step) {
            events.add(step);
        }

        @Override
        public void evaluated(Evaluation evaluation) {
            events.add(evaluation);
        }

        @Override
        public void ended(End end, long step) {
            events.add(end + " " + step);
        }

        private <T> List<T> of(Class<T> type) {
            return events.stream().filter(type::isInstance).map(type::cast).toList();
        }
    }

    @Test
    void listenersAreToldOfTheWholeTraining() throws IOException {
        Told told = new Told();
        double loss;
        try (SparkTraining.Result result = training().validation(rows()).listener(told).fit()) {
            loss = result.loss();
        }
        TrainingListener.Started started = assertInstanceOf(TrainingListener.Started.class, told.events.getFirst());
        assertEquals(STEPS, started.steps());
        assertEquals(BATCH, started.batch());
        assertEquals(ROWS, started.examples(), "those of both ranks");
        List<TrainingListener.Step> steps = told.of(TrainingListener.Step.class);
        assertEquals(STEPS, steps.getLast().step());
        assertEquals((long) STEPS * BATCH, steps.stream().mapToLong(TrainingListener.Step::units).sum());
        assertTrue(steps.stream().allMatch(each -> Double.isFinite(each.loss()) && each.seconds() > 0),
                steps::toString);
        assertEquals(Schedule.cosine(RATE, STEPS, RATE / 10).rate(STEPS - 1), steps.getLast().rate(), 1e-12);
        List<TrainingListener.Evaluation> evaluations = told.of(TrainingListener.Evaluation.class);
        assertEquals(EPOCHS, evaluations.size());
        assertEquals(loss, evaluations.getLast().loss());
        assertEquals("DONE " + STEPS, told.events.getLast());
    }

    @Test
    void listenersAreToldWhileTheRanksTrain() throws IOException {
        SparkTraining training = training().listener(new TrainingListener() {
            @Override
            public void step(Step step) {
                HEARD.countDown();
            }
        }).attempts(1).probe((rank, attempt, step) -> {
            if (rank == 0 && step == STEPS - 1) {
                try {
                    if (!HEARD.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                        throw new IllegalStateException("the driver was not told of any step");
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        fit(training);
    }

    /** Throws what it is given, at each call. */
    private record Failing(Throwable failure, AtomicLong calls) implements TrainingListener {
        @SuppressWarnings("unchecked")
        private <E extends Throwable> void fail() throws E {
            calls.incrementAndGet();
            throw (E) failure;
        }

        @Override
        public void started(Started started) {
            if (failure instanceof IOException) {
                fail();
            }
        }

        @Override
        public void step(Step step) {
            fail();
        }

        @Override
        public void ended(End end, long step) {
            fail();
        }
    }

    @Test
    void aListenerThatFailsIsCalledNoMoreAndChangesNothing() throws IOException {
        Map<String, double[]> expected = fit(training());
        List<Failing> failing = Stream.of(new IllegalStateException("planned"), new IOException("planned"),
                new AssertionError("planned"), new StackOverflowError("planned"), new InterruptedException("planned"))
                .map(each -> new Failing(each, new AtomicLong())).toList();
        SparkTraining training = training();
        failing.forEach(training::listener);
        Told told = new Told();
        Map<String, double[]> actual = fit(training.listener(told));
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach((name, values) -> assertArrayEquals(values, actual.get(name), name));
        failing.forEach(each -> assertEquals(1, each.calls().get(), each::toString));
        assertEquals("DONE " + STEPS, told.events.getLast());
    }

    @Test
    void theReportHasTheCurvesOfAllAttempts() throws IOException {
        Path file = folder.resolve("reports/report.html");
        Told told = new Told();
        fit(training().checkpoints(folder.resolve("checkpoints").toString()).checkpointEvery(4).validation(rows())
                .report(file.toString()).listener(told).probe((rank, attempt, step) -> {
                    if (attempt == 0 && rank == 1 && step == 14) {
                        throw new IllegalStateException("planned");
                    }
                }));
        List<TrainingListener.Started> starts = told.of(TrainingListener.Started.class);
        assertEquals(12, starts.getLast().firstStep());
        String page = Files.readString(file);
        assertTrue(page.contains("sides &lt;b&gt;"), page);
        assertTrue(page.contains("Validation loss"), page);
        assertTrue(page.contains("Learning rate"), page);
        assertTrue(page.contains("Throughput"), page);
        assertTrue(page.contains("local[2]"), page);
        assertFalse(page.contains("Peak memory"), page);
        assertFalse(page.contains("The training failed"), page);
        try (Stream<Path> files = Files.list(file.getParent())) {
            assertTrue(files.noneMatch(each -> each.toString().contains(".part")));
        }
    }

    @Test
    void theReportSaysWhyATrainingFailed() throws IOException {
        Path file = folder.resolve("report.html");
        assertThrows(IllegalStateException.class, () -> fit(training().attempts(2).report(file.toUri().toString())
                .probe((rank, attempt, step) -> {
                    if (step == 5) {
                        throw new IllegalStateException("planned & marked");
                    }
                })));
        String page = Files.readString(file);
        assertTrue(page.contains("The training failed"), page);
        assertTrue(page.contains("planned &amp; marked"), page);
    }

    @Test
    void aReportThatCannotBeWrittenIsFoundBeforeTheFirstStep() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "in the way");
        AtomicLong starts = new AtomicLong();
        assertThrows(IOException.class, () -> fit(training().report(file.resolve("report.html").toString())
                .listener(new TrainingListener() {
                    @Override
                    public void started(Started started) {
                        starts.incrementAndGet();
                    }
                })));
        assertEquals(0, starts.get());
        Path directory = Files.createDirectory(folder.resolve("directory"));
        Files.writeString(directory.resolve("kept"), "");
        assertThrows(IOException.class, () -> fit(training().report(directory.toString())));
        assertTrue(Files.exists(directory.resolve("kept")));
    }

    private static RankEvents copied(RankEvents events) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(events.value());
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            RankEvents copy = new RankEvents();
            ((RankEvents.Latest) in.readObject()).events().forEach(copy::add);
            return copy;
        }
    }

    /** The thread of heartbeats sees accumulators of tasks that are still being read; an exception ends the thread. */
    @Test
    void heartbeatsMayComeWhileATaskIsRead() throws IOException, ClassNotFoundException {
        RankEvents events = new RankEvents();
        LocalSpark.session().sparkContext().register(events, "half read");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(events);
        }
        List<RankEvents> seen = new ArrayList<>();
        TaskContext$.MODULE$.setTaskContext(TaskContext$.MODULE$.empty());
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())) {
            @Override
            protected Class<?> resolveClass(ObjectStreamClass description) throws IOException, ClassNotFoundException {
                // The value of the field is read next.
                if (description.getName().equals(RankEvents.Latest.class.getName())) {
                    CollectionConverters.asJava(TaskContext.get().taskMetrics().accumulators()).forEach(each -> {
                        if (each instanceof RankEvents half) {
                            seen.add(half);
                            assertTrue(half.isZero());
                            assertTrue(half.copy().isZero());
                            assertEquals(List.of(), half.value().events());
                        }
                    });
                }
                return super.resolveClass(description);
            }
        }) {
            assertSame(in.readObject(), seen.getFirst());
        } finally {
            TaskContext$.MODULE$.unset();
        }
    }

    @Test
    void stepsOfAnIntervalAreOneEventAndTheLatestEventsAreKept() throws IOException, ClassNotFoundException {
        RankEvents events = new RankEvents();
        AtomicLong nanos = new AtomicLong(-5);
        RankReporter reporter = new RankReporter(events, nanos::get);
        reporter.started(new TrainingListener.Started("m", "cpu", 1, 2, 0, 9, 1, 1, 1, "examples"));
        for (int i = 1; i <= 5; i++) {
            nanos.addAndGet(100_000_000);
            reporter.step(new TrainingListener.Step(i, 1, i, Map.of("error", 2.0 * i), 0.1 * i, 0.5, 2));
        }
        reporter.ended(TrainingListener.End.DONE, 5);
        List<RankEvent.Stepped> steps = copied(events).value().events().stream()
                .filter(RankEvent.Stepped.class::isInstance).map(RankEvent.Stepped.class::cast).toList();
        assertEquals(List.of(1L, 4L, 5L), steps.stream().map(RankEvent.Stepped::step).toList());
        assertEquals(3, steps.get(1).loss(), "the mean of 2, 3 and 4");
        assertEquals(Map.of("error", 6.0), steps.get(1).metrics());
        assertEquals(1.5, steps.get(1).seconds());
        assertEquals(6, steps.get(1).units());
        assertEquals(0.4, steps.get(1).rate(), 1e-12);
        for (int i = 0; i < RankEvents.MOST; i++) {
            events.add(new RankEvent.Ended(100 + i, TrainingListener.End.DONE, i));
        }
        assertEquals(RankEvents.MOST, events.value().events().size());
        assertEquals(100, events.value().events().getFirst().number());
    }
}
