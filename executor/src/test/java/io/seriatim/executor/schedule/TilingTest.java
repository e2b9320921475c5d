package io.seriatim.executor.schedule;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanCheck;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.Probes;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.Softmax;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tiled plans compute the same bits as plans without tiles, and never leave a variable partly updated. Packing of
 * weights is disabled, since it depends on the tiling and changes the order of summation.
 */
class TilingTest {
    private static final int BATCH = 12;

    /** The networks to train. */
    enum Subject {
        LAYERS {
            @Override
            Network network() {
                return Network.define(3, g -> {
                    Value x = g.data("x", DType.FLOAT32, BATCH, 36);
                    Value hidden = g.linear(g.linear(x, 40).relu(), 24).tanh();
                    Value loss = g.softmaxCrossEntropy(g.linear(hidden, 5), g.data("y", DType.INT64, BATCH, 1)).mean();
                    g.minimize(loss, Momentum.of(0.1));
                    return Outputs.of("loss", loss, "hidden", hidden);
                });
            }
        },
        IMAGES {
            @Override
            Network network() {
                return Network.define(4, g -> {
                    Value x = g.data("x", DType.FLOAT32, BATCH, 36).reshape(BATCH, 1, 6, 6);
                    Value image = g.conv2d(x, 8, 3, 1, 1).relu();
                    Value flat = g.conv2d(image, 4, 3, 2, 1).reshape(BATCH, 36);
                    Value both = flat.matmul(flat, false, true).softmax(-1).matmul(flat);
                    Value loss = g.softmaxCrossEntropy(g.linear(both, 5), g.data("y", DType.INT64, BATCH, 1)).mean();
                    g.minimize(loss, Momentum.of(0.1));
                    return Outputs.of("loss", loss, "both", both);
                });
            }
        };

        abstract Network network();
    }

    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    private static Tensor x(int step) {
        return Bits.normal(step, BATCH, 36);
    }

    private static Tensor y(int step) {
        return Bits.below(5, step, BATCH, 1);
    }

    private static String[] names(Network network) {
        return network.outputs().values().values().stream().map(Value::name).toArray(String[]::new);
    }

    @ParameterizedTest
    @EnumSource(Subject.class)
    void partsGiveWhatTheWholeGives(Subject subject) {
        Network network = subject.network();
        String[] names = names(network);
        for (int threads : new int[]{2, 3, 4}) {
            try (Executor executor = PlanProbe.eager(Executor.builder().threads(threads))
                    .without(Pass.LAYOUTS, Pass.BY_PRODUCTS, Pass.STACKING)
                    .build();
                    Executor without = PlanProbe.eager(Executor.builder().threads(threads))
                            .without(Pass.PARTITION, Pass.LAYOUTS, Pass.BY_PRODUCTS, Pass.STACKING).build();
                    Executor same = Executor.builder().without(Pass.LAYOUTS, Pass.BY_PRODUCTS, Pass.STACKING).build()) {
                for (Executor each : List.of(executor, without, same)) {
                    each.run(network.startup());
                }
                Plan parts = executor.compile(network.main(), feeds("x", "y"), fetches(names));
                Plan plain = without.compile(network.main(), feeds("x", "y"), fetches(names));
                Plan expected = same.compile(network.main(), feeds("x", "y"), fetches(names));
                CompiledPlan made = Internals.compiled(parts, executor.scope(), x(0), y(0));
                int tasks = Internals.compiled(plain, without.scope(), x(0), y(0)).tasks().size();
                assertTrue(made.tasks().size() >= tasks + 10,
                        made.tasks().size() + " tasks, " + tasks + " without parts");
                PlanCheck.assertRight(made, false, subject + ", " + threads + " threads");
                for (int step = 0; step < 20; step++) {
                    Results wanted = expected.run(x(step), y(step));
                    for (Plan plan : List.of(parts, plain)) {
                        Results found = plan.run(x(step), y(step));
                        for (String name : names) {
                            Bits.assertSame(wanted.get(name), found.get(name), subject + ", step " + step + ", " + name
                                    + (plan == parts ? " in parts" : " whole") + ", " + threads + " threads");
                        }
                    }
                }
                for (VarDesc each : network.main().persistables()) {
                    Bits.assertSame(same.scope().get(each.name()), executor.scope().get(each.name()), each.name());
                }
            }
        }
    }

