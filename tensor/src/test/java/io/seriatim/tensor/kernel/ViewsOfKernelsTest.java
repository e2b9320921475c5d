package io.seriatim.tensor.kernel;

import static io.seriatim.tensor.kernel.FastKernels.dims;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.kernel.GuardedView.Freedom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kernels of views of any layout give what they give of dense tensors, read nothing around them, and leave it as it is.
 */
class ViewsOfKernelsTest {
    private static final int LAYOUTS = 25;
    private static final Window NEXT = Window.of(2, 1, 1);
    private static final PostOp RELU = new PostOp.Apply(Unary.Function.RELU, 0, 0);
    private static final PostOp ADD = new PostOp.Combine(Binary.Function.ADD);
    private static final PostOp MULTIPLY = new PostOp.Combine(Binary.Function.MULTIPLY);

    /** Inputs are positive; those of one dimension are float32 where that is said. */
    record Case(Computation computation, DType dtype, boolean floatVectors, List<long[]> shapes) {
        GuardedView input(int i, SplittableRandom random, Freedom freedom) {
            return filled(GuardedView.any(random, type(i), shapes.get(i), freedom), random);
        }

        private DType type(int i) {
            return floatVectors && shapes.get(i).length == 1 ? DType.FLOAT32 : dtype;
        }

        @Override
        public String toString() {
            return computation + " of " + dtype + " " + shapes.stream().map(Arrays::toString).toList();
        }
    }

    @BeforeAll
    static void needsTheLibrary() {
        FastKernels.needsTheLibrary();
    }

    private static GuardedView filled(GuardedView view, SplittableRandom random) {
        view.set(random.doubles(view.spec().shape().size(), 0.5, 2).toArray());
        return view;
    }

    private static Case of(Computation computation, DType dtype, long[]... shapes) {
        return new Case(computation, dtype, false, List.of(shapes));
    }

