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
        private boolean twice;
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
            if (block.find(name) == null) {
                feed(name, bytes(dtype, dims));
            }
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

        /** Dequantized levels, of weights those of a variable. */
        private String dequantized(String name, long[] dims, long @Nullable [] zero, long... scale) {
            if (twice && name.equals("y")) {
                storeTwice(dims);
            }
            String levels = levels(name, DType.FLOAT32, dims, zero);
            if (name.equals("y") && !twice) {
                block.put(block.get("y").persistent());
            }
            double[] scales = random.doubles(Shape.of(scale).size(), 1e-3, 1e-2).toArray();
            feed(name + ".scale", Tensor.of(DType.FLOAT32, scales, scale));
            String result = name + ".number";
            block.put(VarDesc.of(result, VarType.dense(DType.FLOAT32, dims)));
            block.add(OpDesc.of("elementwise_mul").in("X", levels).in("Y", name + ".scale").out("Out", result)
                    .attr("axis", -1).build());
            return result;
        }

        /** Weights that are made from stored ones, as those are which several products share. */
        private void storeTwice(long... dims) {
            feed("stored", bytes(DType.INT8, dims));
            block.put(block.get("stored").persistent());
            block.put(VarDesc.of("clipped", VarType.dense(DType.FLOAT32, dims)));
            block.add(OpDesc.of("clip").in("X", cast("stored", DType.FLOAT32)).out("Out", "clipped").attr("min", -90f)
                    .attr("max", 91f).build());
            block.put(VarDesc.of("y", VarType.dense(DType.INT8, dims)));
            block.add(OpDesc.of("cast").in("X", "clipped").out("Out", "y")
                    .attr("in_dtype", DataTypes.number(DType.FLOAT32)).attr("out_dtype", DataTypes.number(DType.INT8))
                    .build());
        }

        /** Returns how large the sum of the magnitudes of a result can be. */
        double dequantizedProduct() {
            long m = random.nextInt(1, 20);
            long k = random.nextInt(1, 150);
            long n = random.nextInt(1, 50);
            boolean transposed = random.nextBoolean();
            long[] columns = transposed ? new long[]{n, 1} : new long[]{n};
            long[][] zeros = {null, {}, {1}, columns};
            long[][] scales = {{}, {1}, columns};
            String a = dequantized("x", new long[]{3, m, k}, zeros[random.nextInt(3)], scales[random.nextInt(2)]);
            String b = dequantized("y", transposed ? new long[]{n, k} : new long[]{k, n},
                    zeros[random.nextInt(4)], scales[random.nextInt(3)]);
            block.put(VarDesc.of("out", VarType.dense(DType.FLOAT32, 3, m, n)));
            block.add(OpDesc.of("matmul_v2").in("X", a).in("Y", b).out("Out", "out").attr("trans_x", false)
                    .attr("trans_y", transposed).build());
            return k * 255.0 * 255 * 1e-4;
        }

        double dequantizedConvolution() {
            long channels = random.nextInt(1, 9);
            long filters = random.nextInt(1, 9);
            int size = random.nextInt(1, 4);
            long side = random.nextInt(size, 12);
            int pad = random.nextInt(size);
            long[] each = {filters, 1, 1, 1};
            long[][] zeros = {null, {}, {1}, each};
            long[][] scales = {{}, {1}, each};
            String a = dequantized("x", new long[]{2, channels, side, side}, zeros[random.nextInt(3)],
                    scales[random.nextInt(2)]);
            String b = dequantized("y", new long[]{filters, channels, size, size}, zeros[random.nextInt(4)],
                    scales[random.nextInt(3)]);
            long places = side + 2L * pad - size + 1;
            block.put(VarDesc.of("out", VarType.dense(DType.FLOAT32, 2, filters, places, places)));
            block.add(OpDesc.of("conv2d").in("Input", a).in("Filter", b).out("Output", "out")
                    .attr("strides", new int[]{1, 1}).attr("paddings", new int[]{pad, pad})
                    .attr("padding_algorithm", "EXPLICIT").attr("dilations", new int[]{1, 1}).attr("groups", 1)
                    .attr("data_format", "NCHW").build());
            return channels * size * size * 255.0 * 255 * 1e-4;
        }

        /** A convolution of lines, as images of one row; returns how large sums of magnitudes can be. */
        double lines(boolean dequantized) {
            int groups = random.nextBoolean() ? 1 : random.nextInt(2, 9);
            long channels = (long) random.nextInt(1, 7) * groups;
            long filters = (long) random.nextInt(1, 7) * groups;
            int size = random.nextInt(1, 4);
            long side = random.nextInt(size, 30);
            int pad = random.nextInt(size);
            int stride = random.nextInt(1, 3);
            long[] each = {filters, 1, 1};
            long[][] zeros = {null, {}, {1}, each};
            long[] image = {2, channels, side};
            long[] filter = {filters, channels / groups, size};
            DType wide = dequantized ? DType.FLOAT32 : DType.FLOAT64;
            String a = dequantized
                    ? dequantized("x", image, zeros[random.nextInt(3)])
                    : levels("x", wide, image, zeros[random.nextInt(3)]);
            String b = dequantized
                    ? dequantized("y", filter, zeros[random.nextInt(4)], random.nextBoolean() ? each : new long[]{1})
                    : levels("y", wide, filter, zeros[random.nextInt(4)]);
            long places = (side + 2L * pad - size) / stride + 1;
            rows("unsqueeze2", a, wide, 2, channels, 1, side);
            rows("unsqueeze2", b, wide, filters, channels / groups, 1, size);
            block.put(VarDesc.of("sums", VarType.dense(wide, 2, filters, 1, places)));
            block.add(OpDesc.of("conv2d").in("Input", a + ".rows").in("Filter", b + ".rows").out("Output", "sums")
                    .attr("strides", new int[]{1, stride}).attr("paddings", new int[]{0, pad})
                    .attr("padding_algorithm", "EXPLICIT").attr("dilations", new int[]{1, 1}).attr("groups", groups)
                    .attr("data_format", "NCHW").build());
            rows("squeeze2", "sums", wide, 2, filters, places);
            DType last = dequantized ? DType.FLOAT32 : DType.INT32;
            block.put(VarDesc.of("out", VarType.dense(last, 2, filters, places)));
            block.add(OpDesc.of("cast").in("X", "sums.rows").out("Out", "out")
                    .attr("in_dtype", DataTypes.number(wide)).attr("out_dtype", DataTypes.number(last)).build());
            return channels / groups * size * 255.0 * 255 * 1e-4;
        }

        private void rows(String type, String x, DType dtype, long... dims) {
            block.put(VarDesc.of(x + ".rows", VarType.dense(dtype, dims)));
            block.add(OpDesc.of(type).in("X", x).out("Out", x + ".rows").attr("axes", new int[]{2}).build());
        }

        Tensor run(Program given) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            Map<String, Tensor> feeds = new LinkedHashMap<>(fed);
            for (String name : List.of("y", "stored")) {
                VarDesc desc = block.find(name);
                if (desc != null && desc.isPersistable()) {
                    interpreter.set(name, Objects.requireNonNull(feeds.remove(name)));
                }
            }
            return Objects.requireNonNull(interpreter.run(given, feeds, List.of("out")).get("out"));
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
            switch (i % 3) {
                case 0 -> network.product();
                case 1 -> network.convolution();
                default -> network.lines(false);
            }
            assertReplaced(network, i % 3 == 0 ? "integer_matmul" : "integer_conv2d");
        }));
    }

    /** Sums are exact, and rounded once; those of dequantized numbers are rounded at each step. */
    @TestFactory
    Stream<DynamicTest> dequantizedNumbersAreNear() {
        return IntStream.range(0, CASES).mapToObj(i -> DynamicTest.dynamicTest("seed " + (SEED - i), () -> {
            Network network = new Network(new SplittableRandom(SEED - i));
            network.twice = i % 4 == 1;
            double most = switch (i % 3) {
                case 0 -> network.dequantizedProduct();
                case 1 -> network.dequantizedConvolution();
                default -> network.lines(true);
            };
            Program replaced = IntegerSums.of(network.program);
            String type = i % 3 == 0 ? "integer_matmul" : "integer_conv2d";
            assertTrue(replaced.global().ops().stream().anyMatch(op -> op.type().equals(type)), "is replaced");
            assertArrayEquals(network.run(network.program).toDoubleArray(), network.run(replaced).toDoubleArray(),
                    2e-6 * most);
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