    /** A random network of convolutions, poolings, sums and concatenations of images. */
    private static Network images(SplittableRandom random, long[] dims, boolean trains) {
        return Network.define(random.nextInt(1000), g -> {
            Value image = g.data("x", DType.FLOAT32, dims);
            List<Value> earlier = new ArrayList<>(List.of(image));
            for (int layer = 0; layer < 6; layer++) {
                int kernel = 1 + 2 * random.nextInt(3);
                Value next = switch (random.nextInt(6)) {
                    case 0 -> image.maxPool2d(3, 1, 1);
                    case 1 -> g.concat(1, earlier.getFirst(), image);
                    case 2 -> g.layers().conv2dTranspose(image.dim(1), 4 + random.nextInt(30), 4, 2, 1).apply(image)
                            .relu().maxPool2d(2, 2, 0);
                    default -> g.conv2d(image, 4 + random.nextInt(90), kernel, 1, kernel / 2).relu();
                };
                Value same = next;
                image = earlier.stream().filter(each -> each.shape().equals(same.shape())).findFirst()
                        .map(next::plus).orElse(next);
                earlier.add(image);
            }
            Value out = g.conv2d(image, 5, 3, 2, 1);
            if (trains) {
                g.minimize(out.mean(), Momentum.of(0.1));
            }
            return Outputs.of("out", out);
        });
    }

    /** One image is cut into rows or channels, in another order of sums, so that training does not do it. */
    @Test
    void oneImageIsCut() {
        int networks = Boolean.getBoolean("seriatim.full") ? 400 : 12;
        for (int number = 0; number < networks; number++) {
            boolean trains = number % 4 == 0;
            SplittableRandom random = new SplittableRandom(number);
            long[] dims = {1, 3, 12 + random.nextInt(20), 9 + random.nextInt(20)};
            Network network = images(random, dims, trains);
            String out = network.outputs().get("out").name();
            Tensor x = Bits.normal(number, dims);
            for (int threads : new int[]{2, 5, 16}) {
                try (Executor executor = PlanProbe.eager(Executor.builder().threads(threads)).build();
                        Executor without = Executor.builder().without(Pass.PARTITION).build()) {
                    executor.run(network.startup());
                    without.run(network.startup());
                    Plan parts = executor.compile(network.main(), feeds("x"), fetches(out));
                    Plan plain = without.compile(network.main(), feeds("x"), fetches(out));
                    String what = "network " + number + ", " + threads + " threads";
                    CompiledPlan made = Internals.compiled(parts, executor.scope(), x);
                    PlanCheck.assertRight(made, false, what);
                    int whole = Internals.compiled(plain, without.scope(), x).tasks().size();
                    assertTrue(trains || made.tasks().size() > whole + 2, "not cut: " + what);
                    for (int run = 0; run < 3; run++) {
                        Tensor expected = plain.run(x).get(out);
                        Tensor found = parts.run(x).get(out);
                        if (trains) {
                            Bits.assertSame(expected, found, what);
                        } else {
                            assertArrayEquals(expected.toFloatArray(), found.toFloatArray(), 1e-4f, what);
                        }
                    }
                }
            }
        }
    }