    static Stream<Case> computations() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FastKernels.FLOATS) {
            cases.addAll(ofElements(dtype));
            cases.addAll(ofImages(dtype));
        }
        return cases.stream();
    }

    private static List<Case> ofElements(DType dtype) {
        long[] x = {3, 4, 1, 18};
        Reduction.Function sum = Reduction.Function.SUM;
        return List.of(of(Unary.of(Unary.Function.TANH), dtype, x), of(Copy.PLAIN, dtype, x),
                of(new Copy(DType.FLOAT32), dtype, x),
                of(UnaryGrad.of(Unary.of(Unary.Function.SIGMOID)), dtype, x, x, x),
                of(new Binary(Binary.Function.ADD, List.of(RELU, MULTIPLY)), dtype, x, dims(4, 1, 1), dims(18)),
                of(new Softmax(-1, false), dtype, x), of(new Softmax(2, true), dtype, x),
                of(new Softmax(1, false), dtype, x),
                of(new SoftmaxGrad(-1, true), dtype, x, x), of(new Reduction(sum, List.of(0), false), dtype, x),
                of(new Reduction(sum, List.of(0, 3), true), dtype, x),
                of(new Reduction(Reduction.Function.MAX, List.of(3), true), dtype, x),
                new Case(new LayerNorm(3, 1e-2f, true, true), dtype, true, List.of(x, dims(18), dims(18))),
                new Case(new LayerNormGrad(new LayerNorm(3, 1e-2f, true, true)), dtype, true,
                        List.of(x, x, dims(18), dims(12), dims(12))),
                of(new MatMul(false, false, false, List.of(ADD, RELU)), dtype, x, dims(18, 5), dims(4, 1, 5)),
                of(new MatMul(true, true, true, List.of()), dtype, dims(35, 20), dims(40, 35), dims(40)),
                of(new MatMul(false, false, false, List.of(ADD)), dtype, dims(9), dims(9, 20), dims(20)),
                of(new MatMul(false, false, false, List.of(ADD)), dtype, dims(30, 7), dims(7), dims(30)));
    }

    private static List<Case> ofImages(DType dtype) {
        long[] x = {2, 6, 5, 1};
        long[] wide = {2, 6, 4, 10};
        Pooling pooling = new Pooling(Pooling.Kind.AVERAGE, List.of(3L, 1L), Window.of(2, 1, 0));
        Pooling pairs = new Pooling(Pooling.Kind.MAX, List.of(2L, 2L), Window.of(2, 2, 0));
        return List.of(new Case(new BatchNorm(1e-2f, true), dtype, true, List.of(x, dims(6), dims(6))),
                new Case(new BatchNormGrad(new BatchNorm(1e-2f, true)), dtype, true,
                        List.of(x, x, dims(6), dims(6), dims(6))),
                of(pooling, dtype, x), of(pairs, dtype, wide),
                of(new PoolingGrad(pooling), dtype, x, dims(2, 6, 3, 1), dims(2, 6, 3, 1)),
                of(new PoolingGrad(pairs), dtype, wide, dims(2, 6, 2, 5), dims(2, 6, 2, 5)),
                of(new Convolution(NEXT, 1, true, List.of(ADD, RELU)), dtype, wide, dims(20, 6, 3, 3), dims(20),
                        dims(2, 20, 4, 10)),
                of(new Convolution(NEXT, 2, false, List.of(RELU, MULTIPLY)), dtype, wide, dims(8, 3, 3, 3),
                        dims(8, 1, 1)),
                of(new Convolution(Window.of(2, 1, 0), 1, true, List.of()), dtype, wide, dims(20, 6, 1, 1), dims(20)),
                of(new ConvolutionGradInput(NEXT, 1, List.of(4L, 10L)), dtype, dims(2, 20, 4, 10), dims(20, 6, 3, 3)),
                of(new ConvolutionGradWeights(NEXT, 1, true, List.of(3L, 3L)), dtype, wide, dims(2, 20, 4, 10)));
    }

    @ParameterizedTest
    @MethodSource("computations")
    void anyLayoutGivesWhatDenseTensorsGive(Case one) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            SplittableRandom random = new SplittableRandom(FastKernels.SEED + layout);
            GuardedView[] inputs = new GuardedView[one.shapes().size()];
            for (int i = 0; i < inputs.length; i++) {
                inputs[i] = one.input(i, random, layout % 3 == 0 ? Freedom.DENSE : Freedom.READ);
            }
            check(one + ", layout " + layout, one.computation(), random,
                    layout % 2 == 0 ? Freedom.DENSE : Freedom.WRITTEN, inputs);
        }
    }

    /** What was found to be wrong: where a view is, windows that the library's convolutions do not expect. */
    static Stream<Case> windows() {
        PostOp divide = new PostOp.Combine(Binary.Function.DIVIDE);
        return Stream.of(
                of(new Convolution(Window.of(new int[]{1, 2}, new int[]{0, 0}, new int[]{0, 0}, new int[]{1, 1}), 1,
                        false, List.of()),
                        DType.FLOAT32, dims(1, 1, 12, 4), dims(16, 1, 4, 3)),
                of(new Convolution(Window.of(new int[]{1, 2}, new int[]{0, 0}, new int[]{0, 1}, new int[]{1, 1}), 1,
                        false, List.of(ADD)),
                        DType.FLOAT32, dims(1, 16, 1, 2), dims(15, 16, 1, 1), dims(15, 1, 1)),
                of(new Convolution(Window.of(new int[]{2, 1}, new int[]{0, 0}, new int[]{2, 0}, new int[]{2, 1}), 33,
                        false,
                        List.of(divide)), DType.FLOAT16, dims(2, 33, 1, 6), dims(33, 1, 2, 3), dims(1)),
                of(new Convolution(Window.of(2, 1, 0), 1, false, List.of(divide)), DType.FLOAT16, dims(1, 1, 1, 3),
                        dims(31, 1, 1, 1),
                        dims(1, 31, 1, 1)),
                of(new ConvolutionGradWeights(
                        Window.of(new int[]{1, 3}, new int[]{0, 2}, new int[]{0, 2}, new int[]{2, 1}), 1, true,
                        List.of(1L, 4L)), DType.BFLOAT16, dims(4, 10, 10, 1), dims(4, 10, 10, 1)),
                of(new ConvolutionGradWeights(Window.of(1, 3, 2), 1, false, List.of(4L)), DType.BFLOAT16,
                        dims(1, 19, 1), dims(1, 5, 1)));
    }

    @ParameterizedTest
    @MethodSource("windows")
    void windowsGiveWhatTheyCover(Case one) {
        for (int threads = 1; threads <= 2; threads++) {
            SplittableRandom random = new SplittableRandom(FastKernels.SEED);
            GuardedView[] inputs = new GuardedView[one.shapes().size()];
            for (int i = 0; i < inputs.length; i++) {
                inputs[i] = one.input(i, random, Freedom.DENSE);
            }
            try (KernelContext context = new KernelContext(threads)) {
                check(one.toString(), one.computation(), random, Freedom.DENSE, context, inputs);
            }
        }
    }

    @Test
    void aSingleElementHasAnyStep() {
        SplittableRandom random = new SplittableRandom(1);
        GuardedView x = filled(GuardedView.at(random, DType.FLOAT32, dims(5, 3, 2, 1), dims(6, 1, 3, 16)), random);
        GuardedView y = GuardedView.at(random, DType.FLOAT32, dims(5, 3, 2, 1), dims(6, 1, 3, 16));
        check("softmax", new Softmax(3, true), KernelContext.current(), new GuardedView[]{x}, new GuardedView[]{y});
    }

    @Test
    void nothingIsReadBesideTheRowsOfAProduct() {
        for (long length : new long[]{1, 15, 34, 68, 100}) {
            SplittableRandom random = new SplittableRandom(length);
            GuardedView x = filled(GuardedView.at(random, DType.BFLOAT16, dims(63, length), dims(length + 1, 1)),
                    random);
            GuardedView y = filled(GuardedView.any(random, DType.BFLOAT16, dims(length, 43), Freedom.DENSE), random);
            check("product of length " + length, MatMul.PLAIN, random, Freedom.DENSE, x, y);
        }
    }

    @Test
    void anOperandOfAVectorHasAnyStep() {
        SplittableRandom random = new SplittableRandom(1);
        GuardedView x = filled(GuardedView.any(random, DType.FLOAT32, dims(9), Freedom.DENSE), random);
        GuardedView y = filled(GuardedView.any(random, DType.FLOAT32, dims(9, 20), Freedom.DENSE), random);
        GuardedView added = filled(GuardedView.at(random, DType.FLOAT32, dims(20), dims(2)), random);
        check("row", new MatMul(false, false, false, List.of(ADD)), random, Freedom.DENSE, x, y, added);
    }

    private static void check(String what, Computation computation, SplittableRandom random, Freedom freedom,
            GuardedView... inputs) {
        check(what, computation, random, freedom, KernelContext.current(), inputs);
    }

    private static void check(String what, Computation computation, SplittableRandom random, Freedom freedom,
            KernelContext context,
            GuardedView... inputs) {
        TensorSpec[] specs = computation.infer(specs(tensors(inputs)));
        GuardedView[] outputs = new GuardedView[specs.length];
        for (int i = 0; i < specs.length; i++) {
            outputs[i] = GuardedView.any(random, specs[i].dtype(), specs[i].shape().dims(), freedom);
        }
        check(what, computation, context, inputs, outputs);
    }

    private static void check(String what, Computation computation, KernelContext context, GuardedView[] inputs,
            GuardedView[] outputs) {
        Tensor[] dense = Arrays.stream(inputs).map(GuardedView::dense).toArray(Tensor[]::new);
        Tensor[] expected = KernelRun.run(Kernels.portable(), computation, dense);
        Tensor[] all = Stream.concat(Arrays.stream(tensors(inputs)), Arrays.stream(tensors(outputs)))
                .toArray(Tensor[]::new);
        String views = what + ": " + Arrays.toString(specs(all));
        try (Kernel kernel = Kernels.system().prepare(computation, Place.CPU, specs(all))) {
            kernel.run(all, context);
        }
        for (GuardedView view : Stream.of(inputs, outputs).flatMap(Arrays::stream).toList()) {
            assertTrue(view.isIntact(), () -> "written around " + view.spec() + ", " + views);
        }
        DType coarsest = inputs[0].spec().dtype();
        for (int i = 0; i < outputs.length; i++) {
            FastKernels.compare(views, coarsest, dense, expected[i].toDoubleArray(), outputs[i].values());
        }
    }

    private static Tensor[] tensors(GuardedView... views) {
        return Arrays.stream(views).map(GuardedView::tensor).toArray(Tensor[]::new);
    }

    private static TensorSpec[] specs(Tensor... tensors) {
        return Arrays.stream(tensors).map(Tensor::spec).toArray(TensorSpec[]::new);
    }
}
