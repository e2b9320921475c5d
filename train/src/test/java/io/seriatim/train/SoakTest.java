package io.seriatim.train;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import io.seriatim.train.data.Split;
import io.seriatim.train.metrics.Curve;
import io.seriatim.train.metrics.EventFile;
import io.seriatim.train.metrics.History;
import io.seriatim.train.metrics.JsonLines;
import io.seriatim.train.metrics.Progress;
import io.seriatim.train.model.Mlp;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Long runs: after many steps and calls, memory and results are the same as after the first thousand. The durations of
 * steps and calls are printed, not asserted. With {@code -Pfull} a run is as long as that of an unattended service:
 * 100,000 steps, a million calls.
 */
class SoakTest {
    private static final boolean FULL = Boolean.getBoolean("seriatim.full");
    private static final int WARM = 1_000;
    private static final int THREADS = 4;
    private static final int BATCH = 50;

    /** Images of ten patterns with noise. */
    private static final class Noise implements Dataset {
        private static final int WIDTH = 784;
        private static final int CLASSES = 10;
        /** The bytes of an image and its label. */
        private static final long BYTES = WIDTH * (long) Float.BYTES + Long.BYTES;
        private final float[][] images;

        Noise(int size, long seed) {
            SplittableRandom random = new SplittableRandom(seed);
            images = new float[size][WIDTH];
            for (int i = 0; i < size; i++) {
                for (int j = 0; j < WIDTH; j++) {
                    images[i][j] = (float) (random.nextDouble() - 0.5 + (j % CLASSES == i % CLASSES ? 0.3 : 0));
                }
            }
        }

        @Override
        public List<Field> fields() {
            return List.of(new Field("x", DType.FLOAT32, Shape.of(WIDTH)), new Field("y", DType.INT64, Shape.of(1)));
        }

        @Override
        public int size() {
            return images.length;
        }

        @Override
        public List<Tensor> batch(int[] examples) {
            float[] values = new float[examples.length * WIDTH];
            long[] labels = new long[examples.length];
            for (int i = 0; i < examples.length; i++) {
                System.arraycopy(images[examples[i]], 0, values, i * WIDTH, WIDTH);
                labels[i] = examples[i] % CLASSES;
            }
            return List.of(Tensor.of(values, examples.length, WIDTH), Tensor.of(labels, examples.length, 1));
        }
    }

    /** The sizes of the memory that the process uses. */
    private record Usage(long resident, long heap, long device) {
        /** Measured after garbage collections, so that unreachable memory does not count. */
        static Usage now() throws IOException {
            for (int i = 0; i < 3; i++) {
                collect();
            }
            // An allocation frees the buffers that the collector has found unreachable.
            Tensor.allocate(DType.FLOAT32, 1).close();
            long heap = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
            return new Usage(residentNow(), heap, Devices.system().get(Place.CPU).memory().used());
        }

        /**
         * Collects, and waits until the references that the collection cleared have been enqueued: those of one
         * collection are enqueued before those of the next.
         */
        private static void collect() {
            ReferenceQueue<Object> found = new ReferenceQueue<>();
            WeakReference<Object> garbage = new WeakReference<>(new Object(), found);
            System.gc();
            try {
                assertSame(garbage, found.remove(60_000), "a collection did not find an object that no one can reach");
            } catch (InterruptedException e) {
                throw new IllegalStateException("Interrupted while garbage was collected", e);
            }
        }

        private static long residentNow() throws IOException {
            Path status = Path.of("/proc/self/status");
            if (!Files.isReadable(status)) {
                return -1;
            }
            return Files.readAllLines(status).stream().filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElse(-1);
        }

        /**
         * Memory that is counted exactly must not grow. The system's figures depend on the JVM's own threads and are
         * only printed.
         *
         * @param frames
         *            memory that may be used in addition: the temporaries of runs, if more runs overlap than before
         */
        void requireNoMoreThan(Usage before, long frames) {
            assertTrue(device <= before.device + frames,
                    "device memory grew from " + before.device + " to " + device + " bytes");
            assertTrue(heap <= before.heap * 1.05 + (1 << 20),
                    "the heap grew from " + before.heap + " to " + heap + " bytes");
        }
    }

    @FormatMethod
    private static void print(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }

