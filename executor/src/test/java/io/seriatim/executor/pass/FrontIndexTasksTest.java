package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Results;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.FrontIndexes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Indices that may count from the end are counted from the front in one task. */
class FrontIndexTasksTest {
    private static final long SEED = 20261129;
    private static final int TYPE_BOOL = 0;
    private static final int INT32 = 2;
    private static final int INT64 = 3;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private Program program = new Program();
    private int names;
    private int type = INT64;

    private String append(OpDesc.Builder op) {
        String name = "v" + names++;
        Appender.append(program.global(), op.out("Out", name).build(), 0);
        return name;
    }

    private String numbers(long... values) {
        return append(OpDesc.of("assign_value").attr("shape", new int[]{values.length}).attr("dtype", type)
                .attr(type == INT64 ? "int64_values" : "int32_values", type == INT64
                        ? values
                        : Arrays.stream(values).mapToInt(Math::toIntExact).toArray()));
    }

    private String binary(String function, String x, String y) {
        return append(OpDesc.of(function).in("X", x).in("Y", y).attr("axis", -1));
    }

    /** As the reader of ONNX files writes it. */
    private String fromFront(String indices, long... lengths) {
        String negative = append(OpDesc.of("cast").in("X", binary("less_than", indices, numbers(0)))
                .attr("in_dtype", TYPE_BOOL).attr("out_dtype", type));
        return binary("elementwise_add", indices, binary("elementwise_mul", negative, numbers(lengths)));
    }

    private void declare(String name, DType dtype, long... dims) {
        program.global().put(VarDesc.of(name, VarType.dense(dtype, dims)));
    }

    private Tensor indices(long length, long... dims) {
        long size = Arrays.stream(dims).reduce(1, (a, b) -> a * b);
        long[] all = random.longs(size, -length, length).toArray();
        return Tensor.of(type == INT64 ? DType.INT64 : DType.INT32, all, dims);
    }

    private void assertSameWithout(List<String> fetched, Map<String, Tensor> feeds, String where) {
        try (Executor plain = Executor.builder().threads(1).without(Pass.SIMPLIFICATION).build();
                Executor executor = Executor.builder().threads(2).build()) {
            Results expected = plain.run(program, feeds, new Fetches(fetched));
            Results found = executor.run(program, feeds, new Fetches(fetched));
            for (String name : fetched) {
                Bits.assertSame(expected.get(name), found.get(name), where + ", " + name);
            }
        }
    }

    private long counted(String fetched, Map<String, Tensor> feeds) {
        return ImagePasses.count(program, fetched, stage -> stage.computation() instanceof FrontIndexes, feeds);
    }

    /** The same indices for several operations, which may expand them first. */
    @Test
    void areCountedOnceAndBeforeTheyAreExpanded() {
        for (int trial = 0; trial < 40; trial++) {
            program = new Program();
            names = 0;
            type = random.nextBoolean() ? INT64 : INT32;
            int count = random.nextInt(1, 40);
            int width = random.nextInt(2, 9);
            int length = random.nextInt(1, 20);
            boolean other = random.nextBoolean();
            declare("i", type == INT64 ? DType.INT64 : DType.INT32, count, 1);
            declare("x", DType.FLOAT32, length, width);
            declare("z", DType.FLOAT32, other ? length + 1 : length, width);
            String expanded = append(OpDesc.of("expand_v2").in("X", "i").attr("shape", new int[]{count, width}));
            List<String> fetched = new ArrayList<>();
            for (String x : List.of("x", "z", "x")) {
                long rows = x.equals("x") || !other ? length : length + 1;
                String result = "r" + fetched.size();
                Appender.append(program.global(), OpDesc.of("take_along_axis").in("Input", x)
                        .in("Index", fromFront(expanded, rows)).attr("Axis", 0).out("Result", result).build(), 0);
                fetched.add(append(OpDesc.of("tanh").in("X", result)));
                fetched.add(append(OpDesc.of("gather_nd").in("X", x).in("Index", fromFront("i", rows))));
            }
            Map<String, Tensor> feeds = Map.of("i", indices(length, count, 1), "x",
                    Bits.normal(trial, length, width), "z",
                    Bits.normal(trial + 99, other ? length + 1 : length, width));
            String where = "seed " + SEED + ", trial " + trial;
            assertSameWithout(fetched, feeds, where);
            // Indices that are expanded for two lengths are expanded first.
            String sum = fetched.stream().filter(name -> fetched.indexOf(name) % 2 == 1)
                    .reduce((a, b) -> binary("elementwise_add", a, b)).orElseThrow();
            String takes = fetched.stream().filter(name -> fetched.indexOf(name) % 2 == 0)
                    .reduce((a, b) -> binary("elementwise_add", a, b)).orElseThrow();
            String all = append(OpDesc.of("concat").in("X", sum, takes).attr("axis", 0));
            assertEquals(other ? 4 : 1, counted(all, feeds), where);
            assertEquals(0, ImagePasses.count(program, all, stage -> stage.computation() instanceof Binary binary
                    && binary.function() == Binary.Function.LESS, feeds), where);
        }
    }

    @Test
    void tuplesHaveALengthForEachAxis() {
        for (int trial = 0; trial < 20; trial++) {
            program = new Program();
            names = 0;
            int depth = random.nextInt(1, 4);
            long[] dims = random.longs(depth, 3, 9).toArray();
            int count = random.nextInt(1, 700);
            declare("i", DType.INT64, count, depth);
            declare("x", DType.FLOAT32, dims);
            String y = append(OpDesc.of("gather_nd").in("X", "x").in("Index", fromFront("i", dims)));
            Map<String, Tensor> feeds = Map.of("i", indices(3, count, depth), "x", Bits.normal(trial, dims));
            String where = "seed " + SEED + ", trial " + trial;
            assertSameWithout(List.of(y), feeds, where);
            assertEquals(1, counted(y, feeds), where);
        }
    }

    /** Tasks whose results are read elsewhere, and another comparison. */
    @Test
    void otherTasksAreLeft() {
        declare("i", DType.INT64, 5);
        String negative = append(OpDesc.of("cast").in("X", binary("less_than", "i", numbers(1)))
                .attr("in_dtype", TYPE_BOOL).attr("out_dtype", type));
        String one = binary("elementwise_add", "i", binary("elementwise_mul", negative, numbers(7)));
        String less = append(OpDesc.of("cast").in("X", binary("less_than", "i", numbers(0)))
                .attr("in_dtype", TYPE_BOOL).attr("out_dtype", type));
        String two = binary("elementwise_add", "i", binary("elementwise_mul", less, numbers(7)));
        String all = append(OpDesc.of("concat").in("X", one, two, less).attr("axis", 0));
        Map<String, Tensor> feeds = Map.of("i", Tensor.of(new long[]{-3, -1, 0, 1, 2}, 5));
        assertSameWithout(List.of(all), feeds, "other");
        assertEquals(0, counted(all, feeds));
    }
}
