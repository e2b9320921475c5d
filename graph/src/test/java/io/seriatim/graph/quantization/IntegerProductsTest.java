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

    @Test
    void whatIsFetchedIsStillComputed() {
        Network network = networks().findFirst().orElseThrow();
        Program program = network.program(false);
        assertEquals(List.of("quantize_linear", "dequantize_linear", "quantize_to_int8", "quantized_mul", "relu"),
                types(IntegerProducts.of(program, List.of("out", "xd"))));
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
