package io.seriatim.onnx.operators;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.onnx.node.Registry;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms of operators that ONNX's node tests do not have: those of former versions, of rare types, of ONNX Runtime. */
class OperatorsTest {
    private static final Consumer<Registry> ELEMENTWISE = ElementwiseOperators::register;
    private static final Consumer<Registry> ACTIVATIONS = ActivationOperators::register;
    private static final Consumer<Registry> REDUCTIONS = ReductionOperators::register;
    private static final Consumer<Registry> CREATION = CreationOperators::register;
    private static final Consumer<Registry> FUSED = FusedOperators::register;

    private static Tensor floats(long[] dims, float... values) {
        return Tensor.of(values, dims);
    }

    private static float[] random(int count) {
        float[] values = new float[count];
        SplittableRandom random = new SplittableRandom(count);
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextDouble(-2, 2);
        }
        return values;
    }

    private static long[] dims(long... dims) {
        return dims;
    }

    @Test
    void theFormerAttributeAlignsAxes() {
        Tensor x = Tensor.of(new long[]{1, 2, 3, 4, 5, 6}, 2, 3);
        Tensor y = Tensor.of(new long[]{10, 20}, 2);
        Tensor sum = OneOperator.of(ELEMENTWISE, "Add", 6).integer("broadcast", 1).integer("axis", 0).run(x, y);
        assertArrayEquals(new long[]{11, 12, 13, 24, 25, 26}, sum.toLongArray());
        OneOperator wrong = OneOperator.of(ELEMENTWISE, "Add", 6).integer("broadcast", 1).integer("axis", 1);
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class,
                () -> wrong.run(x, Tensor.of(new long[4], 2, 2))).getMessage()).contains("does not fit"));
    }

    @ParameterizedTest
    @CsvSource({"INT32,-7,2,-3,-1,1", "INT64,-9223372036854775808,3,-3074457345618258602,-2,1",
            "UINT64,-1,10,1844674407370955161,5,5", "UINT8,200,7,28,4,4"})
    void quotientsOfWholeNumbersAreTruncated(DType dtype, long x, long y, long quotient, long remainder,
            long modulo) {
        Tensor a = Tensor.of(dtype, new long[]{x}, 1);
        Tensor b = Tensor.of(dtype, new long[]{y}, 1);
        assertEquals(quotient, OneOperator.of(ELEMENTWISE, "Div", 14).run(a, b).getLong(0));
        assertEquals(remainder,
                OneOperator.of(ELEMENTWISE, "Mod", 13).integer("fmod", 1).run(a, b).getLong(0));
        assertEquals(modulo, OneOperator.of(ELEMENTWISE, "Mod", 13).run(a, b).getLong(0));
    }

    /** All zeros have a scale of 1; the least range has its own. */
    @Test
    void rangesOfLevelsAreThoseOfTheNumbers() {
        float[] ranges = {0, 0x1p-140f, 0x1p-126f, 1, 3.3e38f};
        for (float most : ranges) {
            List<Tensor> results = OneOperator.of(QuantizationOperators::register, "DynamicQuantizeLinear", 11)
                    .runAll(3, floats(dims(3), 0, most, most));
            float scale = most == 0 ? 1 : most / 255;
            assertEquals(scale, results.get(1).toFloatArray()[0], "range " + most);
            assertEquals(0, results.get(2).getLong(), "range " + most);
            long level = (long) Math.clamp(Math.rint(most / scale), 0, 255);
            assertArrayEquals(new long[]{0, level, level}, results.get(0).toLongArray(), "range " + most);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void powersHaveTheTypeOfTheBase(boolean constant) {
        Tensor base = Tensor.of(DType.INT32, new long[]{2, 9, 3}, 3);
        OneOperator power = OneOperator.of(ELEMENTWISE, "Pow", 15);
        OneOperator used = constant ? power.withConstants() : power;
        Tensor roots = used.run(base, floats(dims(3), 0.5f, 0.5f, 2));
        assertEquals(DType.INT32, roots.dtype());
        assertArrayEquals(new long[]{1, 3, 9}, roots.toLongArray());
        assertArrayEquals(new long[]{8, 729, 27},
                used.run(base, Tensor.of(DType.UINT64, new long[]{3, 3, 3}, 3)).toLongArray());
        assertArrayEquals(new float[]{2.25f, 4, 0.25f},
                used.run(floats(dims(3), 1.5f, 2, 0.5f), Tensor.of(new long[]{2, 2, 2}, 3)).toFloatArray());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theLargestBoundCounts(boolean constant) {
        OneOperator clip = OneOperator.of(ELEMENTWISE, "Clip", 13);
        OneOperator used = constant ? clip.withConstants() : clip;
        Tensor x = floats(dims(4), -5, 0, Float.NaN, 5);
        float[] clipped = used.run(x, Tensor.of(new float[]{2}), Tensor.of(new float[]{1})).toFloatArray();
        assertArrayEquals(new float[]{1, 1, Float.NaN, 1}, clipped);
        Tensor whole = Tensor.of(new long[]{Long.MIN_VALUE, 5, Long.MAX_VALUE}, 3);
        assertArrayEquals(new long[]{Long.MIN_VALUE, 5, Long.MAX_VALUE - 1},
                used.run(whole, null, Tensor.of(DType.INT64, new long[]{Long.MAX_VALUE - 1})).toLongArray());
        assertArrayEquals(new float[]{-1, 0, Float.NaN, 2},
                OneOperator.of(ELEMENTWISE, "Clip", 6).real("min", -1).real("max", 2).run(x).toFloatArray());
    }

    @ParameterizedTest
    @CsvSource({"1,1,1,1", "1,0,1,0", "0,1,0,1", "0,0,0,0"})
    void infinitiesAreFoundBySign(int positive, int negative, long ofPositive, long ofNegative) {
        Tensor x = floats(dims(4), Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN, 1);
        assertArrayEquals(new long[]{ofPositive, ofNegative, 0, 0},
                OneOperator.of(ELEMENTWISE, "IsInf", 20).integer("detect_positive", positive)
                        .integer("detect_negative", negative).run(x).toLongArray());
    }

    @Test
    void conditionsBroadcast() {
        Tensor condition = Tensor.of(DType.BOOL, new long[]{1, 0}, 2, 1);
        Tensor chosen = OneOperator.of(ELEMENTWISE, "Where", 16).run(condition,
                Tensor.of(DType.UINT64, new long[]{1, 2, 3}, 3), Tensor.of(DType.UINT64, new long[]{-1}));
        assertArrayEquals(dims(2, 3), chosen.shape().dims());
        assertArrayEquals(new long[]{1, 2, 3, -1, -1, -1}, chosen.toLongArray());
    }

    /** ONNX Runtime's numbers; the sizes of the data are values of the run. */
    @Test
    void elementsOfBatchesOfUnknownSizes() {
        double[] x = new double[24];
        Arrays.setAll(x, i -> i);
        Tensor y = OneOperator.of(IndexOperators::register, "GatherND", 13).integer("batch_dims", 1)
                .withUnknownDimensions().withConstants().run(Tensor.of(DType.FLOAT32, x, 2, 3, 4),
                        Tensor.of(new long[]{1, -1}, 2, 1, 1));
        assertArrayEquals(new long[]{2, 1, 4}, y.shape().dims());
        assertArrayEquals(new double[]{4, 5, 6, 7, 20, 21, 22, 23}, y.toDoubleArray());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noneOfTheLargest(boolean isKnown) {
        OneOperator top = OneOperator.of(OrderOperators::register, "TopK", 11).integer("axis", 1);
        List<Tensor> results = (isKnown ? top.withConstants() : top).runAll(2, Tensor.of(new float[14], 2, 7),
                Tensor.of(new long[]{0}, 1));
        results.forEach(result -> assertArrayEquals(new long[]{2, 0}, result.shape().dims()));
    }

    /** Detectors pad their boxes with empty regions. The numbers are ONNX Runtime's. */
    @ParameterizedTest
    @CsvSource({"FLOAT", "DOUBLE"})
    void emptyRegionsAreZero(String type) {
        DType dtype = type.equals("FLOAT") ? DType.FLOAT32 : DType.FLOAT64;
        double[] regions = {1, 1, 1, 2, 0, 0, 0, 0, 1, 1, 3, 3, 2, 2, 1, 1, 3, 3, 0, 0, 2, 2, 3, 1};
        Tensor images = Tensor.of(new long[]{1, 0, 0, 1, 0, 1}, 6);
        double[] x = new double[32];
        Arrays.setAll(x, i -> i < 16 ? i : Double.NaN);
        Tensor aligned = OneOperator.of(RegionOperators::register, "RoiAlign", 16).integer("output_height", 2)
                .integer("output_width", 2).run(Tensor.of(dtype, x, 2, 1, 4, 4), Tensor.of(dtype, regions, 6, 4),
                        images);
        double[] expected = new double[24];
        System.arraycopy(new double[]{5, 6, 9, 10}, 0, expected, 8, 4);
        assertArrayEquals(expected, aligned.toDoubleArray());
        // With a given number of samples no region is empty.
        double[] sampled = OneOperator.of(RegionOperators::register, "RoiAlign", 16).integer("output_height", 2)
                .integer("output_width", 2).integer("sampling_ratio", 2)
                .run(Tensor.of(dtype, Arrays.copyOf(x, 16), 1, 1, 4, 4),
                        Tensor.of(dtype, new double[]{2, 2, 1, 1}, 1, 4),
                        Tensor.of(new long[1], 1))
                .toDoubleArray();
        assertArrayEquals(new double[]{6.25, 5.75, 4.25, 3.75}, sampled, 1e-6);
    }

    /** Until version 12 all axes from one on are a row. */
    @ParameterizedTest
    @ValueSource(strings = {"Softmax", "LogSoftmax", "Hardmax"})
    void formerRowsHaveSeveralAxes(String type) {
        float[] values = random(24);
        float[] flat = OneOperator.of(ACTIVATIONS, type, 13).integer("axis", 1).run(floats(dims(2, 12), values))
                .toFloatArray();
        Tensor former = OneOperator.of(ACTIVATIONS, type, 11).integer("axis", 1).run(floats(dims(2, 3, 4), values));
        assertArrayEquals(dims(2, 3, 4), former.shape().dims());
        assertArrayEquals(flat, former.toFloatArray());
        assertArrayEquals(flat, OneOperator.of(ACTIVATIONS, type, 11).run(floats(dims(2, 3, 4), values))
                .toFloatArray());
    }

    @Test
    void slopesMayBeOfAnyShapeAndType() {
        Tensor x = Tensor.of(DType.INT32, new long[]{-1, 2, -3, 4}, 2, 2);
        assertArrayEquals(new long[]{-5, 2, -21, 4},
                OneOperator.of(ACTIVATIONS, "PRelu", 16).run(x, Tensor.of(DType.INT32, new long[]{5, 7}, 2, 1))
                        .toLongArray());
        Tensor images = floats(dims(1, 2, 2), -1, 2, -3, 4);
        assertArrayEquals(new float[]{-0.5f, 2, -0.75f, 4}, OneOperator.of(ACTIVATIONS, "PRelu", 6)
                .run(images, floats(dims(2), 0.5f, 0.25f)).toFloatArray());
        assertArrayEquals(new float[]{-0.5f, 2, -0.75f, 4}, OneOperator.of(ACTIVATIONS, "PRelu", 6)
                .withUnknownDimensions()
                .run(images, floats(dims(2), 0.5f, 0.25f)).toFloatArray());
        assertArrayEquals(new float[]{-0.5f, 2, -0.75f, 4}, OneOperator.of(ACTIVATIONS, "PRelu", 9)
                .run(images, floats(dims(2, 1), 0.5f, 0.25f)).toFloatArray());
        assertArrayEquals(new float[]{-0.5f, 2, -1.5f, 4}, OneOperator.of(ACTIVATIONS, "PRelu", 9)
                .run(images, floats(dims(2), 0.5f, 0.25f)).toFloatArray());
    }

    @Test
    void slopesMayHaveUnknownDimensions() {
        Tensor images = floats(dims(1, 2, 2), -1, 2, -3, 4);
        for (Tensor slopes : List.of(floats(dims(2, 2), 0.5f, 1, 0.25f, 1), floats(dims(2, 1), 0.5f, 0.25f))) {
            assertArrayEquals(new float[]{-0.5f, 2, -0.75f, 4}, OneOperator.of(ACTIVATIONS, "PRelu", 9)
                    .withUnknownDimensions().run(images, slopes).toFloatArray());
        }
    }

    @Test
    void formerRowsMayHaveUnknownDimensions() {
        float[] values = random(24);
        for (String type : List.of("Softmax", "LogSoftmax", "Hardmax")) {
            assertArrayEquals(
                    OneOperator.of(ACTIVATIONS, type, 11).run(floats(dims(2, 3, 4), values)).toFloatArray(),
                    OneOperator.of(ACTIVATIONS, type, 11).withUnknownDimensions()
                            .run(floats(dims(2, 3, 4), values)).toFloatArray());
        }
        Tensor x = floats(dims(2, 4), 1, 3, 3, 0, 2, 2, 1, 2);
        assertArrayEquals(new long[]{2, 3}, OneOperator.of(REDUCTIONS, "ArgMax", 13).integer("axis", -1)
                .integer("select_last_index", 1).withUnknownDimensions().run(x).toLongArray());
    }

    @Test
    void theLastExtremeIsFoundInReverse() {
        Tensor x = floats(dims(2, 4), 1, 3, 3, 0, 2, 2, 1, 2);
        assertArrayEquals(new long[]{2, 3}, OneOperator.of(REDUCTIONS, "ArgMax", 13).integer("axis", -1)
                .integer("select_last_index", 1).integer("keepdims", 0).run(x).toLongArray());
        assertArrayEquals(new long[]{1, 0}, OneOperator.of(REDUCTIONS, "ArgMax", 13).integer("axis", -1)
                .integer("keepdims", 0).run(x).toLongArray());
    }

    /** Where axes are an attribute, a constant or an operand, they give the same. */
    @ParameterizedTest
    @ValueSource(strings = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
            "ReduceLogSumExp", "ReduceSumSquare"})
    void axesMayBeGivenInThreeWays(String type) {
        Tensor x = floats(dims(2, 3, 4), random(24));
        Tensor axes = Tensor.of(new long[]{-1, 0}, 2);
        float[] former = OneOperator.of(REDUCTIONS, type, 11).integers("axes", -1L, 0L).integer("keepdims", 0).run(x)
                .toFloatArray();
        assertEquals(3, former.length);
        assertArrayEquals(former,
                OneOperator.of(REDUCTIONS, type, 18).integer("keepdims", 0).run(x, axes).toFloatArray(), 1e-5f);
        assertArrayEquals(former, OneOperator.of(REDUCTIONS, type, 18).integer("keepdims", 0).withConstants()
                .run(x, axes).toFloatArray(), 1e-5f);
        long[] whole = OneOperator.of(REDUCTIONS, type, 18).integer("keepdims", 0)
                .run(Tensor.of(DType.UINT8, new long[]{3, 200, 100, 250}, 2, 2), Tensor.of(new long[]{1}, 1))
                .toLongArray();
        assertArrayEquals(ofBytes(type), whole);
    }

    /** Of 3 and 200, and of 100 and 250, in 8 bits. */
    private static long[] ofBytes(String type) {
        return switch (type) {
            case "ReduceMean" -> dims(101, 175);
            case "ReduceMax" -> dims(200, 250);
            case "ReduceMin" -> dims(3, 100);
            case "ReduceProd" -> dims(600 % 256, 25000 % 256);
            case "ReduceL2" -> dims((long) Math.sqrt(40009), (long) Math.sqrt(72500) % 256);
            case "ReduceLogSumExp" -> dims(200, 250);
            case "ReduceSumSquare" -> dims(40009 % 256, 72500 % 256);
            default -> dims(203, 350 % 256);
        };
    }

    @Test
    void activationsOfOnnxRuntimeTakeABias() {
        float[] x = random(6);
        float[] bias = random(3);
        float[] sums = new float[6];
        for (int i = 0; i < 6; i++) {
            sums[i] = x[i] + bias[i % 3];
        }
        for (String type : List.of("BiasGelu", "FastGelu")) {
            float[] got = fused(type).run(floats(dims(2, 3), x), floats(dims(3), bias)).toFloatArray();
            float[] plain = OneOperator.of(ACTIVATIONS, "Gelu", 20)
                    .text("approximate", type.equals("FastGelu") ? "tanh" : "none").run(floats(dims(2, 3), sums))
                    .toFloatArray();
            assertArrayEquals(plain, got, 1e-6f, type);
        }
        float[] quick = fused("QuickGelu").real("alpha", 1.5).run(floats(dims(6), x)).toFloatArray();
        for (int i = 0; i < 6; i++) {
            assertEquals(x[i] / (1 + Math.exp(-1.5 * x[i])), quick[i], 1e-6);
        }
    }

    private static OneOperator fused(String type) {
        return new OneOperator(FUSED, Registry.MICROSOFT, type, 1);
    }

    /** A batch whose matrices' rows are the first axis. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void productsMayHaveTheBatchInside(boolean transposed) {
        float[] x = random(12);
        float[] y = random(16);
        // x is [rows, batch, inner] or [inner, batch, rows]; y is [batch, inner, columns].
        Tensor product = fused("FusedMatMul").integer("transBatchA", 1).integer("transA", transposed ? 1 : 0)
                .real("alpha", 0.5)
                .run(floats(transposed ? dims(2, 2, 3) : dims(3, 2, 2), x), floats(dims(2, 2, 4), y));
        assertArrayEquals(dims(2, 3, 4), product.shape().dims());
        for (int batch = 0; batch < 2; batch++) {
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 4; j++) {
                    double sum = 0;
                    for (int k = 0; k < 2; k++) {
                        double factor = transposed ? x[(k * 2 + batch) * 3 + i] : x[(i * 2 + batch) * 2 + k];
                        sum += factor * y[(batch * 2 + k) * 4 + j];
                    }
                    assertEquals(sum / 2, product.getDouble(batch, i, j), 1e-5);
                }
            }
        }
    }

    @Test
    void randomNumbersHaveTheirTypeShapeAndMoments() {
        Tensor normal = OneOperator.of(CREATION, "RandomNormal", 22).integers("shape", 100L, 200L).real("mean", 3)
                .real("scale", 2).integer("dtype", 11).run();
        assertEquals(DType.FLOAT64, normal.dtype());
        assertArrayEquals(dims(100, 200), normal.shape().dims());
        assertMoments(normal, 3, 4);
        Tensor like = Tensor.of(DType.FLOAT16, new double[20000], 40, 500);
        Tensor uniform = OneOperator.of(CREATION, "RandomUniformLike", 22).real("low", -1).real("high", 2).run(like);
        assertEquals(DType.FLOAT16, uniform.dtype());
        assertMoments(uniform, 0.5, 0.75);
        Tensor probabilities = Tensor.of(DType.FLOAT32, filled(20000, 0.25), 20000);
        Tensor drawn = OneOperator.of(CREATION, "Bernoulli", 22).integer("dtype", 7).run(probabilities);
        assertEquals(DType.INT64, drawn.dtype());
        assertMoments(drawn, 0.25, 0.25 * 0.75);
        Tensor classes = OneOperator.of(CREATION, "Multinomial", 22).integer("sample_size", 20000)
                .run(floats(dims(1, 2), (float) Math.log(3), 0));
        assertEquals(DType.INT32, classes.dtype());
        assertArrayEquals(dims(1, 20000), classes.shape().dims());
        assertMoments(classes, 0.25, 0.25 * 0.75);
    }

    private static double[] filled(int count, double value) {
        double[] values = new double[count];
        Arrays.fill(values, value);
        return values;
    }

    /** Mean and variance within six standard errors or so. */
    private static void assertMoments(Tensor numbers, double mean, double variance) {
        double[] values = numbers.toDoubleArray();
        double sum = 0;
        double squares = 0;
        for (double value : values) {
            sum += value;
            squares += (value - mean) * (value - mean);
        }
        assertEquals(mean, sum / values.length, 6 * Math.sqrt(variance / values.length));
        assertEquals(variance, squares / values.length, 0.06 * variance);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RandomNormalLike", "RandomUniformLike", "Bernoulli"})
    void oneSeedGivesTheSameNumbers(String type) {
        Tensor like = floats(dims(50), random(50));
        float[] first = OneOperator.of(CREATION, type, 22).real("seed", 1.5).run(like).toFloatArray();
        assertArrayEquals(first, OneOperator.of(CREATION, type, 22).real("seed", 1.5).run(like).toFloatArray());
        assertArrayEquals(OneOperator.of(CREATION, type, 22).real("seed", 0).run(like).toFloatArray(),
                OneOperator.of(CREATION, type, 22).real("seed", 0).run(like).toFloatArray());
    }

    private static void assertFails(OneOperator operator, String part, Tensor... operands) {
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> operator.run(operands)).getMessage());
        assertTrue(message.contains(part), message);
    }

    /** The smallest index is that by which kernels say that no row is padding. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, Long.MIN_VALUE + 2, -3, 2, Long.MAX_VALUE})
    void indexesLieWithinTheirAxis(long index) {
        Tensor x = floats(dims(2, 2), 1, 2, 3, 4);
        Tensor indexes = Tensor.of(new long[]{index, 0}, 1, 2);
        assertFails(OneOperator.of(IndexOperators::register, "Gather", 13), "must be from 0 to 1", x, indexes);
        assertFails(OneOperator.of(IndexOperators::register, "Gather", 13).withConstants(), "must be from 0 to 1", x,
                Tensor.of(new long[]{index, 0}, 1, 2));
        assertFails(OneOperator.of(IndexOperators::register, "GatherElements", 13), "", x, indexes);
        assertFails(OneOperator.of(IndexOperators::register, "ScatterElements", 18), "", x, indexes,
                floats(dims(1, 2), 5, 6));
        assertFails(OneOperator.of(IndexOperators::register, "TensorScatter", 24).integer("axis", 1), "do not fit",
                floats(dims(1, 2), 1, 2), floats(dims(1, 1), 1), Tensor.of(new long[]{index}, 1));
    }

    @Test
    void indexesAreWholeNumbers() {
        assertFails(OneOperator.of(IndexOperators::register, "Gather", 13), "Gather", floats(dims(2), 1, 2),
                floats(dims(1), 1));
    }

    /** Ones, averaged over 3 elements, moved by 2: as ONNX Runtime 1.32 counts padding. */
    @ParameterizedTest
    @CsvSource({"4,0 1,1 .6666667", "4,1 2,.6666667 1 .3333333", "4,2 1,.3333333 1 .6666667", "4,1 0,.6666667 1",
            "4,SAME_UPPER,1 .6666667", "4,SAME_LOWER,.6666667 1", "5,SAME_UPPER,.6666667 1 .6666667"})
    void averagesCountThePaddingThatThereIs(int length, String pads, String wanted) {
        float[] ones = new float[length];
        Arrays.fill(ones, 1);
        float[] want = new float[wanted.split(" ", -1).length];
        for (int i = 0; i < want.length; i++) {
            want[i] = Float.parseFloat(wanted.split(" ", -1)[i]);
        }
        for (boolean open : new boolean[]{false, true}) {
            OneOperator average = OneOperator.of(PoolingOperators::register, "AveragePool", 11)
                    .integers("kernel_shape", 3L).integers("strides", 2L).integer("count_include_pad", 1);
            if (pads.startsWith("SAME")) {
                average.text("auto_pad", pads);
            } else {
                average.integers("pads", Arrays.stream(pads.split(" ", -1)).map(Long::valueOf).toArray(Long[]::new));
            }
            if (open) {
                average.withUnknownDimensions();
            }
            assertArrayEquals(want, average.run(Tensor.of(ones, 1, 1, length)).toFloatArray(), 1e-6f, "open " + open);
        }
    }
}
