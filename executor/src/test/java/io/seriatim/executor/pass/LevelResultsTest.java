package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.LevelTable;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Products of levels write the levels that are made of their sums. */
class LevelResultsTest {
    private static final long SEED = 20261129;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 600 : 40;

    private final Program program = new Program();
    private final Block block = program.global();
    private final Map<String, Tensor> parameters = new LinkedHashMap<>();

    private String parameter(String name, Tensor value) {
        block.put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent());
        parameters.put(name, value);
        return name;
    }

    private String number(String name, double value) {
        return parameter(name, Tensor.of(new float[]{(float) value}, 1));
    }

    private String step(DType dtype, String out, OpDesc.Builder op) {
        block.put(VarDesc.of(out, VarType.dense(dtype, -1)));
        block.add(op.out("Out", out).build());
        return out;
    }

    private static OpDesc.Builder binary(String function, String x, String y) {
        return OpDesc.of("elementwise_" + function).in("X", x).in("Y", y);
    }

    private static OpDesc.Builder cast(String x, DType from, DType to) {
        return OpDesc.of("cast").in("X", x).attr("in_dtype", DataTypes.number(from))
                .attr("out_dtype", DataTypes.number(to));
    }

    private static Tensor whole(DType dtype, SplittableRandom random, int low, int high, long... dims) {
        return Tensor.of(dtype, random.longs(Shape.of(dims).size(), low, high).toArray(), dims);
    }

    private static Tensor floats(SplittableRandom random, double low, double high, long... dims) {
        return Tensor.of(DType.FLOAT32, random.doubles(Shape.of(dims).size(), low, high).toArray(), dims);
    }

    /** The steps of QuantizeLinear. */
    private String quantized(String name, String x, double scale, int zero, DType levels) {
        String quotient = step(DType.FLOAT32, name + "/", binary("div", x, number(name + "scale", scale)));
        String rounded = step(DType.FLOAT32, name + "~",
                OpDesc.of("round").in("X", quotient).attr("half_to_even", true));
        String shifted = zero == 0
                ? rounded
                : step(DType.FLOAT32, name + "+", binary("add", rounded, number(name + "zero", zero)));
        float least = levels == DType.INT8 ? -128 : 0;
        String clipped = step(DType.FLOAT32, name + "<",
                OpDesc.of("clip").in("X", shifted).attr("min", least).attr("max", least + 255));
        return step(levels, name, cast(clipped, DType.FLOAT32, levels));
    }

    /** Levels of a random product; the random numbers decide what is subtracted, added and applied before. */
    private String levels(SplittableRandom random, String name, String x, long[] dims, boolean isImage, DType levels) {
        long channels = dims[isImage ? 1 : dims.length - 1];
        long outputs = 4L * random.nextInt(1, 9);
        boolean depthwise = isImage && random.nextInt(3) == 0;
        outputs = depthwise ? channels : outputs;
        long size = isImage ? random.nextInt(1, 4) : 1;
        String w = parameter(name + "w", whole(DType.INT8, random, -128, 128, isImage
                ? new long[]{outputs, depthwise ? 1 : channels, size, size}
                : new long[]{channels, outputs}));
        String sums = name + "sums";
        block.put(VarDesc.of(sums, VarType.dense(DType.INT32, -1)));
        long[] perChannel = isImage ? new long[]{1, outputs, 1, 1} : new long[]{outputs};
        dims[isImage ? 1 : dims.length - 1] = outputs;
        if (isImage) {
            int pad = (int) size / 2;
            block.add(OpDesc.of("integer_conv2d").in("Input", x).in("Filter", w).out("Output", sums)
                    .attr("strides", new int[]{1, 1}).attr("paddings", new int[]{pad, pad})
                    .attr("dilations", new int[]{1, 1}).attr("groups", depthwise ? (int) channels : 1).build());
            dims[2] += 2L * pad - size + 1;
            dims[3] += 2L * pad - size + 1;
        } else {
            block.add(OpDesc.of("integer_matmul").in("X", x).in("Y", w).out("Out", sums).build());
        }
        if (random.nextBoolean()) {
            long[] less = isImage && random.nextBoolean() ? new long[]{1, outputs, dims[2], dims[3]} : perChannel;
            parameter(name + "less", whole(DType.INT32, random, -20_000, 20_000, less));
            sums = step(DType.INT32, name + "-", binary("sub", sums, name + "less"));
        }
        String wide = step(DType.FLOAT32, name + "wide", cast(sums, DType.INT32, DType.FLOAT32));
        long[] factors = random.nextInt(3) == 0 ? new long[]{1} : perChannel;
        String y = step(DType.FLOAT32, name + "*",
                binary("mul", wide, parameter(name + "factor", floats(random, 1e-4, 1e-3, factors))));
        if (random.nextBoolean()) {
            y = step(DType.FLOAT32, name + "bias",
                    binary("add", y, parameter(name + "b", floats(random, -2, 2, perChannel))));
        }
        if (random.nextInt(3) == 0) {
            y = step(DType.FLOAT32, name + "relu", OpDesc.of("leaky_relu").in("X", y).attr("alpha", 0.2f));
        }
        int zero = random.nextInt(3) == 0 ? 0 : random.nextInt(levels == DType.INT8 ? -128 : 0, 128);
        return quantized(name, y, random.nextDouble(0.02, 0.2), zero, levels);
    }

    private double[] run(Executor.Builder builder, String fetch, Tensor x) {
        try (Executor executor = builder.build()) {
            parameters.forEach(executor.scope()::set);
            Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches(fetch));
            plan.run(x);
            return plan.run(x).get(fetch).toDoubleArray();
        }
    }

    /** Operands in int32 of the stages, which are sums. */
    private long sums(String fetch, Tensor x) {
        try (Executor executor = Executor.builder().threads(1).build()) {
            parameters.forEach(executor.scope()::set);
            Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches(fetch));
            return Task.stages(Internals.compiled(plan, executor.scope(), x).tasks())
                    .flatMap(stage -> stage.outputs().stream())
                    .filter(arg -> arg != null && arg.spec().dtype() == DType.INT32).count();
        }
    }

    /** A number between two levels may be rounded to the other one. */
    private void assertNear(String fetch, Tensor x, double level) {
        double[] expected = run(Executor.builder().threads(1).without(Pass.INTEGERS), fetch, x);
        for (Executor.Builder builder : List.of(Executor.builder().threads(1), Executor.builder().threads(2),
                Executor.builder().threads(2).memoryPlan(false))) {
            double[] actual = run(builder, fetch, x);
            int different = 0;
            for (int i = 0; i < expected.length; i++) {
                assertEquals(expected[i], actual[i], level, "element " + i);
                different += expected[i] == actual[i] ? 0 : 1;
            }
            assertTrue(different <= 2 + expected.length / 500, different + " of " + expected.length + " differ");
        }
    }

    private static DType type(SplittableRandom random) {
        return random.nextBoolean() ? DType.INT8 : DType.UINT8;
    }

    @TestFactory
    Stream<DynamicTest> levelsAreThoseOfTheChain() {
        return IntStream.range(0, CASES).mapToObj(i -> DynamicTest.dynamicTest("seed " + (SEED + i), () -> {
            SplittableRandom random = new SplittableRandom(SEED + i);
            LevelResultsTest one = new LevelResultsTest();
            boolean isImage = random.nextInt(3) > 0;
            long channels = 4L * random.nextInt(1, 9);
            long[] dims = isImage
                    ? new long[]{random.nextInt(1, 3), channels, random.nextInt(3, 14), random.nextInt(3, 14)}
                    : new long[]{random.nextInt(1, 30), channels};
            DType given = type(random);
            one.block.put(VarDesc.of("x", VarType.dense(given, dims)));
            int low = given == DType.INT8 ? -128 : 0;
            Tensor x = whole(given, random, low, low + 256, dims);
            DType first = type(random);
            String levels = one.levels(random, "one", "x", dims, isImage, first);
            one.assertNear(levels, x, 1);
            DType second = type(random);
            String wide = one.step(DType.FLOAT32, "rest", cast(levels, first, DType.FLOAT32));
            String y = one.step(DType.FLOAT32, "y", binary("mul", wide, one.number("scale", 0.25)));
            one.assertNear(y, x, 0.25);
            one.assertNear(one.levels(random, "two", levels, dims, isImage, second), x, 255);
        }));
    }

    /** Convolutions of one image whose sums are shifted by channel, for each element or not at all, and products. */
    @Test
    void noSumsAreStored() {
        if (Kernels.system().list().stream().noneMatch(kernel -> kernel.provider().equals("onednn"))) {
            return;
        }
        int fused = 0;
        for (int i = 0; i < 20; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            LevelResultsTest one = new LevelResultsTest();
            boolean isImage = i % 3 > 0;
            long[] dims = isImage ? new long[]{1, 16, 9, 11} : new long[]{13, 16};
            one.block.put(VarDesc.of("x", VarType.dense(DType.UINT8, dims)));
            Tensor x = whole(DType.UINT8, random, 0, 256, dims);
            String levels = one.levels(random, "one", "x", dims, isImage, DType.UINT8);
            fused += one.sums(levels, x) == 0 ? 1 : 0;
        }
        assertEquals(20, fused);
    }

    /** A function of levels between convolutions is looked up, in the order in which images lie. */
    @Test
    void functionsOfLevelsAreTables() {
        SplittableRandom random = new SplittableRandom(SEED);
        long[] dims = {2, 16, 9, 11};
        block.put(VarDesc.of("x", VarType.dense(DType.UINT8, dims)));
        Tensor x = whole(DType.UINT8, random, 0, 256, dims);
        String levels = levels(random, "one", "x", dims, true, DType.INT8);
        String wide = step(DType.FLOAT32, "wide", cast(levels, DType.INT8, DType.FLOAT32));
        String number = step(DType.FLOAT32, "number", binary("mul", wide, number("scale", 0.05)));
        String sigmoid = step(DType.FLOAT32, "sigmoid", OpDesc.of("sigmoid").in("X", number));
        String gate = quantized("gate", sigmoid, 1d / 255, 0, DType.UINT8);
        assertNear(gate, x, 4);
        String y = levels(random, "two", gate, dims, true, DType.UINT8);
        assertNear(y, x, 255);
        try (Executor executor = Executor.builder().threads(1).build()) {
            parameters.forEach(executor.scope()::set);
            Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches(y));
            assertEquals(1, Task.stages(Internals.compiled(plan, executor.scope(), x).tasks())
                    .filter(stage -> stage.computation() instanceof LevelTable).count());
        }
    }

    /** Sums that something else reads are stored. */
    @Test
    void sumsThatOthersReadStay() {
        SplittableRandom random = new SplittableRandom(SEED);
        block.put(VarDesc.of("x", VarType.dense(DType.UINT8, 5, 16)));
        Tensor x = whole(DType.UINT8, random, 0, 256, 5, 16);
        long[] dims = {5, 16};
        String levels = levels(random, "one", "x", dims, false, DType.UINT8);
        String largest = step(DType.INT32, "largest",
                OpDesc.of("reduce_max").in("X", "onesums").attr("reduce_all", true));
        String a = step(DType.FLOAT32, "a", cast(largest, DType.INT32, DType.FLOAT32));
        String b = step(DType.FLOAT32, "b", cast(levels, DType.UINT8, DType.FLOAT32));
        String y = step(DType.FLOAT32, "y", binary("add", b, a));
        assertTrue(sums(y, x) > 0);
        assertTrue(Arrays.stream(run(Executor.builder().threads(1), y, x)).allMatch(Double::isFinite));
        assertNear(y, x, 1);
    }
}
