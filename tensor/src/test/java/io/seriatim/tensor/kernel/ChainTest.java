package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Chain.Apply;
import io.seriatim.tensor.computation.Chain.Cast;
import io.seriatim.tensor.computation.Chain.Combine;
import io.seriatim.tensor.computation.Chain.Grad;
import io.seriatim.tensor.computation.Chain.Select;
import io.seriatim.tensor.computation.Chain.Step;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Chains against their steps, one by one. */
class ChainTest {
    private static final long SEED = 20261204;
    private static final int CHAINS_PER_SEED = 40;
    private static final float[] SPECIAL = {0f, -0f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE,
            -Float.MIN_NORMAL, Float.MAX_VALUE};
    private static final long[][] SHAPES = {{}, {1}, {0, 4}, {7}, {16}, {65}, {1100}, {13, 21}, {3, 5, 70}, {40, 3},
            {4, 700}};
    private static final DType[] TYPES = {DType.FLOAT32, DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16, DType.FLOAT16};
    private static final DType[] RESULTS = {DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16, DType.FLOAT16, DType.INT8,
            DType.UINT8, DType.INT32};
    private static final List<Unary.Function> FUNCTIONS = List.of(Unary.Function.values());
    private static final List<Binary.Function> BINARY = List.of(Binary.Function.values());
    private static final Unary RELU = Unary.of(Unary.Function.RELU);

    /** A chain and what goes in. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Case(Chain chain, Tensor[] inputs) {
        @Override
        public String toString() {
            return chain + " of " + Arrays.stream(inputs).map(Tensor::spec).toList();
        }
    }

    static LongStream seeds() {
        return LongStream.range(SEED, SEED + 25);
    }

    private static Tensor numbers(DType dtype, SplittableRandom random, long... dims) {
        double[] values = new double[(int) Shape.of(dims).size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = switch (dtype) {
                case BOOL -> random.nextInt(2);
                case INT8 -> random.nextInt(-128, 128);
                case UINT8 -> random.nextInt(256);
                case INT16 -> random.nextInt(-30000, 30000);
                case UINT16 -> random.nextInt(60000);
                case INT32 -> random.nextInt();
                default -> random.nextInt(9) == 0 ? SPECIAL[random.nextInt(SPECIAL.length)] : random.nextDouble(-3, 3);
            };
        }
        return Tensor.of(dtype, values, dims);
    }

    /** Of a shape that broadcasts to another: some dimensions are 1, leading ones may be left out. */
    private static long[] part(long[] dims, SplittableRandom random) {
        long[] part = Arrays.copyOfRange(dims, dims.length == 0 ? 0 : random.nextInt(dims.length), dims.length);
        for (int i = 0; i < part.length; i++) {
            part[i] = random.nextBoolean() ? 1 : part[i];
        }
        return part;
    }

