package io.seriatim.executor.pass;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.ImagePasses;
import io.seriatim.executor.Pass;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.ScatterNd;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Index tuples that are the places of a slice are not computed. */
class SliceAssignmentsTest {
    private static final long SEED = 20261128;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private Program program = new Program();
    private int names;

    private String append(String slot, OpDesc.Builder op) {
        String name = "v" + names++;
        Appender.append(program.global(), op.out(slot, name).build(), 0);
        return name;
    }

    private String reshaped(String x, int... shape) {
        String name = "v" + names++;
        Appender.append(program.global(), OpDesc.of("reshape2").in("X", x).out("Out", name)
                .out("XShape", name + "_shape").attr("shape", shape).build(), 0);
        return name;
    }

    private String numbers(long... values) {
        return append("Out", OpDesc.of("assign_value").attr("shape", new int[]{values.length}).attr("dtype", 3)
                .attr("int64_values", values));
    }

    /** Numbers along an axis of the tuples that are not those of a slice. */
    private String uneven(int axis, int[] places, long start) {
        long[] values = new long[places[axis]];
        Arrays.setAll(values, i -> start + (i * 2L) % values.length);
        return tuples(numbers(values), axis, places);
    }

    /** The numbers along an axis of the tuples, as an exporter writes them. */
    private String along(int axis, int[] places, long start, long step) {
        long[] values = new long[places[axis]];
        Arrays.setAll(values, i -> start + i * step);
        String one = switch (random.nextInt(3)) {
            case 0 -> numbers(values);
            case 1 -> append("Out", OpDesc.of("elementwise_add").in("X", numbers(start)).in("Y", append("Out",
                    OpDesc.of("range").in("Start", numbers(0)).in("End", numbers(step * values.length))
                            .in("Step", numbers(step))))
                    .attr("axis", -1));
            default -> {
                long[] more = new long[values.length + 2];
                Arrays.setAll(more, i -> start + (i - 1) * step);
                yield append("Out", OpDesc.of("slice").in("Input", numbers(more)).attr("axes", new int[]{0})
                        .attr("starts", new int[]{1}).attr("ends", new int[]{1 + values.length})
                        .attr("infer_flags", new int[]{1}).attr("decrease_axis", new int[0]));
            }
        };
        return tuples(one, axis, places);
    }

    private String tuples(String one, int axis, int[] places) {
        int[] shape = new int[places.length];
        Arrays.fill(shape, 1);
        shape[axis] = places[axis];
        String expanded = append("Out",
                OpDesc.of("expand_v2").in("X", reshaped(one, shape)).attr("shape", places));
        int[] tuple = Arrays.copyOf(places, places.length + 1);
        tuple[places.length] = 1;
        return reshaped(expanded, tuple);
    }

