package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.engine.Engine;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.PreparedKernels;
import io.seriatim.tensor.onednn.OneDnn;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the memory that batches of ever-changing sizes leave allocated. The short form counts the off-heap memory of
 * kernels, which does not depend on the machine. With {@code -Pfull}, the resident memory of the process is measured
 * over many runs.
 */
class VaryingShapesTest {
    private static final int SHAPES = 25;
    private static final int SPECIALISATIONS = 2;
    private static final long MIB = 1L << 20;
    /** The maximum memory of cached kernels that no plan uses. */
    private static final long KEPT = 2 * MIB;
    static final int WIDTH = 24;

    private final PreparedKernels kernels = new PreparedKernels(Kernels.system(), 4096, KEPT);

    static Network network(boolean trains) {
        return Network.define(4, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            for (int i = 0; i < 7; i++) {
                x = g.linear(x, WIDTH).tanh();
            }
            Value loss = x.square().mean();
            if (trains) {
                g.minimize(loss, Adam.of(0.001));
            }
            return Outputs.of("y", x).and("loss", loss);
        });
    }

    private static Tensor rows(int count) {
        return Tensor.of(new float[count * WIDTH], count, WIDTH);
    }

    private Executor executor(int threads) {
        return Executor.builder().specialisations(SPECIALISATIONS).threads(threads).kernels(kernels).build();
    }

    /**
     * Asserts that the memory of kernels is bounded after each shape, and that closing the plan releases its kernels.
     */
    private void requireBounded(Executor executor, IntConsumer run) {
        run.accept(SHAPES + 1);
        long one = kernels.bytes();
        assertTrue(one > 0 || !OneDnn.status().loaded(), "kernels of oneDNN hold memory");
        for (int i = 1; i <= SHAPES; i++) {
            run.accept(i);
            long now = kernels.bytes();
            assertTrue(now <= KEPT + SPECIALISATIONS * 2 * one,
                    "kernels hold " + now + " bytes after " + i + " shapes; " + one + " after one");
        }
        executor.close();
        assertTrue(kernels.bytes() <= KEPT, "after the end kernels hold " + kernels.bytes() + " bytes");
    }

    @Test
    void inferenceKeepsTheKernelsOfFewShapes() {
        Network network = network(false);
        String y = network.outputs().get("y").name();
        try (Executor executor = executor(1)) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            requireBounded(executor, count -> plan.run(rows(count)));
        }
    }

    @Test
    void trainingKeepsTheKernelsOfFewShapes() {
        Network network = network(true);
        String loss = network.outputs().get("loss").name();
        try (Executor executor = executor(2)) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss));
            requireBounded(executor, count -> plan.run(rows(count)));
        }
    }

    @Test
    void joinedRequestsKeepTheKernelsOfFewShapes() {
        Network network = network(false);
        String y = network.outputs().get("y").name();
        try (Executor executor = executor(1)) {
            executor.run(network.startup());
            RequestBatcher batcher = RequestBatcher.of(executor.compile(network.main(), feeds("x"), fetches(y)), 64, 2);
            requireBounded(executor, count -> batcher.run(rows(count)));
        }
    }

    /** A plan that is evicted during a run keeps its kernels until the run ends. */
    @Test
    void whatIsStillRunIsNotReleased() {
        Network network = network(false);
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().specialisations(1).kernels(kernels).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            float[] expected = plan.run(rows(3)).get(y).toFloatArray();
            Thread[] others = new Thread[2];
            for (int i = 0; i < others.length; i++) {
                int first = 4 + i;
                others[i] = Thread.ofPlatform().start(() -> {
                    for (int run = 0; run < 20; run++) {
                        plan.run(rows(first + 2 * (run % 3)));
                    }
                });
            }
            for (int run = 0; run < 40; run++) {
                assertArrayEquals(expected, plan.run(rows(3)).get(y).toFloatArray());
            }
            for (Thread other : others) {
                try {
                    other.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException("Interrupted while runs were waited for", e);
                }
            }
        }
    }

    /** Threads run sizes in turn that are displaced while others join their compilation or run them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sizesThatAreNotKeptAreReleasedOnAllThreads(boolean late) throws InterruptedException {
        Network network = Network.define(4, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value h = g.linear(x, WIDTH).tanh();
            Value chosen = late ? h.maskedSelect(h.greaterThan(0.1)).reshape(-1, 1) : h;
            return Outputs.of("y", g.linear(g.linear(chosen, WIDTH).tanh(), WIDTH));
        });
        String y = network.outputs().get("y").name();
        Executor executor = executor(2);
        Plan plan;
        try (executor) {
            executor.run(network.startup());
            plan = executor.compile(network.main(), feeds("x"), fetches(y));
            List<Tensor> expected = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                expected.add(plan.run(Bits.normal(i, 1 + i, WIDTH)).get(y));
            }
            long before = kernels.bytes();
            List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                int first = t / 2;
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        for (int run = 0; run < 60; run++) {
                            int i = (first + run) % 6;
                            Bits.assertSame(expected.get(i), plan.run(Bits.normal(i, 1 + i, WIDTH)).get(y),
                                    "size " + (1 + i));
                        }
                    } catch (RuntimeException | AssertionError e) {
                        thrown.add(e);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), thrown);
            assertEquals(SPECIALISATIONS, plan.bindings().kept());
            long after = kernels.bytes();
            assertTrue(after <= KEPT + 2 * before, "kernels hold " + after + " bytes, before the threads " + before);
        }
        assertTrue(kernels.bytes() <= KEPT, "after the end kernels hold " + kernels.bytes() + " bytes");
        assertEquals(0, plan.bindings().kept());
    }

    /** Measures a process with a fixed heap size, so that any growth is native memory. */
    @Test
    @EnabledIfSystemProperty(named = "seriatim.full", matches = "true")
    void residentMemoryStaysAsItIs() throws IOException, InterruptedException {
        OneDnn.Status status = OneDnn.status();
        Assumptions.assumeTrue(status.loaded() && Files.isReadable(Path.of("/proc/self/status")),
                "oneDNN, and a system that tells what is resident");
        Stream<String> classes = Stream.of(Engine.class, Devices.class, Tensor.class, Network.class, Executor.class,
                ManyShapes.class).map(type -> type.getName().replace('.', '/') + ".class");
        String classPath = Stream
                .concat(classes,
                        Stream.of("com/google/protobuf/CodedOutputStream.class",
                                "org/bytedeco/dnnl/" + status.platform() + "/libdnnl.so.3"))
                .map(VaryingShapesTest::placeOf).distinct().collect(Collectors.joining(File.pathSeparator));
        List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms160m",
                "-Xmx160m",
                "-XX:+AlwaysPreTouch", "--enable-native-access=ALL-UNNAMED", "-cp", classPath,
                ManyShapes.class.getName(), System.getProperty("seriatim.soak.runs", "100000"));
        System.out.println(ForkedJvm.run(7200, command));
    }

    /** Returns the folder or jar that contains a file. */
    private static String placeOf(String file) {
        String url = String.valueOf(VaryingShapesTest.class.getResource('/' + file));
        String place = url.substring(0, url.length() - file.length());
        return Path.of(URI.create(
                place.startsWith("jar:") ? place.substring("jar:".length(), place.length() - "!/".length()) : place))
                .toString();
    }
}