    private static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    @Test
    void steps() throws IOException {
        int steps = FULL ? 100_000 : 3_000;
        Noise data = new Noise(1_000, 3);
        Mlp mlp = new Mlp(data.fields().get(0), data.fields().get(1), Noise.CLASSES);
        Model model = mlp.build(mlp.recipe(), steps);
        List<Double> early = new ArrayList<>();
        List<Double> late = new ArrayList<>();
        List<Usage> usages = new ArrayList<>();
        double[] last = new double[1];
        Trainer.of(model, new Split(data, new Noise(100, 4))).batch(BATCH).epochs(steps / 20).seed(5).evaluateEvery(0)
                .listener(new TrainingListener() {
                    @Override
                    public void step(Step step) throws IOException {
                        if (step.step() > WARM && step.step() <= 2 * WARM) {
                            early.add(step.seconds());
                        }
                        if (step.step() > steps - WARM) {
                            late.add(step.seconds());
                        }
                        if (step.step() == WARM || step.step() == steps) {
                            usages.add(Usage.now());
                        }
                        last[0] = step.loss();
                    }
                }).build().run();
        Usage begin = usages.getFirst();
        Usage end = usages.getLast();
        print("%,d steps of mlp: median step %.3f ms after the first thousand, %.3f ms in the last (ratio %.3f)", steps,
                1e3 * median(early),
                1e3 * median(late), median(late) / median(early));
        print("resident memory %.1f MiB after the first thousand, %.1f MiB at the end (ratio %.3f); heap %.1f and "
                + "%.1f MiB",
                begin.resident / 1048576.0, end.resident / 1048576.0, (double) end.resident / begin.resident,
                begin.heap / 1048576.0,
                end.heap / 1048576.0);
        // The number of prefetched batches, or of batches that the reading thread holds, may differ by one.
        end.requireNoMoreThan(begin, end.device == begin.device + BATCH * Noise.BYTES ? BATCH * Noise.BYTES : 0);
        assertTrue(last[0] < 0.05, "loss of the last step " + last[0]);
    }

    /** Points on a line, for a model whose step costs less than what the listeners do. */
    private record Line(int size) implements Dataset {
        @Override
        public List<Field> fields() {
            return List.of(new Field("x", DType.FLOAT32, Shape.of(1)), new Field("y", DType.FLOAT32, Shape.of(1)));
        }

        @Override
        public List<Tensor> batch(int[] examples) {
            float[] x = new float[examples.length];
            float[] y = new float[examples.length];
            for (int i = 0; i < examples.length; i++) {
                x[i] = examples[i] / (float) size;
                y[i] = 3 * x[i] + 1;
            }
            return List.of(Tensor.of(x, examples.length, 1), Tensor.of(y, examples.length, 1));
        }
    }