    @Test
    void randomSlices() {
        for (int trial = 0; trial < 120; trial++) {
            program = new Program();
            names = 0;
            int depth = random.nextInt(1, 4);
            int rank = depth + random.nextInt(2);
            long[] dims = new long[rank];
            Arrays.setAll(dims, _ -> random.nextInt(2, 12));
            int[] places = new int[depth];
            List<String> parts = new ArrayList<>();
            long[] starts = new long[depth];
            long[] steps = new long[depth];
            for (int axis = 0; axis < depth; axis++) {
                steps[axis] = random.nextInt(4) == 0 ? 2 : 1;
                starts[axis] = random.nextInt((int) dims[axis]);
                places[axis] = random.nextInt(1, (int) ((dims[axis] - starts[axis] - 1) / steps[axis]) + 2);
                if (random.nextInt(3) == 0) {
                    starts[axis] = 0;
                    steps[axis] = 1;
                    places[axis] = (int) dims[axis];
                }
            }
            int other = random.nextInt(2 * depth);
            boolean isSlice = other >= depth || places[other] < 3;
            for (int axis = 0; axis < depth; axis++) {
                parts.add(axis == other && !isSlice
                        ? uneven(axis, places, starts[axis])
                        : along(axis, places, starts[axis], steps[axis]));
            }
            OpDesc.Builder concat = OpDesc.of("concat").attr("axis", depth);
            String index = append("Out", concat.in("X", parts.toArray(String[]::new)));
            if (random.nextBoolean()) {
                // As files are read: a negative index counts from the end.
                String negative = append("Out", OpDesc.of("less_than").in("X", index).in("Y", numbers(0))
                        .attr("axis", -1));
                String factor = append("Out", OpDesc.of("cast").in("X", negative).attr("in_dtype", 0)
                        .attr("out_dtype", 3));
                String length = append("Out", OpDesc.of("elementwise_mul").in("X", factor)
                        .in("Y", numbers(Arrays.copyOf(dims, depth))).attr("axis", -1));
                index = append("Out", OpDesc.of("elementwise_add").in("X", index).in("Y", length).attr("axis", -1));
            }
            long[] updates = new long[rank];
            Arrays.setAll(updates, i -> i < depth ? places[i] : dims[i]);
            program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, dims)));
            program.global().put(VarDesc.of("u", VarType.dense(DType.FLOAT32, updates)));
            Appender.append(program.global(), OpDesc.of("scatter_nd_add").in("X", "x").in("Index", index)
                    .in("Updates", "u").out("Out", "y").build(), 0);
            Map<String, Tensor> feeds = Map.of("x", Bits.normal(trial, dims), "u", Bits.normal(trial + 1000, updates));
            Fetches fetched = new Fetches(List.of("y"));
            String where = "seed " + SEED + ", trial " + trial;
            try (Executor plain = Executor.builder().threads(1).without(Pass.SIMPLIFICATION).build();
                    Executor executor = Executor.builder().threads(1).build()) {
                Bits.assertSame(plain.run(program, feeds, fetched).get("y"),
                        executor.run(program, feeds, fetched).get("y"), where);
            }
            assertEquals(isSlice ? 0 : 1,
                    ImagePasses.count(program, "y", stage -> stage.computation() instanceof ScatterNd, feeds),
                    where);
        }
    }

    private String cast(String x, int from, int to) {
        return append("Out", OpDesc.of("cast").in("X", x).attr("in_dtype", from).attr("out_dtype", to));
    }

    /** The result of adding 1 to zeros at indexes; the message if an index is wrong. */
    private String counts(String index, int length, Executor.Builder builder) {
        Program whole = program;
        whole.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, length)));
        whole.global().put(VarDesc.of("u", VarType.dense(DType.FLOAT32, length)));
        if (whole.global().ops().stream().noneMatch(op -> op.type().equals("scatter_nd_add"))) {
            Appender.append(whole.global(), OpDesc.of("scatter_nd_add").in("X", "x")
                    .in("Index", reshaped(index, length, 1)).in("Updates", "u").out("Out", "y").build(), 0);
        }
        float[] ones = new float[length];
        Arrays.fill(ones, 1);
        try (Executor executor = builder.build()) {
            return Arrays.toString(executor.run(whole, Map.of("x", Tensor.of(new float[length], length), "u",
                    Tensor.of(ones, length)), new Fetches(List.of("y"))).get("y").toFloatArray());
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage()).contains("must be from 0 to") ? "out of range" : "other: " + e;
        }
    }

    /** Indexes whose type cannot hold the numbers that the arithmetic gives. */
    @Test
    void numbersThatChangeWhenTheyAreStored() {
        int length = 70;
        long[] even = new long[length];
        for (int kind = 0; kind < 3; kind++) {
            program = new Program();
            names = 0;
            int factor = kind == 2 ? 58 : 0;
            Arrays.setAll(even, i -> (long) i << factor);
            String index = numbers(even);
            if (kind == 0) {
                index = cast(cast(index, 3, 0), 0, 3);
            } else if (kind == 1) {
                String high = append("Out", OpDesc.of("elementwise_add").in("X", index)
                        .in("Y", numbers(Integer.MAX_VALUE)).attr("axis", -1));
                index = append("Out", OpDesc.of("elementwise_sub").in("X", cast(cast(high, 3, 2), 2, 3))
                        .in("Y", numbers(Integer.MAX_VALUE)).attr("axis", -1));
            }
            String expected = counts(index, length, Executor.builder().threads(1).without(Pass.SIMPLIFICATION));
            String found = counts(index, length, Executor.builder().threads(1));
            assertEquals(expected, found, "kind " + kind);
            assertEquals(kind > 0, expected.equals("out of range"), expected);
        }
    }
}