    /** Dense, or every other element, or across. */
    private static Tensor view(Tensor dense, SplittableRandom random) {
        long[] dims = dense.shape().dims();
        if (dims.length != 2 || dense.shape().size() == 0 || random.nextBoolean()) {
            return dense;
        }
        Tensor across = Tensor.allocate(dense.dtype(), dims[1], dims[0]);
        KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{across}, dense.transpose());
        return across.transpose();
    }

    private static Case random(SplittableRandom random) {
        while (true) {
            long[] dims = SHAPES[random.nextInt(SHAPES.length)];
            DType main = TYPES[random.nextInt(TYPES.length)];
            List<Tensor> inputs = new ArrayList<>(List.of(view(numbers(main, random, dims), random)));
            while (random.nextInt(3) != 0 && inputs.size() < 5) {
                DType[] others = {main, main, main, TYPES[random.nextInt(TYPES.length)], DType.BOOL, DType.INT8,
                        DType.UINT8, DType.INT16, DType.UINT16, DType.INT32};
                DType dtype = others[random.nextInt(others.length)];
                inputs.add(view(numbers(dtype, random, random.nextBoolean() ? dims : part(dims, random)), random));
            }
            Tensor[] given = inputs.toArray(Tensor[]::new);
            List<Step> steps = steps(given, random);
            List<Integer> outputs = new ArrayList<>();
            TensorSpec[] values = steps.isEmpty() ? new TensorSpec[0] : chain(given.length, steps).values(specs(given));
            for (int i = given.length; i < values.length; i++) {
                if (values[i].shape().equals(Shape.of(dims)) && (outputs.isEmpty() || random.nextInt(3) == 0)) {
                    outputs.addFirst(i);
                }
            }
            if (!outputs.isEmpty()) {
                return new Case(new Chain(given.length, steps, outputs), given);
            }
        }
    }

    private static Chain chain(int inputs, List<Step> steps) {
        return Chain.of(inputs, steps.toArray(Step[]::new));
    }

    private static TensorSpec[] specs(Tensor... tensors) {
        return Arrays.stream(tensors).map(Tensor::spec).toArray(TensorSpec[]::new);
    }

    private static List<Step> steps(Tensor[] given, SplittableRandom random) {
        List<Step> steps = new ArrayList<>();
        int wanted = random.nextInt(1, 9);
        for (int attempts = 0; steps.size() < wanted && attempts < 300; attempts++) {
            List<Step> longer = new ArrayList<>(steps);
            longer.add(step(given.length + steps.size(), random));
            try {
                chain(given.length, longer).values(specs(given));
                steps = longer;
            } catch (IllegalArgumentException e) {
                assertTrue(String.valueOf(e.getMessage()).startsWith("chain: "), e.getMessage());
            }
        }
        return steps;
    }

    private static Step step(int values, SplittableRandom random) {
        int x = random.nextInt(values);
        int y = random.nextInt(values);
        Unary unary = new Unary(FUNCTIONS.get(random.nextInt(FUNCTIONS.size())), 0.3f, 0.7f);
        return switch (random.nextInt(5)) {
            case 0 -> new Apply(unary, x);
            case 1 -> new Combine(BINARY.get(random.nextInt(BINARY.size())), x, y);
            case 2 -> new Grad(UnaryGrad.of(unary.function().isTest() ? RELU : unary), x,
                    random.nextBoolean() ? y : Chain.ABSENT,
                    random.nextInt(values));
            case 3 -> new Cast(RESULTS[random.nextInt(RESULTS.length)], x);
            default -> new Select(random.nextInt(values), x, y);
        };
    }

    private static Tensor[] oneByOne(Kernels kernels, Case one) {
        List<Tensor> values = new ArrayList<>(List.of(one.inputs()));
        for (Step step : one.chain().steps()) {
            List<@Nullable Tensor> operands = new ArrayList<>();
            step.operands().forEach(number -> operands.add(number == Chain.ABSENT ? null : values.get(number)));
            Computation computation = switch (step) {
                case Apply(var function, var _) -> function;
                case Combine(var function, var _, var _) -> Binary.of(function);
                case Grad(var gradient, var _, var _, var _) -> gradient;
                case Cast(var to, var _) -> new Copy(to);
                case Select _ -> new Where();
            };
            values.add(KernelRun.run(kernels, computation, operands.toArray(Tensor[]::new))[0]);
        }
        return one.chain().outputs().stream().map(values::get).toArray(Tensor[]::new);
    }

    private static void same(String what, Tensor[] expected, Tensor[] got) {
        assertEquals(expected.length, got.length, what);
        for (int i = 0; i < got.length; i++) {
            assertEquals(expected[i].spec(), got[i].spec(), what + ", output " + i);
            // Equal as objects: signs of zeros count, payloads of NaNs do not.
            double[] right = expected[i].toDoubleArray();
            double[] chained = got[i].toDoubleArray();
            int other = Arrays.mismatch(right, chained);
            if (other >= 0) {
                fail(what + ", output " + i + ": element " + other + " is " + chained[other] + ", the step's "
                        + right[other]);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void givesWhatItsStepsGive(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < CHAINS_PER_SEED; i++) {
            Case one = random(random);
            String what = one + ", seed " + seed + " number " + i;
            Tensor[] expected = oneByOne(Kernels.portable(), one);
            same(what, expected, KernelRun.run(Kernels.portable(), one.chain(), one.inputs()));
            inPlace(what, one, expected);
        }
    }

    /** One loop computes them; every order of steps that is nearly one must give what its steps give, too. */
    @ParameterizedTest
    @MethodSource("seeds")
    void quantizationsGiveWhatTheirStepsGive(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < CHAINS_PER_SEED; i++) {
            long[] dims = SHAPES[random.nextInt(SHAPES.length)];
            double size = Math.scalb(1.0, random.nextInt(4, 34));
            double[] values = numbers(DType.FLOAT32, random, dims).toDoubleArray();
            for (int k = 0; k < values.length; k++) {
                // Some lie halfway between two levels.
                values[k] = random.nextInt(4) == 0 ? Math.rint(values[k] * size) / 2 : values[k] * size;
            }
            boolean signed = random.nextBoolean();
            double zero = switch (random.nextInt(6)) {
                case 0 -> 3e6;
                case 1 -> Double.NaN;
                default -> random.nextInt(256);
            };
            Tensor[] inputs = {Tensor.of(DType.FLOAT32, values, dims),
                    Tensor.of(DType.FLOAT32, new double[]{2}),
                    Tensor.of(DType.FLOAT32, new double[]{zero}), numbers(DType.UINT8, random)};
            if (dims.length > 1 && random.nextBoolean()) {
                inputs[1] = numbers(DType.FLOAT32, random, Arrays.copyOfRange(dims, dims.length - 1, dims.length));
            }
            Case one = new Case(quantization(random, signed), inputs);
            String what = one + ", seed " + seed + " number " + i;
            Tensor[] expected = oneByOne(Kernels.portable(), one);
            same(what, expected, KernelRun.run(Kernels.portable(), one.chain(), one.inputs()));
            inPlace(what, one, expected);
        }
    }

    private static Chain quantization(SplittableRandom random, boolean signed) {
        List<Step> steps = new ArrayList<>(List.of(new Cast(DType.FLOAT32, 3)));
        int last = 0;
        if (random.nextInt(4) != 0) {
            steps.add(new Combine(Binary.Function.DIVIDE, last, 1));
            last = 3 + steps.size();
        }
        steps.add(new Apply(Unary.of(Unary.Function.ROUND), last));
        last = 3 + steps.size();
        if (random.nextInt(4) != 0) {
            steps.add(new Combine(Binary.Function.ADD, last, random.nextInt(3) == 0 ? 4 : 2));
            last = 3 + steps.size();
        }
        int shifted = last;
        float least = signed ? -128 : 0;
        float most = random.nextInt(5) == 0 ? 100.5f : signed ? 127 : 255;
        steps.add(new Apply(new Unary(Unary.Function.CLIP, least, most), last));
        steps.add(new Cast(signed ? DType.INT8 : DType.UINT8, 3 + steps.size()));
        int levels = 3 + steps.size();
        steps.add(new Cast(DType.FLOAT32, levels));
        steps.add(new Combine(Binary.Function.MULTIPLY, 3 + steps.size(), 1));
        int result = 3 + steps.size();
        return new Chain(4, steps, switch (random.nextInt(4)) {
            case 0 -> List.of(levels, result);
            case 1 -> List.of(result);
            case 2 -> List.of(levels, shifted);
            default -> List.of(levels);
        });
    }

    /** Zero points are subtracted from sums of levels, which then become numbers; sums may overflow. */
    @ParameterizedTest
    @MethodSource("seeds")
    void sumsGiveWhatTheirStepsGive(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < CHAINS_PER_SEED; i++) {
            long[] dims = SHAPES[random.nextInt(SHAPES.length)];
            Tensor[] inputs = {view(numbers(DType.INT32, random, dims), random),
                    view(numbers(DType.INT32, random, part(dims, random)), random), numbers(DType.UINT8, random),
                    numbers(DType.FLOAT32, random, part(dims, random))};
            Binary.Function last = random.nextBoolean() ? Binary.Function.ADD : Binary.Function.SUBTRACT;
            List<Step> steps = List.of(new Cast(DType.INT32, 2), new Combine(Binary.Function.MULTIPLY, 1, 4),
                    new Combine(last, 0, 5), new Cast(DType.FLOAT32, 6), new Combine(Binary.Function.MULTIPLY, 7, 3));
            Case one = new Case(new Chain(4, steps, random.nextBoolean() ? List.of(8) : List.of(6, 8)), inputs);
            String what = one + ", seed " + seed + " number " + i;
            Tensor[] expected = oneByOne(Kernels.portable(), one);
            same(what, expected, KernelRun.run(Kernels.portable(), one.chain(), one.inputs()));
            inPlace(what, one, expected);
        }
    }

    private static void inPlace(String what, Case one, Tensor[] expected) {
        TensorSpec[] all = new TensorSpec[one.inputs().length + expected.length];
        System.arraycopy(specs(one.inputs()), 0, all, 0, one.inputs().length);
        System.arraycopy(specs(expected), 0, all, one.inputs().length, expected.length);
        for (int input = 0; input < one.inputs().length; input++) {
            if (one.chain().inPlace(input, all)) {
                Tensor[] inputs = one.inputs().clone();
                Tensor copy = Tensor.allocate(Devices.system().host(), inputs[input].spec());
                MemorySegment.copy(inputs[input].memory(), inputs[input].offset(), copy.memory(), 0,
                        copy.spec().bytes());
                inputs[input] = copy;
                Tensor[] outputs = specsToTensors(expected);
                outputs[0] = copy;
                KernelRun.into(Kernels.portable(), one.chain(), outputs, inputs);
                same(what + ", in place of input " + input, expected, outputs);
            }
        }
    }

    private static Tensor[] specsToTensors(Tensor[] like) {
        return Arrays.stream(like).map(tensor -> Tensor.allocate(Devices.system().host(), tensor.spec()))
                .toArray(Tensor[]::new);
    }

    /** More than plain Java is used for in single steps. */
    @Test
    void exactOnesGiveWhatTheLibraryGives() {
        SplittableRandom random = new SplittableRandom(SEED);
        Tensor x = numbers(DType.FLOAT32, random, 130, 421);
        Tensor row = numbers(DType.FLOAT32, random, 421);
        Tensor column = numbers(DType.FLOAT32, random, 130, 1);
        Tensor y = numbers(DType.FLOAT32, random, 130, 421);
        Chain chain = new Chain(4,
                List.of(new Combine(Binary.Function.ADD, 0, 1), new Combine(Binary.Function.MULTIPLY, 4, 2),
                        new Apply(RELU, 5), new Combine(Binary.Function.DIVIDE, 6, 3),
                        new Apply(new Unary(Unary.Function.LINEAR, 1.5f, 0), 7),
                        new Combine(Binary.Function.SUBTRACT, 0, 8), new Apply(Unary.of(Unary.Function.SQRT), 9),
                        new Cast(DType.FLOAT16, 10),
                        new Cast(DType.FLOAT32, 11)),
                List.of(12, 6, 10));
        assertTrue(chain.isExact(x.spec(), row.spec(), column.spec(), y.spec()));
        Case one = new Case(chain, new Tensor[]{x, row, column, y});
        same("large, seed " + SEED, oneByOne(Kernels.system(), one),
                KernelRun.run(Kernels.system(), chain, one.inputs()));
    }

    @Test
    void saysWhatIsExactAndCheap() {
        TensorSpec x = TensorSpec.of(DType.FLOAT32, 4);
        Chain chain = Chain.of(1, new Apply(RELU, 0), new Apply(Unary.of(Unary.Function.TANH), 1),
                new Combine(Binary.Function.POWER, 2, 1));
        assertTrue(chain.isExact(0, x));
        assertFalse(chain.isExact(1, x));
        assertTrue(chain.isExact(2, x));
        assertFalse(chain.isExact(x));
        assertTrue(chain.isExact(x.with(DType.FLOAT64)), "only plain Java computes float64");
        assertEquals(List.of(true, false, false), chain.steps().stream().map(Chain::isCheap).toList());
        assertTrue(Chain.isCheap(new Grad(UnaryGrad.of(RELU), 0, Chain.ABSENT, 1)));
        Grad ofResult = new Grad(UnaryGrad.of(Unary.of(Unary.Function.TANH)), Chain.ABSENT, 0, 1);
        assertTrue(Chain.isCheap(ofResult));
        assertFalse(Chain.isCheap(new Grad(ofResult.gradient(), 0, Chain.ABSENT, 1)));
        assertTrue(Chain.isCheap(new Cast(DType.FLOAT64, 0)));
        assertTrue(Chain.isCheap(new Select(0, 1, 2)));
    }

    @Test
    void refusesWhatDoesNotFit() {
        TensorSpec x = TensorSpec.of(DType.FLOAT32, 4, 3);
        Step relu = new Apply(RELU, 0);
        refused(() -> Chain.of(0, relu), "chain", "an input", "0");
        refused(() -> new Chain(1, List.of(), List.of(0)), "a step");
        refused(() -> Chain.of(1, new Apply(RELU, 1)), "step 0", "from 0 to 0");
        refused(() -> Chain.of(1, new Combine(Binary.Function.ADD, 0, Chain.ABSENT)), "step 0", "from 0 to 0");
        refused(() -> Chain.of(1, new Grad(UnaryGrad.of(RELU), 0, 0, Chain.ABSENT)), "step 0");
        refused(() -> new Chain(1, List.of(relu), List.of(0)), "result of a step", "0");
        refused(() -> new Chain(1, List.of(relu), List.of(1, 1)), "once", "[1, 1]");
        refused(() -> new Chain(1, List.of(relu), List.of()), "output");
        refused(() -> Chain.of(31, relu, relu), "32", "31");
        refused(() -> Chain.of(1, relu).infer(), "chain", "1");
        refused(() -> Chain.of(2, new Combine(Binary.Function.ADD, 0, 1)).infer(x, TensorSpec.of(DType.FLOAT32, 5)),
                "chain", "step 0",
                "[5]");
        refused(() -> Chain.of(2, new Combine(Binary.Function.ADD, 0, 1)).infer(x, x.with(DType.FLOAT64)), "step 0",
                "float64");
        refused(() -> Chain.of(1, relu).infer(x.with(DType.INT64)), "step 0", "int64", "cast");
        refused(() -> Chain.of(1, new Cast(DType.FLOAT32, 0)).infer(x.with(DType.INT64)), "step 0", "int64");
        refused(() -> Chain.of(1, new Cast(DType.INT32, 0)).infer(x), "step 0", "int32");
        refused(() -> Chain.of(2, relu).infer(TensorSpec.of(DType.FLOAT32, 3), x), "output 0", "[4, 3]", "[3]");
    }

    private static void refused(Executable call, String... parts) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call);
        for (String part : parts) {
            assertTrue(String.valueOf(e.getMessage()).contains(part),
                    () -> "'" + part + "' is not in: " + e.getMessage());
        }
    }

    /**
     * Rows of a larger tensor come in, parts of the rows of another go out, of which one is a copy of a result that
     * goes out too.
     */
    @Test
    void readsAndWritesParts() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int width : new int[]{1, 17, 128, 1300}) {
            Tensor from = numbers(DType.FLOAT32, random, 5, 3L * width);
            Tensor x = from.slice(1, width, 2L * width);
            Tensor y = numbers(DType.FLOAT32, random, 5, width);
            Chain chain = new Chain(2, List.of(new Combine(Binary.Function.MULTIPLY, 0, 1),
                    new Grad(UnaryGrad.of(Unary.of(Unary.Function.TANH)), Chain.ABSENT, 0, 2),
                    new Cast(DType.FLOAT32, 3),
                    new Grad(UnaryGrad.of(Unary.of(Unary.Function.SIGMOID)), Chain.ABSENT, 1, 4)), List.of(2, 3, 4, 5));
            Tensor[] expected = oneByOne(Kernels.portable(), new Case(chain, new Tensor[]{x, y}));
            Tensor into = numbers(DType.FLOAT32, random, 5, 4L * width);
            Tensor[] outputs = new Tensor[4];
            for (int i = 0; i < outputs.length; i++) {
                outputs[i] = into.slice(1, (long) i * width, (i + 1L) * width);
            }
            KernelRun.into(Kernels.system(), chain, outputs, x, y);
            for (int i = 0; i < outputs.length; i++) {
                Tensor dense = Tensor.allocate(DType.FLOAT32, 5, width);
                KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{dense}, outputs[i]);
                outputs[i] = dense;
            }
            same("parts of width " + width + ", seed " + SEED, expected, outputs);
        }
    }

    /** Where a function is nearly constant its gradient is small, but no less right. */
    @Test
    void gradientsOfResultsAreRightNearTheEnds() {
        double[] values = {0, -0.0, 1e-30, 0.3, 0.5, -0.7, 0.9999, -0.9999, 0.9999999, 1 - 0x1p-24, 1, -1};
        Tensor y = Tensor.of(DType.FLOAT32, values, values.length);
        Tensor dy = Tensor.of(DType.FLOAT32, Arrays.stream(values).map(value -> 3.7).toArray(), values.length);
        double[] exact = y.toDoubleArray();
        float slope = 3.7f;
        for (Unary.Function function : List.of(Unary.Function.TANH, Unary.Function.SIGMOID)) {
            double[] found = KernelRun.run(Kernels.system(), UnaryGrad.of(Unary.of(function)), null, y, dy)[0]
                    .toDoubleArray();
            for (int i = 0; i < found.length; i++) {
                double right = slope * (function == Unary.Function.TANH
                        ? (1 - exact[i]) * (1 + exact[i])
                        : exact[i] * (1 - exact[i]));
                assertEquals(right, found[i], 3 * Math.ulp((float) right), function + " of result " + exact[i]);
            }
        }
    }

    @Test
    void manyValuesFit() {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i < Chain.MOST_VALUES; i++) {
            steps.add(i < 16
                    ? new Apply(new Unary(Unary.Function.LINEAR, i, 0), 0)
                    : new Combine(Binary.Function.ADD, i - 1, i - 15));
        }
        Case one = new Case(chain(1, steps), new Tensor[]{numbers(DType.FLOAT64, new SplittableRandom(SEED), 3000)});
        same("many values, seed " + SEED, oneByOne(Kernels.portable(), one),
                KernelRun.run(Kernels.portable(), one.chain(), one.inputs()));
        TensorSpec spec = one.inputs()[0].spec();
        try (Kernel kernel = Kernels.system().prepare(one.chain(), Place.CPU, spec, spec)) {
            assertEquals("portable", kernel.provider());
        }
    }
}
