package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Operands of several floating-point types in one call give the bits of casts around a call with one type. */
class MixedTypesTest {
    private static final long SEED = 20261122;
    private static final List<DType> NARROW = List.of(DType.BFLOAT16, DType.FLOAT16);

    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Case(Computation computation, long[]... shapes) {
        @Override
        public String toString() {
            return computation.toString();
        }
    }

    private static long[] dims(long... dims) {
        return dims;
    }

    static Stream<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (long length : new long[]{5, 64, 131}) {
            for (boolean log : new boolean[]{false, true}) {
                cases.add(new Case(new Softmax(-1, log), dims(7, length)));
                cases.add(new Case(new SoftmaxGrad(-1, log), dims(7, length), dims(7, length)));
            }
            LayerNorm norm = new LayerNorm(1, 1e-5f, true, true);
            cases.add(new Case(norm, dims(7, length), dims(length), dims(length)));
            cases.add(new Case(new LayerNorm(1, 1e-5f, false, false), dims(7, length)));
            cases.add(new Case(new LayerNormGrad(norm), dims(7, length), dims(7, length), dims(length), dims(7),
                    dims(7)));
        }
        return cases.stream();
    }

    private static Tensor numbers(SplittableRandom random, long... dims) {
        double[] values = new double[Math.toIntExact(Shape.of(dims).size())];
        Arrays.setAll(values, i -> 0.1 + random.nextDouble());
        return Tensor.of(DType.FLOAT32, values, dims);
    }

    private static Tensor cast(Kernels kernels, Tensor tensor, DType to) {
        return tensor.dtype() == to ? tensor : KernelRun.run(kernels, new Copy(to), tensor)[0];
    }

    private static Tensor[] run(Kernels kernels, Computation computation, List<Tensor> inputs, DType... types) {
        TensorSpec[] inferred = computation
                .infer(inputs.stream().map(input -> TensorSpec.of(DType.FLOAT32, input.shape()))
                        .toArray(TensorSpec[]::new));
        List<Tensor> arguments = new ArrayList<>(inputs);
        for (int i = 0; i < inferred.length; i++) {
            arguments.add(Tensor.allocate(types[i], inferred[i].shape().dims()));
        }
        @Nullable
        TensorSpec[] specs = arguments.stream().map(Tensor::spec).toArray(TensorSpec[]::new);
        try (Kernel kernel = kernels.prepare(computation, Place.CPU, specs)) {
            kernel.run(arguments.toArray(Tensor[]::new), new KernelContext(1));
        }
        return arguments.subList(inputs.size(), arguments.size()).toArray(Tensor[]::new);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theyAreWidenedAndRoundedOnce(Case each) {
        SplittableRandom random = new SplittableRandom(SEED);
        int inputs = each.shapes().length;
        List<Tensor> given = Stream.of(each.shapes()).map(shape -> numbers(random, shape)).toList();
        int outputs = each.computation().infer(given.stream().map(Tensor::spec).toArray(TensorSpec[]::new)).length;
        int[] mixing = IntStream.range(0, inputs + outputs).filter(each.computation()::mixes).toArray();
        for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
            for (int choice = 1; choice < 1 << mixing.length; choice++) {
                for (DType narrow : NARROW) {
                    DType[] types = new DType[inputs + outputs];
                    Arrays.fill(types, DType.FLOAT32);
                    for (int i = 0; i < mixing.length; i++) {
                        types[mixing[i]] = (choice >> i & 1) == 0 ? DType.FLOAT32 : narrow;
                    }
                    compare(kernels, each, given, types);
                }
            }
        }
    }

    /** Whether the processor lacks the arithmetic that the library needs for a type. */
    private static boolean usesOtherCode(DType... types) {
        OneDnn.Status library = OneDnn.status();
        List<DType> all = Arrays.asList(types);
        return (all.contains(DType.BFLOAT16) && !library.hasAvx512())
                || (all.contains(DType.FLOAT16) && !library.hasFloat16());
    }

    private static void compare(Kernels kernels, Case each, List<Tensor> given, DType... types) {
        List<Tensor> mixed = IntStream.range(0, given.size()).mapToObj(i -> cast(kernels, given.get(i), types[i]))
                .toList();
        List<Tensor> wide = mixed.stream().map(tensor -> cast(kernels, tensor, DType.FLOAT32)).toList();
        DType[] results = Arrays.copyOfRange(types, given.size(), types.length);
        DType[] floats = new DType[results.length];
        Arrays.fill(floats, DType.FLOAT32);
        Tensor[] found = run(kernels, each.computation(), mixed, results);
        Tensor[] expected = run(kernels, each.computation(), wide, floats);
        for (int i = 0; i < found.length; i++) {
            double[] rounded = cast(kernels, expected[i], results[i]).toDoubleArray();
            double[] got = found[i].toDoubleArray();
            String message = each + " with " + Arrays.toString(types) + ", result " + i;
            if (each.computation() instanceof SoftmaxGrad || (kernels == Kernels.system() && usesOtherCode(types))) {
                // The library adds in another order for another type. Where it has no arithmetic of a 16-bit type,
                // other code than that for float32 computes it, with another logarithm.
                boolean logarithm = each.computation() instanceof Softmax softmax && softmax.log();
                double unit = results[i] == DType.FLOAT32
                        ? logarithm ? 5e-6 : 1e-6
                        : results[i] == DType.BFLOAT16 ? 1.0 / 128 : 1.0 / 1024;
                for (int j = 0; j < got.length; j++) {
                    assertEquals(rounded[j], got[j], unit * Math.max(1, Math.abs(rounded[j])), message);
                }
            } else {
                assertArrayEquals(rounded, got, message);
            }
        }
    }

    static Stream<Case> products() {
        PostOp add = new PostOp.Combine(Binary.Function.ADD);
        return Stream.of(new Case(MatMul.PLAIN, dims(7, 13), dims(13, 5)),
                new Case(MatMul.PLAIN, dims(64, 128), dims(128, 96)),
                new Case(new MatMul(true, false, false, List.of()), dims(130, 40), dims(130, 33)),
                new Case(new MatMul(false, true, false, List.of(add)), dims(3, 8, 32), dims(3, 16, 32), dims(8, 16)),
                new Case(
                        new MatMul(false, true, false, List.of(new PostOp.Apply(Unary.Function.LINEAR, 0.25f, 0), add)),
                        dims(2, 3, 16, 32),
                        dims(2, 3, 16, 32), dims(16, 16)),
                new Case(new MatMul(false, false, true, List.of(add)), dims(2, 300), dims(300, 600), dims(600),
                        dims(2, 600)));
    }

    /** Sums differ in their order only: the bound is that of float32, not of 16 bits. */
    @ParameterizedTest
    @MethodSource("products")
    void productsOfNarrowNumbersGiveFloats(Case each) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (DType narrow : NARROW) {
            List<Tensor> given = new ArrayList<>();
            for (int i = 0; i < each.shapes().length; i++) {
                Tensor numbers = numbers(random, each.shapes()[i]);
                given.add(i < 2 ? cast(Kernels.portable(), numbers, narrow) : numbers);
            }
            List<Tensor> wide = given.stream().map(tensor -> cast(Kernels.portable(), tensor, DType.FLOAT32)).toList();
            double[] expected = run(Kernels.portable(), each.computation(), wide, DType.FLOAT32)[0].toDoubleArray();
            for (Kernels kernels : List.of(Kernels.portable(), Kernels.system())) {
                double[] found = run(kernels, each.computation(), given, DType.FLOAT32)[0].toDoubleArray();
                double[] bounds = Arrays.stream(expected).map(value -> value * 1e-6).toArray();
                for (int i = 0; i < found.length; i++) {
                    assertTrue(Math.abs(found[i] - expected[i]) <= bounds[i],
                            each + " of " + narrow + ", element " + i + ": expected " + expected[i] + ", but found "
                                    + found[i]);
                }
            }
        }
    }
}
