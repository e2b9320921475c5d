package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.ir.EndOfBatches;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests programs that take batches from readers. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReadProgramTest {
    private static List<Value> reader(Graph g, String name, String variable) {
        return g.reader(name, Map.of(variable, VarType.TensorType.of(FLOAT32, -1)));
    }

    private static Network doubling() {
        return Network.define(g -> Outputs.of("y", reader(g, "data", "x").getFirst().times(2)));
    }

    private static Network training() {
        return Network.define(5, g -> {
            Map<String, VarType.TensorType> specs = new LinkedHashMap<>();
            specs.put("x", VarType.TensorType.of(FLOAT32, -1, 4));
            specs.put("label", VarType.TensorType.of(INT64, -1, 1));
            List<Value> batch = g.reader("data", specs);
            Value loss = g.softmaxCrossEntropy(g.linear(g.linear(batch.get(0), 6).tanh(), 3), batch.get(1)).mean();
            g.minimize(loss, Adam.of(0.01));
            return Outputs.of("loss", loss);
        });
    }

    /** Returns batches of which the last is smaller. */
    private static List<List<Tensor>> examples(int batches) {
        return IntStream.range(0, batches).mapToObj(i -> {
            int rows = i == batches - 1 ? 2 : 5;
            float[] x = new float[rows * 4];
            long[] labels = new long[rows];
            for (int j = 0; j < x.length; j++) {
                x[j] = (float) Math.sin(i * 31 + j);
            }
            for (int j = 0; j < rows; j++) {
                labels[j] = Math.floorMod(i + j, 3);
            }
            return List.of(Tensor.of(x, rows, 4), Tensor.of(labels, rows, 1));
        }).toList();
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

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void trainsAsIfTheBatchesWereFedAndTheEndChangesNothing(int threads) {
        Network network = training();
        String loss = network.outputs().get("loss").name();
        List<List<Tensor>> examples = examples(4);
        try (Executor reading = Executor.builder().threads(threads).eager().build();
                Executor fed = Executor.builder().threads(threads).eager().build();
                Reader reader = Reader.of(BatchSource.of(examples))) {
            reading.run(network.startup());
            fed.run(network.startup());
            reading.scope().set("data", reader);
            Plan step = reading.compile(network.main(), feeds(), fetches(loss));
            Plan expected = fed.compile(network.main(), feeds("x", "label"), fetches(loss));
            for (int epoch = 0; epoch < 3; epoch++) {
                for (List<Tensor> batch : examples) {
                    assertEquals(expected.run(batch.get(0), batch.get(1)).scalar(loss), step.run().scalar(loss),
                            "epoch " + epoch);
                }
                Map<String, List<Double>> before = values(reading.scope());
                EndOfDataException end = assertThrows(EndOfDataException.class, step::run);
                assertEquals("data", end.reader());
                assertTrue(String.valueOf(end.getMessage()).contains("'data'"), end.getMessage());
                assertEquals(before, values(reading.scope()), "the run that met the end changed something");
                assertEquals(values(fed.scope()), before);
            }
        }
    }

    @Test
    void nothingRunsBeforeTheEndIsKnown() {
        // The counter does not depend on the batch.
        Network network = Network.define(g -> {
            Value counter = g.full(INT64, 0, 1);
            Value more = counter.plus(1);
            Value y = reader(g, "data", "x").getFirst();
            return Outputs.of("y", y, "n", more);
        });
        String n = network.outputs().get("n").name();
        network.main().global().put(network.main().global().get(n).persistent());
        try (Executor executor = Executor.builder().threads(3).eager().build();
                Reader reader = Reader.of(new NumberSource(1))) {
            executor.scope().set("data", reader);
            Plan plan = executor.compile(network.main(), feeds(), fetches());
            Tensor before = Tensor.of(new long[]{-7}, 1);
            executor.scope().set(n, before);
            plan.run();
            assertEquals(1, executor.scope().get(n).toLongArray()[0]);
            executor.scope().set(n, Tensor.of(new long[]{-7}, 1));
            assertThrows(EndOfDataException.class, plan::run);
            assertEquals(-7, executor.scope().get(n).toLongArray()[0]);
        }
    }

    @Test
    void severalReadersEndTogether() {
        Network network = Network
                .define(g -> Outputs.of("sum",
                        reader(g, "long", "a").getFirst().plus(reader(g, "short", "b").getFirst())));
        String sum = network.outputs().get("sum").name();
        try (Executor executor = Executor.builder().threads(2).eager().build();
                Reader longer = Reader.of(new NumberSource(7));
                Reader shorter = Reader.builder(new NumberSource(3)).ahead(5).build()) {
            executor.scope().set("long", longer).set("short", shorter);
            Plan plan = executor.compile(network.main(), feeds(), fetches(sum));
            for (int passage = 0; passage < 3; passage++) {
                for (int i = 0; i < 3; i++) {
                    assertEquals(2 * (100 * passage + i), plan.run().scalar(sum));
                }
                assertEquals("short", assertThrows(EndOfDataException.class, plan::run).reader());
            }
        }
    }

    @Test
    void twoPlansShareOneReader() {
        Network doubling = doubling();
        Network negating = Network.define(g -> Outputs.of("y", reader(g, "data", "x").getFirst().times(-1)));
        try (Executor executor = Executor.builder().build(); Reader reader = Reader.of(new NumberSource(3))) {
            executor.scope().set("data", reader);
            String y = doubling.outputs().get("y").name();
            Plan first = executor.compile(doubling.main(), feeds(), fetches(y));
            Plan second = executor.compile(negating.main(), feeds(), fetches(negating.outputs().get("y").name()));
            assertEquals(0, first.run().scalar(y));
            assertEquals(-1, second.run().scalar(negating.outputs().get("y").name()));
            assertEquals(4, first.run().scalar(y));
            assertThrows(EndOfDataException.class, second::run);
            assertEquals(200, first.run().scalar(y));
        }
    }

    @Test
    void manyThreadsRunOnePlan() throws InterruptedException {
        Network network = doubling();
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().build(); Reader reader = Reader.of(new NumberSource(10))) {
            executor.scope().set("data", reader);
            Plan plan = executor.compile(network.main(), feeds(), fetches(y));
            List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
            AtomicInteger left = new AtomicInteger(11 * 20);
            List<Thread> threads = IntStream.range(0, 3).mapToObj(_ -> Thread.ofPlatform().start(() -> {
                while (left.getAndDecrement() > 0) {
                    try {
                        seen.add((int) plan.run().scalar(y));
                    } catch (EndOfDataException e) {
                        seen.add("data".equals(e.reader()) ? -1 : -2);
                    }
                }
            })).toList();
            for (Thread thread : threads) {
                thread.join();
            }
            List<Integer> expected = new ArrayList<>(Collections.nCopies(20, -1));
            IntStream.range(0, 20)
                    .forEach(passage -> IntStream.range(0, 10).forEach(i -> expected.add(2 * (passage * 100 + i))));
            assertEquals(expected, seen.stream().sorted().toList());
        }
    }

    @Test
    void aSourceThatFailsFailsItsRunOnly() {
        Network network = doubling();
        String y = network.outputs().get("y").name();
        IOException planted = new IOException("planted");
        try (Executor executor = Executor.builder().build();
                Reader reader = Reader.of(new NumberSource(3).failing(1, planted))) {
            executor.scope().set("data", reader);
            Plan plan = executor.compile(network.main(), feeds(), fetches(y));
            assertEquals(0, plan.run().scalar(y));
            ProgramFailedException failure = assertThrows(ProgramFailedException.class, plan::run);
            assertSame(planted, failure.getCause());
            assertEquals("read", failure.operation());
            String message = String.valueOf(failure.getMessage());
            assertTrue(
                    message.contains("Operation 0 (read, outputs [x])")
                            && message.contains("source of reader 'data' threw")
                            && message.contains("planted"),
                    message);
            assertEquals(4, plan.run().scalar(y));
            assertThrows(EndOfDataException.class, plan::run);
        }
    }

    @Test
    void aBatchThatDoesNotFitIsRefused() {
        Network network = training();
        String loss = network.outputs().get("loss").name();
        List<Tensor> good = examples(1).getFirst();
        Tensor x = good.get(0);
        Tensor label = good.get(1);
        List<List<Tensor>> batches = List.of(List.of(x), List.of(x, label, label), List.of(label, x),
                List.of(Tensor.of(new float[6], 2, 3), label),
                List.of(Tensor.of(new float[4]), label), good);
        List<String> expected = List.of("must have 2 tensors, for [x, label], but has 1",
                "must have 2 tensors, for [x, label], but has 3",
                "Tensor 0 of a batch of reader 'data', for 'x', must be float32[-1, 4] (-1 matches any), but is int64",
                "Tensor 0 of a batch of reader 'data', for 'x', must be float32[-1, 4] (-1 matches any), but is "
                        + "float32",
                "Tensor 0 of a batch of reader 'data', for 'x', must be float32[-1, 4] (-1 matches any), but is "
                        + "float32");
        try (Executor executor = Executor.builder().build(); Reader reader = Reader.of(BatchSource.of(batches))) {
            executor.run(network.startup());
            executor.scope().set("data", reader);
            Plan plan = executor.compile(network.main(), feeds(), fetches(loss));
            for (String part : expected) {
                String message = String.valueOf(assertThrows(ProgramFailedException.class, plan::run).getMessage());
                assertTrue(message.contains(part), message);
            }
            assertTrue(Double.isFinite(plan.run().scalar(loss)), "the next run works");
        }
    }

    @Test
    void batchesMayBeViewsAndAreNotChanged() {
        Network network = Network.define(g -> {
            Value x = g.reader("data", Map.of("x", VarType.TensorType.of(FLOAT32, 3, 2))).getFirst();
            return Outputs.of("y", x.times(2));
        });
        String y = network.outputs().get("y").name();
        Tensor base = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3);
        try (Executor executor = Executor.builder().build();
                Reader reader = Reader.of(BatchSource.of(List.of(List.of(base.transpose(1, 0)))))) {
            executor.scope().set("data", reader);
            Plan plan = executor.compile(network.main(), feeds(), fetches(y, "x"));
            Results results = plan.run();
            assertArrayEquals(new float[]{2, 8, 4, 10, 6, 12}, results.get(y).toFloatArray());
            assertArrayEquals(new float[]{1, 4, 2, 5, 3, 6}, results.get("x").toFloatArray());
        }
    }

    @Test
    void whatIsFedIsNotRead() {
        Network network = doubling();
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().build()) {
            assertEquals(6,
                    executor.run(network.main(), Map.of("x", Tensor.of(new float[]{3}, 1)), fetches(y)).scalar(y));
            IllegalArgumentException missing = assertThrows(IllegalArgumentException.class,
                    () -> executor.run(network.main(), Map.of(), fetches(y)));
            String message = String.valueOf(missing.getMessage());
            assertTrue(
                    message.contains("scope.set(\"data\", Reader.of(source))") && message.contains("feed all of [x]"),
                    message);
            executor.scope().set("data", Tensor.of(new float[]{1}));
            String other = String.valueOf(
                    assertThrows(IllegalArgumentException.class,
                            () -> executor.run(network.main(), Map.of(), fetches(y))).getMessage());
            assertTrue(other.contains("but the scope has a Tensor"), other);
        }
    }

    @Test
    void someOfABatchCannotBeFed() {
        Network network = training();
        String loss = network.outputs().get("loss").name();
        try (Executor executor = Executor.builder().build()) {
            String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                    () -> executor.compile(network.main(), feeds("label"), fetches(loss))).getMessage());
            assertTrue(message.contains("'label' is fed") && message.contains("[x, label]"), message);
        }
    }

    @Test
    void closingAndInterruptingEndAWaitingRun() throws InterruptedException {
        Network network = doubling();
        String y = network.outputs().get("y").name();
        for (boolean closing : new boolean[]{true, false}) {
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            NumberSource source = new NumberSource(3) {
                @Override
                public @Nullable List<Tensor> next() throws Exception {
                    entered.countDown();
                    go.await();
                    return super.next();
                }
            };
            try (Executor executor = Executor.builder().build(); Reader reader = Reader.of(source)) {
                executor.scope().set("data", reader);
                Plan plan = executor.compile(network.main(), feeds(), fetches(y));
                List<Object> seen = Collections.synchronizedList(new ArrayList<>());
                Thread running = Thread.ofPlatform().start(() -> {
                    seen.add(assertThrows(ProgramFailedException.class, plan::run));
                    seen.add(Thread.currentThread().isInterrupted());
                });
                entered.await();
                // The reader has asked its source, but the run may still be on its way from that request to its wait.
                while (running.isAlive() && !waitsForBatch(running)) {
                    Thread.onSpinWait();
                }
                Runnable ending = closing ? reader::close : running::interrupt;
                ending.run();
                running.join();
                String message = String
                        .valueOf(assertInstanceOf(ProgramFailedException.class, seen.getFirst()).getMessage());
                assertTrue(message.contains(closing ? "was closed while a run waited" : "was interrupted"), message);
                assertEquals(!closing, seen.getLast());
                if (!closing) {
                    go.countDown();
                    assertEquals(0, plan.run().scalar(y), "no batch is lost");
                }
            }
        }
    }

    private static boolean waitsForBatch(Thread thread) {
        return Arrays.stream(thread.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals("await")
                && frame.getClassName().equals(BatchQueue.class.getName()));
    }

    @Test
    void resetInTheMiddleBeginsTheDataAgain() {
        Network network = doubling();
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().threads(2).eager().build();
                Reader reader = Reader.builder(new NumberSource(9)).ahead(4).build()) {
            executor.scope().set("data", reader);
            Plan plan = executor.compile(network.main(), feeds(), fetches(y));
            plan.run();
            plan.run();
            reader.reset();
            assertEquals(200, plan.run().scalar(y));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void loopsReadABatchEachTime(int threads) {
        Network network = Network.define(g -> {
            Value x = reader(g, "data", "x").getFirst();
            Value last = g.full(INT64, 3, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.get(0).lessThan(last)),
                    v -> List.of(v.get(0).plus(1), v.get(1).plus(x)),
                    g.full(INT64, 0, 1), g.full(FLOAT32, 0, 1));
            return Outputs.of("sum", loop.get(1));
        });
        // Moves the read operation into the loop.
        Block global = network.main().global();
        OpDesc read = global.ops().stream().filter(op -> op.type().equals("read")).findFirst().orElseThrow();
        global.setOps(global.ops().stream().filter(op -> !op.type().equals("read")).toList());
        network.main().block(1).add(0, read);
        String sum = network.outputs().get("sum").name();
        try (Executor executor = Executor.builder().threads(threads).build();
                Reader reader = Reader.of(new NumberSource(7))) {
            Plan plan = executor.compile(network.main(), feeds(), fetches(sum));
            assertThrows(ProgramFailedException.class, plan::run, "there is no reader yet");
            executor.scope().set("data", reader);
            assertEquals(0 + 1 + 2, plan.run().scalar(sum));
            assertEquals(3 + 4 + 5, plan.run().scalar(sum));
            assertEquals("data", assertThrows(EndOfDataException.class, plan::run).reader());
            assertEquals(100 + 101 + 102, plan.run().scalar(sum));
        }
    }

    @Test
    void readersThatProgramsOfPaddleMakeAreGivenByTheScope() {
        Network network = doubling();
        String y = network.outputs().get("y").name();
        Block global = network.main().global();
        global.put(new VarDesc("inner", new VarType.Reader(List.of()), true, null, null, null));
        // Paddle declares the types of a batch only for its variables.
        global.put(global.get("data").with(new VarType.Reader(List.of())));
        global.add(0, OpDesc.of("create_py_reader").in("blocking_queue", "queue").out("Out", "inner").build());
        global.add(1,
                OpDesc.of("create_double_buffer_reader").in("UnderlyingReader", "inner").out("Out", "data").build());
        try (Executor executor = Executor.builder().build(); Reader reader = Reader.of(new NumberSource(2))) {
            executor.scope().set("data", reader);
            Plan plan = executor.compile(network.main(), feeds(), fetches(y));
            assertEquals(0, plan.run().scalar(y));
            assertEquals(2, plan.run().scalar(y));
            assertThrows(EndOfDataException.class, plan::run);
        }
    }

    @Test
    void aReadThatIsMetDuringARun() throws Exception {
        Network network = training();
        var block = network.main().global();
        var read = block.ops().stream().filter(op -> op.type().equals("read")).findFirst().orElseThrow();
        List<List<Tensor>> examples = examples(2);
        try (Reader reader = Reader.of(BatchSource.of(examples))) {
            assertSame(examples.get(0).get(1), ReadInstruction.next(read, block, reader).get(1));
            assertSame(examples.get(1).get(0), ReadInstruction.next(read, block, reader).get(0));
            assertThrows(EndOfBatches.class, () -> ReadInstruction.next(read, block, reader));
            assertSame(examples.get(0).get(0), ReadInstruction.next(read, block, reader).get(0));
            assertThrows(IllegalArgumentException.class, () -> ReadInstruction.next(read, block, null));
        }
    }
}
