package io.seriatim.graph.quantization;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Products of levels as they are translated from ONNX, in int32 or float64, and as products of 8-bit integers. */
class IntegerSumsTest {
    private static final long SEED = 20261127;
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 2000 : 60;

    /** A product or a convolution of levels less their zero points. */
    private static final class Network {
        private final Program program = new Program();
        private final Block block = program.global();
        private final SplittableRandom random;
        private final Map<String, Tensor> fed = new LinkedHashMap<>();

        Network(SplittableRandom random) {
            this.random = random;
        }

        /** All values of the type, its extremes more often, or nothing else. */
        private Tensor bytes(DType dtype, long... dims) {
            int low = dtype == DType.INT8 ? -128 : 0;
            int kinds = random.nextInt(4) == 0 ? 2 : 8;
            long[] values = random.ints(Shape.of(dims).size(), 0, kinds)
                    .mapToLong(kind -> kind == 0 ? low : kind == 1 ? low + 255 : random.nextInt(low, low + 256))
                    .toArray();
            return Tensor.of(dtype, values, dims);
        }

        private void feed(String name, Tensor value) {
            block.put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())));
            fed.put(name, value);
        }

        private String cast(String x, DType to) {
            String name = x + "." + to;
            DType from = block.get(x).tensor().dtype();
            block.put(VarDesc.of(name, VarType.dense(to, block.get(x).tensor().dims().stream()
                    .mapToLong(Long::longValue).toArray())));
            block.add(OpDesc.of("cast").in("X", x).out("Out", name).attr("in_dtype", DataTypes.number(from))
                    .attr("out_dtype", DataTypes.number(to)).build());
            return name;
        }

        /** Levels in a wider type, less a zero point of some dimensions if there is one. */
        String levels(String name, DType wide, long[] dims, long @Nullable [] zero) {
            DType dtype = random.nextBoolean() ? DType.INT8 : DType.UINT8;
            feed(name, bytes(dtype, dims));
            String levels = cast(name, wide);
            if (zero == null) {
                return levels;
            }
            feed(name + "0", bytes(dtype, zero));
            String point = cast(name + "0", wide);
            String less = name + ".less";
            block.put(VarDesc.of(less, VarType.dense(wide, dims)));
            block.add(OpDesc.of("elementwise_sub").in("X", levels).in("Y", point).out("Out", less).attr("axis", -1)
                    .build());
            return less;
        }

        void product() {
            long m = random.nextInt(0, 20);
            long k = random.nextInt(0, 150);
            long n = random.nextInt(0, 50);
            long[] x = random.nextBoolean() ? new long[]{m, k} : new long[]{3, m, k};
            long[] y = random.nextInt(3) > 0 ? new long[]{k, n} : new long[]{3, k, n};
            long[][] left = {null, {}, {1}, {m, 1}};
            long[][] right = {null, {}, {1}, {n}, {1, n}};
            String a = levels("x", DType.INT32, x, left[random.nextInt(left.length)]);
            String b = levels("y", DType.INT32, y, right[random.nextInt(right.length)]);
            block.put(VarDesc.of("out", VarType.dense(DType.INT32,
                    x.length > 2 || y.length > 2 ? new long[]{3, m, n} : new long[]{m, n})));
            block.add(OpDesc.of("matmul_v2").in("X", a).in("Y", b).out("Out", "out").attr("trans_x", false)
                    .attr("trans_y", false).build());
        }

        void convolution() {
            int groups = random.nextBoolean() ? 1 : random.nextInt(2, 9);
            long channels = (long) random.nextInt(1, 7) * groups;
            long filters = (long) random.nextInt(1, 7) * groups;
            int size = random.nextInt(1, 4);
            long side = random.nextInt(size, 12);
            int pad = random.nextInt(size);
            int stride = random.nextInt(1, 3);
            long[][] left = {null, {}, {1}};
            long[][] right = {null, {}, {1}, {filters, 1, 1, 1}};
            String a = levels("x", DType.FLOAT64, new long[]{2, channels, side, side},
                    left[random.nextInt(left.length)]);
            String b = levels("y", DType.FLOAT64, new long[]{filters, channels / groups, size, size},
                    right[random.nextInt(right.length)]);
            long places = (side + 2L * pad - size) / stride + 1;
            block.put(VarDesc.of("sums", VarType.dense(DType.FLOAT64, 2, filters, places, places)));
            block.add(OpDesc.of("conv2d").in("Input", a).in("Filter", b).out("Output", "sums")
                    .attr("strides", new int[]{stride, stride}).attr("paddings", new int[]{pad, pad})
                    .attr("padding_algorithm", "EXPLICIT").attr("dilations", new int[]{1, 1}).attr("groups", groups)
                    .attr("data_format", "NCHW").build());
            block.put(VarDesc.of("out", VarType.dense(DType.INT32, 2, filters, places, places)));
            block.add(OpDesc.of("cast").in("X", "sums").out("Out", "out")
                    .attr("in_dtype", DataTypes.number(DType.FLOAT64)).attr("out_dtype", DataTypes.number(DType.INT32))
                    .build());
        }

        Tensor run(Program given) {
            return Objects.requireNonNull(
                    Interpreter.of(Kernels.system()).run(given, fed, List.of("out")).get("out"));
        }
    }

    private static void assertReplaced(Network network, String type) {
        Program replaced = IntegerSums.of(network.program);
        assertTrue(replaced.global().ops().stream().anyMatch(op -> op.type().equals(type)), "is replaced");
        Tensor expected = network.run(network.program);
        Tensor found = network.run(replaced);
        assertEquals(expected.spec(), found.spec());
        assertArrayEquals(expected.toLongArray(), found.toLongArray());
    }

    @TestFactory
    Stream<DynamicTest> sumsStayTheSame() {
        return IntStream.range(0, CASES).mapToObj(i -> DynamicTest.dynamicTest("seed " + (SEED + i), () -> {
            Network network = new Network(new SplittableRandom(SEED + i));
            if (i % 2 == 0) {
                network.product();
            } else {
                network.convolution();
            }
            assertReplaced(network, i % 2 == 0 ? "integer_matmul" : "integer_conv2d");
        }));
    }

    @Test
    void productsOfOtherNumbersStay() {
        Program program = new Program();
        Block block = program.global();
        for (String name : List.of("x", "y", "out")) {
            block.put(VarDesc.of(name, VarType.dense(DType.INT32, 4, 4)));
        }
        block.add(OpDesc.of("matmul_v2").in("X", "x").in("Y", "y").out("Out", "out").attr("trans_x", false)
                .attr("trans_y", false).build());
        assertSame(program, IntegerSums.of(program));
    }
}