    /** Parts of the channels would have gaps, which the library copies before and after each tile. */
    @ParameterizedTest
    @CsvSource({"512, 14", "192, 28", "96, 56"})
    void channelsStayTogetherWhereTheyAreLast(int channels, int size) {
        Network network = Network.define(1, g -> {
            Value image = g.conv2d(g.data("x", DType.FLOAT32, 1, channels / 4, size, size), channels, 1, 1, 0).relu();
            Value depthwise = g.layers().conv2d(channels, channels, 3).padding(1).groups(channels).apply(image).relu();
            return Outputs.of("out", g.conv2d(depthwise, channels / 4, 1, 1, 0));
        });
        try (Executor executor = Executor.builder().threads(2).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(names(network)));
            List<long[]> parts = new ArrayList<>();
            for (Task task : Internals.compiled(plan, executor.scope(), Bits.normal(1, 1, channels / 4, size, size))
                    .tasks()) {
                if (task instanceof Task.Compute compute
                        && compute.stages().getFirst().computation() instanceof Convolution convolution
                        && convolution.groups() > 1) {
                    parts.add(compute.stages().getFirst().outputs().getFirst().spec().shape().dims());
                }
            }
            assertEquals(2, parts.size());
            parts.forEach(part -> assertArrayEquals(new long[]{1, channels, size / 2, size}, part));
        }
    }

    /** Of large weights, each tile reads a part; of small ones all, and a part of the rows. */
    @ParameterizedTest
    @CsvSource({"50, 768, 3072, true", "50, 3072, 768, true", "160000, 64, 64, false"})
    void tilesShareLargeOperands(int rows, int inputs, int outputs, boolean weights) {
        Network network = Network.define(1,
                g -> Outputs.of("out", g.linear(g.data("x", DType.FLOAT32, rows, inputs), outputs)));
        try (Executor executor = Executor.builder().threads(16).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(names(network)));
            List<Task> tasks = Internals.compiled(plan, executor.scope(), Bits.normal(1, rows, inputs)).tasks();
            assertEquals(16, tasks.size());
            for (Task task : tasks) {
                List<@Nullable Arg> read = ((Task.Compute) task).stages().getFirst().inputs();
                assertEquals(weights ? rows : rows / 16, Objects.requireNonNull(read.get(0)).spec().shape().dim(0));
                assertEquals(weights ? outputs / 16 : outputs,
                        Objects.requireNonNull(read.get(1)).spec().shape().dim(1));
            }
        }
    }

    /** Tiles of columns lie apart in memory, with batches and with an addend of the result's shape too. */
    @Test
    void columnsOfBatchesAreSummedAsOneMatrix() {
        Network network = Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, 4, 49, 256);
            Value wide = g.linear(x, 1280).relu();
            return Outputs.of("out", g.linear(wide, 256).plus(x));
        });
        String out = network.outputs().get("out").name();
        Tensor x = Bits.normal(1, 4, 49, 256);
        try (Executor several = Executor.builder().threads(16).build();
                Executor one = Executor.builder().threads(1).build()) {
            several.run(network.startup());
            for (VarDesc each : network.main().persistables()) {
                one.scope().set(each.name(), several.scope().get(each.name()));
            }
            for (int run = 0; run < 3; run++) {
                Tensor expected = one.run(network.main(), Map.of("x", x), fetches(out)).get(out);
                Tensor found = several.run(network.main(), Map.of("x", x), fetches(out)).get(out);
                assertArrayEquals(expected.toFloatArray(), found.toFloatArray(), 1e-4f);
            }
        }
    }

    /** The rows of a layer wait only for the same rows of the previous layer. */
    @ParameterizedTest
    @EnumSource(Subject.class)
    void rowsGoOnAlone(Subject subject) {
        Network network = subject.network();
        try (Executor executor = PlanProbe.eager(Executor.builder().threads(2))
                .without(Pass.LAYOUTS, Pass.BY_PRODUCTS, Pass.STACKING).build()) {
            executor.run(network.startup());
            Plan whole = executor.compile(network.main(), feeds("x", "y"), fetches(names(network)));
            CompiledPlan plan = Internals.compiled(whole, executor.scope(), x(0), y(0));
            Ancestors order = Ancestors.of(plan.dependencies().before());
            int alone = 0;
            for (int i = 3; i < plan.tasks().size(); i++) {
                int[] waits = plan.dependencies().before()[i];
                boolean sibling = isSibling(plan, i);
                alone += sibling && waits.length == 1 && isSibling(plan, waits[0]) && !order.precedes(waits[0] - 1, i)
                        ? 1
                        : 0;
            }
            assertTrue(alone >= 2, alone + " parts wait for one part only");
        }
    }

    /**
     * A task that is too small for tiling is tiled if it follows a tiled product. Without a preceding product, it stays
     * whole.
     */
    @Test
    void whatIsSmallFollowsParts() {
        Network network = Network.define(5, g -> {
            Value x = g.data("x", DType.FLOAT32, 64, 256);
            Value follows = g.linear(x, 256).softmax(-1);
            g.minimize(follows.square().mean(), Momentum.of(0.1));
            return Outputs.of("follows", follows, "alone", x.softmax(-1));
        });
        String alone = network.outputs().get("alone").name();
        try (Executor parallel = Executor.builder().threads(2).build(); Executor serial = Executor.builder().build()) {
            Tensor x = Bits.normal(1, 64, 256);
            for (Executor each : List.of(parallel, serial)) {
                each.run(network.startup());
                Plan plan = each.compile(network.main(), feeds("x"), fetches(alone));
                assertEquals(each == parallel ? 3 : 2, softmaxes(Internals.compiled(plan, each.scope(), x)));
            }
        }
    }

    private static long softmaxes(CompiledPlan plan) {
        return Task.stages(plan.tasks())
                .filter(stage -> stage.computation() instanceof Softmax).count();
    }

    private static boolean isSibling(CompiledPlan plan, int task) {
        return task > 0 && plan.tasks().get(task).operations().equals(plan.tasks().get(task - 1).operations())
                && Arrays.equals(plan.tasks().get(task).writes(), plan.tasks().get(task - 1).writes());
    }

    /** If a run fails at any task, each parameter has its value from before or from after the step. */
    @ParameterizedTest
    @CsvSource({"LAYERS,2", "LAYERS,3", "IMAGES,2"})
    void nothingIsHalfChanged(Subject subject, int threads) {
        Network network = subject.network();
        String loss = network.outputs().get("loss").name();
        for (int position = 0; position < network.main().global().ops().size(); position++) {
            Program program = Probes.before(network.main(), position, "test_kernel", "fault");
            try (Executor failing = PlanProbe.eager(Executor.builder().threads(threads))
                    .without(Pass.LAYOUTS, Pass.BY_PRODUCTS, Pass.STACKING)
                    .build();
                    Executor right = Executor.builder().without(Pass.LAYOUTS, Pass.BY_PRODUCTS, Pass.STACKING)
                            .build()) {
                failing.run(network.startup());
                right.run(network.startup());
                Map<String, Tensor> old = values(network, right);
                right.compile(network.main(), feeds("x", "y"), fetches(loss)).run(x(1), y(1));
                Map<String, Tensor> complete = values(network, right);
                Plan plan = failing.compile(program, feeds("x", "y"), fetches(loss));
                Probes.on("fault", _ -> {
                    throw new IllegalStateException("this was to fail");
                });
                assertThrows(ProgramFailedException.class, () -> plan.run(x(1), y(1)));
                Probes.off("fault");
                for (VarDesc each : network.main().persistables()) {
                    float[] found = failing.scope().get(each.name()).toFloatArray();
                    boolean whole = Arrays.equals(found, Objects.requireNonNull(old.get(each.name())).toFloatArray())
                            || Arrays.equals(found, Objects.requireNonNull(complete.get(each.name())).toFloatArray());
                    assertTrue(whole, each.name() + " is half changed after a failure before operation " + position);
                }
            }
        }
    }

    private static Map<String, Tensor> values(Network network, Executor executor) {
        Map<String, Tensor> values = new HashMap<>();
        network.main().persistables()
                .forEach(each -> values.put(each.name(), Bits.copy(executor.scope().get(each.name()))));
        return values;
    }
}
