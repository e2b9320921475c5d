package io.seriatim.graph.quantization;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Quantized networks as PaddlePaddle writes them, with the operations on levels and without. */
class IntegerProductsTest {
    private static final long SEED = 20261123;

    /** An operation with dequantized operands. */
    @SuppressWarnings("ArrayRecordComponent")
    record Network(String type, long[] x, long[] w, int axis, boolean perChannel, Map<String, Object> attrs,
            String roundType) {
        @Override
        public String toString() {
            return type + (perChannel ? " per channel " : " per tensor ") + Arrays.toString(x) + " " + attrs + " "
                    + roundType;
        }

        long channels() {
            return perChannel ? w[axis] : 1;
        }

        Program program(boolean observed) {
            Program program = new Program();
            Block block = program.global();
            block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, x)));
            // PaddlePaddle declares levels of weights as float32.
            block.put(VarDesc.of("w", VarType.dense(DType.FLOAT32, w)).persistent());
            block.put(VarDesc.of("x@scale", VarType.dense(DType.FLOAT32, 1)).persistent());
            block.put(VarDesc.of("w@scale", VarType.dense(DType.FLOAT32, channels())).persistent());
            block.put(VarDesc.of("zero", VarType.dense(DType.FLOAT32, 1)).persistent());
            for (String name : List.of("q", "xd", "y", "yq", "yd", "out")) {
                block.put(VarDesc.of(name, VarType.dense(DType.FLOAT32, -1)));
            }
            block.put(VarDesc.of("wd", VarType.dense(DType.FLOAT32, w)));
            block.add(op("dequantize_linear", "w", "wd", perChannel ? axis : -1, false));
            block.add(op("quantize_linear", "x", "q", -1, false));
            block.add(op("dequantize_linear", "q", "xd", -1, false).renamed(
                    name -> name.equals("q@scale") ? "x@scale" : name, name -> name));
            boolean convolution = type.contains("conv");
            OpDesc product = OpDesc.of(type).in(convolution ? "Input" : "X", "xd")
                    .in(convolution ? "Filter" : "Y", "wd").out(convolution ? "Output" : "Out", "y").build();
            for (Map.Entry<String, Object> attr : attrs.entrySet()) {
                product = product.with(attr.getKey(), attr.getValue());
            }
            block.add(product);
            if (observed) {
                block.add(op("quantize_linear", "y", "yq", -1, true).renamed(
                        name -> name.equals("y@scale") ? "x@scale" : name, name -> name));
                block.add(op("dequantize_linear", "yq", "yd", -1, true).renamed(
                        name -> name.equals("yq@scale") ? "x@scale" : name, name -> name));
            }
            block.add(OpDesc.of("relu").in("X", observed ? "yd" : "y").out("Out", "out").build());
            return program;
        }

        private OpDesc op(String kind, String from, String to, int quantAxis, boolean observer) {
            return OpDesc.of(kind).in("X", from).in("Scale", from + "@scale").in("ZeroPoint", "zero").out("Y", to)
                    .attr("quant_axis", quantAxis).attr("bit_length", 8)
                    .attr("round_type", roundType.equals("even") ? 0 : 1).attr("only_observer", observer).build();
        }
    }

    static Stream<Network> networks() {
        Map<String, Object> plain = Map.of();
        return Stream.of("even", "away").flatMap(round -> Stream.of(
                new Network("mul", new long[]{5, 12}, new long[]{12, 7}, 1, true, plain, round),
                new Network("mul", new long[]{5, 12}, new long[]{12, 7}, 1, false, plain, round),
                new Network("matmul_v2", new long[]{2, 5, 12}, new long[]{12, 7}, 1, true, plain, round),
                new Network("matmul_v2", new long[]{2, 5, 12}, new long[]{7, 12}, 0, true, Map.of("trans_y", true),
                        round),
                new Network("matmul", new long[]{5, 12}, new long[]{12, 7}, 1, true, Map.of("alpha", 0.5f), round),
                new Network("conv2d", new long[]{2, 3, 9, 9}, new long[]{6, 3, 3, 3}, 0, true,
                        Map.of("paddings", new int[]{1, 1}), round),
                new Network("conv2d", new long[]{2, 4, 9, 9}, new long[]{6, 2, 3, 3}, 0, false,
                        Map.of("groups", 2, "strides", new int[]{2, 2}), round),
                new Network("conv2d", new long[]{2, 9, 9, 3}, new long[]{6, 3, 3, 3}, 0, true,
                        Map.of("data_format", "NHWC"), round),
                new Network("depthwise_conv2d", new long[]{2, 8, 9, 9}, new long[]{8, 1, 3, 3}, 0, true,
                        Map.of("groups", 8), round)));
    }

    private static Tensor levels(long... dims) {
        SplittableRandom random = new SplittableRandom(SEED);
        long[] values = new long[(int) Shape.of(dims).size()];
        Arrays.setAll(values, _ -> random.nextInt(-127, 128));
        return Tensor.of(DType.INT8, values, dims);
    }

    private static Tensor floats(long salt, double low, double high, long... dims) {
        SplittableRandom random = new SplittableRandom(SEED + salt);
        double[] values = new double[(int) Shape.of(dims).size()];
        Arrays.setAll(values, _ -> random.nextDouble(low, high));
        return Tensor.of(DType.FLOAT32, values, dims);
    }

    private static Tensor run(Network network, Kernels kernels, Program program) {
        Interpreter interpreter = Interpreter.of(kernels);
        interpreter.set("w", levels(network.w()));
        interpreter.set("x@scale", Tensor.of(new float[]{1.9f}, 1));
        interpreter.set("w@scale", floats(2, 0.1, 0.9, network.channels()));
        interpreter.set("zero", Tensor.of(new float[]{0}, 1));
        return Objects.requireNonNull(interpreter.run(program, Map.of("x", floats(1, -2.5, 2.5, network.x())),
                List.of("out")).get("out"));
    }

    private static List<String> types(Program program) {
        return program.global().ops().stream().map(OpDesc::type).toList();
    }

    @ParameterizedTest
    @MethodSource("networks")
    void levelsAreMultiplied(Network network) {
        for (boolean observed : new boolean[]{false, true}) {
            Program program = network.program(observed);
            List<String> before = types(program);
            Program integers = IntegerProducts.of(program, List.of("out"));
            assertEquals(List.of("quantize_to_int8", "quantized_" + network.type(), "relu"), types(integers));
            assertEquals(before, types(program), "the program itself is not changed");
            for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                double[] expected = run(network, kernels, program).toDoubleArray();
                double[] actual = run(network, kernels, integers).toDoubleArray();
                double largest = Arrays.stream(expected).max().orElseThrow();
                assertTrue(largest > 0.1, () -> Arrays.toString(expected));
                for (int i = 0; i < expected.length; i++) {
                    assertEquals(expected[i], actual[i], 2e-6 * largest, "element " + i);
                }
            }
        }
    }

    /** Levels in float32 whose sums are scaled afterwards, as PaddleSlim wrote them first. */
    private static Program scaledLater(Network network, boolean perChannel, String quantize) {
        Program program = new Program();
        Block block = program.global();
        int rank = network.x().length;
        long[] any = new long[rank];
        Arrays.fill(any, -1);
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, network.x())));
        block.put(VarDesc.of("w", VarType.dense(DType.FLOAT32, network.w())).persistent());
        block.put(VarDesc.of("x@scale", VarType.dense(DType.FLOAT32, 1)).persistent());
        block.put(VarDesc.of("w@scale", VarType.dense(DType.FLOAT32, network.channels())).persistent());
        for (String name : List.of("q", "y", "z", "out")) {
            block.put(VarDesc.of(name, VarType.dense(DType.FLOAT32, any)));
        }
        block.put(VarDesc.of("observed", VarType.dense(DType.FLOAT32, 1)).persistent());
        block.add(OpDesc.of(quantize).in("X", "x").in("InScale", "x@scale").out("Out", "q").out("OutScale", "x@scale")
                .attr("is_test", true).attr("bit_length", 8)
                .attr("round_type", network.roundType().equals("even") ? 0 : 1).build());
        boolean convolution = network.type().contains("conv");
        OpDesc product = OpDesc.of(network.type()).in(convolution ? "Input" : "X", "q")
                .in(convolution ? "Filter" : "Y", "w").out(convolution ? "Output" : "Out", "y").build();
        for (Map.Entry<String, Object> attr : network.attrs().entrySet()) {
            product = product.with(attr.getKey(), attr.getValue());
        }
        block.add(product);
        block.add(perChannel
                ? OpDesc.of("fake_channel_wise_dequantize_max_abs").in("X", "y").in("Scales", "w@scale", "x@scale")
                        .out("Out", "z").attr("quant_bits", new int[]{8, 8}).attr("quant_axis", network.axis())
                        .attr("x_num_col_dims",
                                !convolution || network.attrs().containsValue("NHWC") ? rank - 1 : 1)
                        .build()
                : OpDesc.of("fake_dequantize_max_abs").in("X", "y").in("Scale", "x@scale").out("Out", "z")
                        .attr("max_range", 20123.5f).build());
        block.add(OpDesc.of("moving_average_abs_max_scale").in("X", "z").out("OutScale", "observed")
                .attr("is_test", true).build());
        block.add(OpDesc.of("relu").in("X", "z").out("Out", "out").build());
        return program;
    }

    private static Tensor runLater(Network network, Kernels kernels, Program program) {
        Interpreter interpreter = Interpreter.of(kernels);
        Tensor levels = levels(network.w());
        interpreter.set("w", Tensor.of(DType.FLOAT32, levels.toDoubleArray(), network.w()));
        interpreter.set("x@scale", Tensor.of(new float[]{1.9f}, 1));
        interpreter.set("w@scale", floats(2, 0.1, 0.9, network.channels()));
        interpreter.set("observed", Tensor.of(new float[]{1}, 1));
        return Objects.requireNonNull(interpreter.run(program, Map.of("x", floats(1, -2.5, 2.5, network.x())),
                List.of("out")).get("out"));
    }

    @ParameterizedTest
    @MethodSource("networks")
    void levelsThatAreScaledLaterAreMultiplied(Network network) {
        for (String quantize : List.of("fake_quantize_range_abs_max", "fake_quantize_moving_average_abs_max")) {
            for (boolean perChannel : network.perChannel() ? new boolean[]{true, false} : new boolean[]{false}) {
                Program program = scaledLater(network, perChannel, quantize);
                Program integers = IntegerProducts.of(program, List.of("out"));
                String product = "quantized_" + network.type();
                assertEquals(perChannel
                        ? List.of("quantize_to_int8", product, "moving_average_abs_max_scale", "relu")
                        : List.of("fill_constant", "quantize_to_int8", product, "moving_average_abs_max_scale", "relu"),
                        types(integers));
                for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                    double[] expected = runLater(network, kernels, program).toDoubleArray();
                    double[] actual = runLater(network, kernels, integers).toDoubleArray();
                    double largest = Arrays.stream(expected).max().orElseThrow();
                    assertTrue(largest > 0.1, () -> Arrays.toString(expected));
                    for (int i = 0; i < expected.length; i++) {
                        assertEquals(expected[i], actual[i], 2e-6 * largest, "element " + i);
                    }
                }
            }
        }
    }

    @Test
    void sumsThatAreScaledOtherwiseStay() {
        Network network = networks().findFirst().orElseThrow();
        String quantize = "fake_quantize_moving_average_abs_max";
        Program fetched = scaledLater(network, true, quantize);
        assertSame(fetched, IntegerProducts.of(fetched, List.of("out", "y")), "the sums themselves are wanted");
        Program training = scaledLater(network, true, quantize);
        training.global().set(0, training.global().ops().getFirst().with("is_test", false));
        assertSame(training, IntegerProducts.of(training, List.of("out")), "the scale changes in training");
        Program rows = scaledLater(network, true, quantize);
        rows.global().set(2, rows.global().ops().get(2).with("x_num_col_dims", 0));
        assertSame(rows, IntegerProducts.of(rows, List.of("out")), "scales of rows do not follow the sums");
        Program wide = scaledLater(network, true, quantize);
        wide.global().set(0, wide.global().ops().getFirst().with("bit_length", 16));
        assertSame(wide, IntegerProducts.of(wide, List.of("out")), "levels of 16 bits are no int8");
        Program other = scaledLater(network, false, quantize);
        other.global().set(2, other.global().ops().get(2).renamed(name -> name.equals("x@scale") ? "w@scale" : name,
                name -> name));
        assertSame(other, IntegerProducts.of(other, List.of("out")), "another scale is not that of the levels");
    }

    @Test
    void whatIsFetchedIsStillComputed() {
        Network network = networks().findFirst().orElseThrow();
        Program program = network.program(false);
        assertEquals(List.of("quantize_linear", "dequantize_linear", "quantize_to_int8", "quantized_mul", "relu"),
                types(IntegerProducts.of(program, List.of("out", "xd"))));
    }

    /** The product would read numbers that were fed later than quantize_linear does. */
    @Test
    void numbersThatAreFedAndOverwrittenAreQuantizedWhereTheyWere() {
        Program program = networks().findFirst().orElseThrow().program(false);
        assertNotSame(program, IntegerProducts.of(program, List.of("out")), "the network is rewritten otherwise");
        program.global().add(3, OpDesc.of("scale").in("X", "x").out("Out", "x").attr("scale", 3f).build());
        assertSame(program, IntegerProducts.of(program, List.of("out")));
        assertEquals("scale", program.global().ops().get(3).type(), "in front of the product");
        assertEquals("dequantize_linear", program.global().ops().get(2).type());
    }

    @Test
    void otherProgramsStayAsTheyAre() {
        Network network = networks().findFirst().orElseThrow();
        Program rows = new Network("mul", network.x(), network.w(), 0, true, Map.of(), "even").program(false);
        assertSame(rows, IntegerProducts.of(rows, List.of("out")), "scales of rows do not follow the sums");
        Program training = network.program(false);
        Block block = training.global();
        for (int i = 0; i < block.ops().size(); i++) {
            if (block.ops().get(i).type().endsWith("quantize_linear")) {
                block.set(i, block.ops().get(i).with("is_test", false));
            }
        }
        assertSame(training, IntegerProducts.of(training, List.of("out")), "scales change in training");
        Program wide = network.program(false);
        for (int i = 0; i < wide.global().ops().size(); i++) {
            if (wide.global().ops().get(i).type().endsWith("quantize_linear")) {
                wide.global().set(i, wide.global().ops().get(i).with("bit_length", 16));
            }
        }
        assertSame(wide, IntegerProducts.of(wide, List.of("out")), "levels of 16 bits are no int8");
        Program plain = network.program(false);
        assertNotSame(plain, IntegerProducts.of(plain, List.of("out")), "the network is rewritten otherwise");
    }
}
