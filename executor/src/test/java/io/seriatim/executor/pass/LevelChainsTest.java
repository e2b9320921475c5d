package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The steps by which numbers become levels of 8 bits, and levels numbers, are one kernel with the same results. */
class LevelChainsTest {
    private static final long[][] SHAPES = {{1, 1}, {3, 7}, {5, 64}, {40, 333}, {2, 3, 50, 21}};
    private static final float[] SPECIAL = {Float.NaN, Float.POSITIVE_INFINITY, -1e30f, 1e10f, 0.5f, -0f};

    private final Program program = new Program();
    private final Block block = program.global();
    private final Map<String, Tensor> parameters = new LinkedHashMap<>();

    private String step(DType dtype, String out, OpDesc.Builder op) {
        block.put(VarDesc.of(out, VarType.dense(dtype, -1)));
        block.add(op.out("Out", out).build());
        return out;
    }

    private String number(String name, float value) {
        return parameter(name, Tensor.of(new float[]{value}, 1));
    }

    private String parameter(String name, Tensor value) {
        block.put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent());
        parameters.put(name, value);
        return name;
    }

    private static OpDesc.Builder cast(String x, DType from, DType to) {
        return OpDesc.of("cast").in("X", x).attr("in_dtype", DataTypes.number(from))
                .attr("out_dtype", DataTypes.number(to));
    }

    private static OpDesc.Builder binary(String function, String x, String y) {
        return OpDesc.of("elementwise_" + function).in("X", x).in("Y", y);
    }

    private void quantize(DType levels, String scale) {
        String scaled = step(DType.FLOAT32, "scaled", binary("div", "x", scale));
        String rounded = step(DType.FLOAT32, "rounded", OpDesc.of("round").in("X", scaled).attr("half_to_even", true));
        String shifted = step(DType.FLOAT32, "shifted", binary("add", rounded, number("zero", 7)));
        float least = levels == DType.INT8 ? -128 : 0;
        String clipped = step(DType.FLOAT32, "clipped",
                OpDesc.of("clip").in("X", shifted).attr("min", least).attr("max", least + 255));
        step(levels, "levels", cast(clipped, DType.FLOAT32, levels));
    }

    private String dequantize(DType levels, String scale) {
        String wide = step(DType.FLOAT32, "wide", cast("levels", levels, DType.FLOAT32));
        String centred = step(DType.FLOAT32, "centred", binary("sub", wide, "zero"));
        return step(DType.FLOAT32, "y", binary("mul", centred, scale));
    }

    private static Tensor random(long seed, long... dims) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] values = new float[(int) Shape.of(dims).size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextInt(20) == 0
                    ? SPECIAL[random.nextInt(SPECIAL.length)]
                    : (float) random.nextDouble(-30, 30);
        }
        return Tensor.of(values, dims);
    }

    private double[] run(Executor.Builder builder, String fetch, Tensor x, int tasks) {
        try (Executor executor = builder.build()) {
            parameters.forEach(executor.scope()::set);
            Plan plan = executor.compile(program, Executor.feeds("x"), Executor.fetches(fetch));
            if (tasks > 0) {
                assertEquals(tasks, Internals.compiled(plan, executor.scope(), x).tasks().stream()
                        .filter(Task.Compute.class::isInstance).count());
            }
            return plan.run(x).get(fetch).toDoubleArray();
        }
    }

    private void assertSame(String fetch, Tensor x, int tasks) {
        double[] expected = run(Executor.builder().threads(1).without(Pass.CHAINS), fetch, x, 0);
        assertArrayEquals(expected, run(Executor.builder().threads(1), fetch, x, tasks));
        assertArrayEquals(expected, run(Executor.builder().threads(2), fetch, x, 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT8", "UINT8"})
    void isOneKernelEachWay(String name) {
        DType levels = DType.valueOf(name);
        for (int i = 0; i < SHAPES.length; i++) {
            for (boolean perColumn : new boolean[]{false, true}) {
                LevelChainsTest one = new LevelChainsTest();
                one.block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, SHAPES[i])));
                float[] scales = new float[(int) SHAPES[i][SHAPES[i].length - 1]];
                for (int j = 0; j < scales.length; j++) {
                    scales[j] = 0.1f + 0.01f * j;
                }
                String scale = perColumn
                        ? one.parameter("scale", Tensor.of(scales, scales.length))
                        : one.number("scale", 0.17f);
                one.quantize(levels, scale);
                Tensor x = random(20261127 + i, SHAPES[i]);
                one.assertSame("levels", x, 1);
                String y = one.dequantize(levels, scale);
                one.assertSame(y, x, 1);
            }
        }
    }

    /** Zero points that are subtracted from sums of products of levels, and the scale of these sums. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sumsBecomeNumbersInOneKernel(boolean perColumn) {
        for (int i = 0; i < SHAPES.length; i++) {
            LevelChainsTest one = new LevelChainsTest();
            one.block.put(VarDesc.of("x", VarType.dense(DType.INT32, SHAPES[i])));
            SplittableRandom random = new SplittableRandom(20261128 + i);
            long columns = perColumn ? SHAPES[i][SHAPES[i].length - 1] : 1;
            String less = one.parameter("less", sums(random, columns));
            String difference = one.step(DType.INT32, "difference", binary("sub", "x", less));
            String doubled = one.step(DType.INT32, "doubled", binary("add", difference, "x"));
            String wide = one.step(DType.FLOAT32, "wide", cast(doubled, DType.INT32, DType.FLOAT32));
            String y = one.step(DType.FLOAT32, "y", binary("mul", wide, one.number("scale", 0.01f)));
            one.assertSame(y, sums(random, SHAPES[i]), 1);
        }
    }

    private static Tensor sums(SplittableRandom random, long... dims) {
        return Tensor.of(DType.INT32, random.ints(Shape.of(dims).size()).asLongStream().toArray(), dims);
    }
}