    private static Model line() {
        Network network = Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 1);
            Value y = g.data("y", DType.FLOAT32, -1, 1);
            Value out = g.linear(x, 1);
            Value loss = out.minus(y).square().mean();
            g.minimize(loss, Sgd.of(0.01));
            return Outputs.of("loss", loss, "out", out);
        });
        String loss = network.outputs().get("loss").name();
        return new Model("line", network.main(), network.startup(), network.main().copyForTest(), List.of("x", "y"),
                loss, Map.of("error", loss), network.schedules(), List.of("x"),
                List.of(network.outputs().get("out").name()), "rows", 1);
    }

    /** With an evaluation every ten steps and all listeners of the command. */
    @Test
    void listeners(@TempDir Path folder) throws IOException {
        int steps = FULL ? 1_000_000 : 30_000;
        int measured = steps / 10;
        List<Double> seconds = new ArrayList<>();
        List<Usage> usages = new ArrayList<>();
        History history = new History();
        try (JsonLines lines = new JsonLines(folder.resolve("metrics.jsonl"));
                EventFile events = new EventFile(folder);
                Progress redrawn = new Progress(new PrintStream(OutputStream.nullOutputStream(), true, UTF_8), true);
                Progress plain = new Progress(new PrintStream(OutputStream.nullOutputStream(), true, UTF_8), false)) {
            Trainer.of(line(), new Split(new Line(40), new Line(4))).batch(4).epochs(steps / 10).evaluateEvery(10)
                    .listener(history).listener(lines).listener(events).listener(redrawn).listener(plain)
                    .listener(new TrainingListener() {
                        private long begun;

                        @Override
                        public void started(Started training) {
                            begun = System.nanoTime();
                        }

                        @Override
                        public void step(Step step) throws IOException {
                            if (step.step() % measured == 0) {
                                seconds.add((System.nanoTime() - begun) / 1e9);
                                if (step.step() == 3L * measured || step.step() == steps) {
                                    usages.add(Usage.now());
                                }
                                begun = System.nanoTime();
                            }
                        }
                    }).build().run();
        }
        print("%,d steps with listeners and %,d evaluations: %.1f µs a step in the third tenth, %.1f µs in the last",
                steps, steps / 10, 1e6 * seconds.get(2) / measured, 1e6 * seconds.getLast() / measured);
        print("heap %.1f MiB after the third tenth, %.1f MiB at the end", usages.getFirst().heap / 1048576.0,
                usages.getLast().heap / 1048576.0);
        // The number of prefetched batches may differ.
        usages.getLast().requireNoMoreThan(usages.getFirst(), 1 << 10);
        assertEquals(steps, history.lastStep());
        assertTrue(history.evaluations().size() <= Curve.MAX_POINTS, "evaluations " + history.evaluations().size());
    }

    @Test
    void calls() throws IOException, ExecutionException, InterruptedException {
        int calls = FULL ? 1_000_000 : 40_000;
        Noise data = new Noise(64, 3);
        Mlp mlp = new Mlp(data.fields().get(0), data.fields().get(1), Noise.CLASSES);
        Model model = mlp.build(mlp.recipe(), 1);
        try (Executor executor = Executor.on(Place.CPU);
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            executor.run(model.startup().copy().randomSeed(9));
            String logits = model.outputs().getFirst();
            Plan plan = executor.compile(model.evaluation().prune(List.of("x"), List.of(logits)), Executor.feeds("x"),
                    Executor.fetches(logits));
            List<Tensor> inputs = new ArrayList<>();
            List<float[]> expected = new ArrayList<>();
            for (int i = 0; i < data.size(); i++) {
                inputs.add(data.batch(new int[]{i}).getFirst());
                expected.add(plan.run(inputs.get(i)).get(logits).toFloatArray());
            }
            double early = serve(threads, plan, logits, inputs, expected, Math.max(WARM, calls / 20));
            Usage begin = Usage.now();
            serve(threads, plan, logits, inputs, expected, calls - 2 * (calls / 20));
            double late = serve(threads, plan, logits, inputs, expected, Math.max(WARM, calls / 20));
            Usage end = Usage.now();
            print("%,d calls of one plan from %d threads: %.2f µs a call at first, %.2f µs at the end (ratio %.3f)",
                    calls, THREADS, early,
                    late, late / early);
            print("resident memory %.1f MiB after the first, %.1f MiB at the end (ratio %.3f); heap %.1f and %.1f MiB",
                    begin.resident / 1048576.0, end.resident / 1048576.0, (double) end.resident / begin.resident,
                    begin.heap / 1048576.0, end.heap / 1048576.0);
            // 1,536 bytes each: the limit detects 40,000 calls that leak a byte each.
            end.requireNoMoreThan(begin, (THREADS - 1) * 1_536L);
        }
    }

    /** The time between calls, in microseconds. */
    private static double serve(ExecutorService threads, Plan plan, String fetch, List<Tensor> inputs,
            List<float[]> expected, int calls)
            throws ExecutionException, InterruptedException {
        long started = System.nanoTime();
        List<Future<Integer>> served = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int first = i;
            served.add(threads.submit(() -> {
                int done = 0;
                for (int call = first; call < calls; call += THREADS) {
                    int which = call % inputs.size();
                    Results results = plan.run(inputs.get(which));
                    assertArrayEquals(expected.get(which), results.get(fetch).toFloatArray());
                    results.get(fetch).close();
                    done++;
                }
                return done;
            }));
        }
        int all = 0;
        for (Future<Integer> each : served) {
            all += each.get();
        }
        assertEquals(calls, all);
        return (System.nanoTime() - started) / 1e3 / calls;
    }
}
