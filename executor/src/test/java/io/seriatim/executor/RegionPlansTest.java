package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions and convolutions with offsets, with their gradients, in plans that divide them among threads. */
class RegionPlansTest {
    private static Tensor random(long seed, double from, double to, long... dims) {
        return Tensor.of(DType.FLOAT32, new SplittableRandom(seed).doubles(Shape.of(dims).size(), from, to).toArray(),
                dims);
    }

    /** The fetched values are those of the interpreter, with any number of threads. */
    private static void check(Network network, Map<String, Tensor> in, int threads) {
        List<String> results = network.outputs().values().values().stream().map(Value::name).toList();
        Map<String, Tensor> expected = Interpreter.of(Kernels.system()).run(network.main(), in, results);
        List<String> names = List.copyOf(new TreeMap<>(in).keySet());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds(names.toArray(String[]::new)),
                    fetches(results.toArray(String[]::new)));
            for (String result : results) {
                float[] values = plan.run(names.stream().map(in::get).toArray(Tensor[]::new)).get(result)
                        .toFloatArray();
                assertArrayEquals(Objects.requireNonNull(expected.get(result)).toFloatArray(), values, 1e-5f, result);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void alignedRegions(int threads) {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 16, 24, 20).wantGradient();
            Value y = g.op("roi_align").in("X", x).in("ROIs", g.data("rois", FLOAT32, -1, 4))
                    .in("RoisNum", g.data("count", INT32, -1)).attr("pooled_height", 7).attr("pooled_width", 7)
                    .attr("spatial_scale", 0.25f).one("Out");
            Value loss = y.times(y).sum();
            return Outputs.of("y", y, "dx", g.gradients(List.of(loss), List.of(x)).getFirst());
        });
        Tensor corner = random(1, 0, 40, 30, 2);
        double[] regions = new double[120];
        for (int i = 0; i < 30; i++) {
            for (int k = 0; k < 2; k++) {
                regions[4 * i + k] = corner.getDouble(i, k);
                regions[4 * i + 2 + k] = corner.getDouble(i, k) + 5 + i;
            }
        }
        check(network, Map.of("x", random(2, -1, 1, 2, 16, 24, 20), "rois", Tensor.of(DType.FLOAT32, regions, 30, 4),
                "count", Tensor.of(DType.INT32, new long[]{12, 18}, 2)), threads);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void convolutionsWithOffsets(int threads) {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 16, 14, 14).wantGradient();
            Value offset = g.data("offset", FLOAT32, -1, 36, 14, 14).wantGradient();
            Value mask = g.data("mask", FLOAT32, -1, 18, 14, 14).wantGradient();
            Value w = g.data("w", FLOAT32, 8, 16, 3, 3).wantGradient();
            Value y = g.op("deformable_conv").in("Input", x).in("Offset", offset).in("Filter", w).in("Mask", mask)
                    .attr("paddings", new int[]{1, 1}).attr("deformable_groups", 2).attr("im2col_step", 1)
                    .one("Output");
            List<Value> gradients = g.gradients(List.of(y.times(y).sum()), List.of(x, offset, mask, w)).stream()
                    .map(Objects::requireNonNull).toList();
            return Outputs.of("y", y, "dx", gradients.get(0), "doffset", gradients.get(1))
                    .and("dmask", gradients.get(2)).and("dw", gradients.get(3));
        });
        check(network, Map.of("x", random(1, -1, 1, 3, 16, 14, 14), "offset", random(2, -2, 2, 3, 36, 14, 14), "mask",
                random(3, 0, 1, 3, 18, 14, 14), "w", random(4, -0.1, 0.1, 8, 16, 3, 3)), threads);
    }
}
