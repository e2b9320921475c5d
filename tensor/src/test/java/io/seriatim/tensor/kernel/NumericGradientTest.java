package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.BinaryGrad;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.ReductionGrad;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.BilinearSamples;
import io.seriatim.tensor.computation.network.BilinearSamplesGradImages;
import io.seriatim.tensor.computation.network.BilinearSamplesGradPlaces;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.Interpolation;
import io.seriatim.tensor.computation.network.InterpolationGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import io.seriatim.tensor.computation.network.RoiAlign;
import io.seriatim.tensor.computation.network.RoiAlignGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.computation.network.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every gradient against central differences of its forward, in float64. */
class NumericGradientTest {
    private static final long SEED = 20261121;
    private static final double STEP = 1e-6;
    private static final double TOLERANCE = 2e-7;
    private static final Kernels KERNELS = Kernels.portable();

    /**
     * One gradient.
     *
     * @param forward
     *            what is differentiated
     * @param inputs
     *            of the forward
     * @param wanted
     *            which of them
     * @param backward
     *            gives the gradients of those, from the outputs and the first output's gradient
     */
    record Case(String name, Computation forward, List<Tensor> inputs, List<Integer> wanted,
            Function<Given, List<Tensor>> backward) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** What a backward computation may use. */
    record Given(List<Tensor> in, List<Tensor> out, Tensor dy) {
        Tensor x() {
            return in.getFirst();
        }

        Tensor y() {
            return out.getFirst();
        }
    }

    private static Tensor random(SplittableRandom random, double from, double to, long... dims) {
        return Tensor.of(DType.FLOAT64, random.doubles(Shape.of(dims).size(), from, to).toArray(), dims);
    }

    private static List<Tensor> run(Computation computation, @Nullable Tensor... inputs) {
        return List.of(KernelRun.run(KERNELS, computation, inputs));
    }

    /** Of three sequences of up to four steps. */
    private static Tensor columns(Tensor matrix, int from, int count) {
        double[] all = matrix.toDoubleArray();
        int width = Math.toIntExact(matrix.shape().dim(1));
        double[] some = new double[all.length / width * count];
        for (int i = 0; i < some.length; i++) {
            some[i] = all[i / count * width + from + i % count];
        }
        return Tensor.of(some, matrix.shape().dim(0), count);
    }

    private static Case recurrence(SplittableRandom r, Recurrence recurrence) {
        int size = 5;
        int gates = recurrence.cell().gates() * size;
        Recurrence.Cell cell = recurrence.cell();
        int products = cell.products() * size;
        List<Tensor> inputs = new ArrayList<>(
                List.of(random(r, -1, 1, 4, 3, gates), random(r, -1, 1, products, size), random(r, -1, 1, gates),
                        random(r, -1, 1, 3, size)));
        if (cell.isLstm()) {
            inputs.add(random(r, -1, 1, 3, size));
        }
        int states = cell.states();
        if (cell == Recurrence.Cell.PEEPHOLE_LSTM) {
            inputs.add(random(r, -1, 1, 3L * size));
        } else if (cell == Recurrence.Cell.RESET_GRU) {
            inputs.add(random(r, -1, 1, size, size));
        }
        if (recurrence.lengths()) {
            inputs.add(Tensor.of(new long[]{4, 1, 3}, 3));
        }
        return new Case(recurrence.toString(), recurrence, inputs,
                IntStream.range(0, 3 + states + (cell.hasMore() ? 1 : 0)).boxed().toList(),
                g -> {
                    List<Tensor> given = new ArrayList<>(List.of(g.y()));
                    given.addAll(g.out().subList(1 + states, g.out().size()));
                    given.add(g.in().get(1));
                    given.addAll(g.in().subList(3, g.in().size()));
                    given.add(g.dy());
                    Tensor[] all = given.toArray(new Tensor[given.size() + states]);
                    List<Tensor> results = run(new RecurrenceGrad(recurrence), all);
                    Tensor du = (cell == Recurrence.Cell.GRU ? results.getLast() : results.getFirst())
                            .reshape(12, gates);
                    MatMul transposed = new MatMul(true, false, false, List.of());
                    Tensor weights = run(transposed, columns(du, 0, products), results.get(1).reshape(12, size))
                            .getFirst();
                    Tensor bias = run(new Reduction(Reduction.Function.SUM, List.of(0), false), du).getFirst();
                    List<Tensor> gradients = new ArrayList<>(List.of(results.getFirst(), weights, bias));
                    gradients.addAll(results.subList(2, 2 + states));
                    if (cell == Recurrence.Cell.PEEPHOLE_LSTM) {
                        gradients.add(results.getLast());
                    } else if (cell == Recurrence.Cell.RESET_GRU) {
                        Tensor reset = columns(g.out().getLast().reshape(12, 4L * size), 3 * size, size);
                        gradients.add(run(transposed, columns(du, products, size), reset).getFirst());
                    }
                    return gradients;
                });
    }

    static Stream<Case> cases() {
        SplittableRandom r = new SplittableRandom(SEED);
        List<Case> cases = new ArrayList<>();
        for (Unary.Function function : Unary.Function.values()) {
            if (!function.isTest()) {
                Unary unary = new Unary(function, 0.3f, 0.8f);
                cases.add(new Case("unary " + function, unary, List.of(random(r, 0.31, 0.49, 11)), List.of(0),
                        g -> run(UnaryGrad.of(unary), g.x(), g.y(), g.dy())));
            }
        }
        for (Binary.Function function : Binary.Function.values()) {
            if (!function.isTest() && !function.isBitwise()) {
                cases.add(new Case("binary " + function, Binary.of(function),
                        List.of(random(r, 2, 3, 2, 1, 3), random(r, 0.6, 0.9, 4, 1)),
                        List.of(0, 1),
                        g -> run(new BinaryGrad(function), g.x(), g.in().get(1), g.dy())));
            }
        }
        cases.add(new Case("binary PRELU below 0", Binary.of(Binary.Function.PRELU),
                List.of(random(r, -3, -2, 2, 1, 3), random(r, 0.6, 0.9, 4, 1)), List.of(0, 1),
                g -> run(new BinaryGrad(Binary.Function.PRELU), g.x(), g.in().get(1), g.dy())));
        for (Reduction.Function function : Reduction.Function.values()) {
            if (function != Reduction.Function.ALL && function != Reduction.Function.ANY) {
                Reduction reduction = new Reduction(function, List.of(1), function == Reduction.Function.MEAN);
                cases.add(new Case("reduction " + function, reduction, List.of(random(r, 0.5, 2, 2, 3, 2)), List.of(0),
                        g -> run(new ReductionGrad(reduction), g.x(), g.y(), g.dy())));
            }
        }
        for (boolean log : new boolean[]{false, true}) {
            cases.add(new Case("softmax " + log, new Softmax(1, log), List.of(random(r, -1, 1, 2, 3, 2)), List.of(0),
                    g -> run(new SoftmaxGrad(1, log), g.y(), g.dy())));
        }
        networks(r, cases);
        indices(r, cases);
        return cases.stream();
    }

    private static void regions(SplittableRandom r, List<Case> cases) {
        Tensor regions = Tensor.of(DType.FLOAT64, new double[]{0.3, 1, 4.4, 5, -3, 2, 9, 3.1, 1, 1, 1.5, 7}, 3, 4);
        Tensor images = Tensor.of(new long[]{1, 0, 1}, 3);
        for (int samples : new int[]{0, 3}) {
            RoiAlign align = new RoiAlign(2, 3, 0.7f, samples, samples == 0);
            cases.add(new Case(align.toString(), align, List.of(random(r, -1, 1, 2, 2, 4, 5), regions, images),
                    List.of(0), g -> run(new RoiAlignGrad(align, 2, List.of(4L, 5L)), regions, images, g.dy())));
        }
        cases.add(new Case("bilinear samples", new BilinearSamples(),
                List.of(random(r, -1, 1, 2, 3, 4, 5), random(r, -1.5, 5.5, 2, 2, 9), random(r, -1, 1, 2, 9)),
                List.of(0, 1, 2), g -> {
                    Tensor places = g.in().get(1);
                    Tensor weights = g.in().get(2);
                    List<Tensor> all = new ArrayList<>(
                            run(new BilinearSamplesGradImages(List.of(4L, 5L)), places, weights, g.dy()));
                    all.addAll(run(new BilinearSamplesGradPlaces(), g.x(), places, weights, g.dy()));
                    return all;
                }));
    }

    private static void networks(SplittableRandom r, List<Case> cases) {
        Window window = Window.of(new int[]{2, 1}, new int[]{1, 0}, new int[]{0, 1}, new int[]{1, 2});
        Convolution convolution = new Convolution(window, 2, true, List.of());
        cases.add(new Case("convolution", convolution,
                List.of(random(r, -1, 1, 2, 4, 5, 5), random(r, -1, 1, 2, 2, 2, 2), random(r, -1, 1, 2)),
                List.of(0, 1, 2), g -> {
                    List<Tensor> all = new ArrayList<>(
                            run(new ConvolutionGradInput(window, 2, List.of(5L, 5L)), g.dy(), g.in().get(1)));
                    all.addAll(run(new ConvolutionGradWeights(window, 2, true, List.of(2L, 2L)), g.x(), g.dy()));
                    return all;
                }));
        for (Pooling.Kind kind : Pooling.Kind.values()) {
            Pooling pooling = new Pooling(kind, List.of(2L, 3L),
                    Window.of(new int[]{1, 2}, new int[]{1, 1}, new int[]{0, 1}, new int[]{1, 1}));
            cases.add(new Case("pooling " + kind, pooling, List.of(random(r, -1, 1, 2, 2, 4, 5)), List.of(0),
                    g -> run(new PoolingGrad(pooling), g.x(), g.y(), g.dy())));
            AdaptivePooling adaptive = new AdaptivePooling(kind, List.of(3L, 2L));
            cases.add(new Case("adaptive pooling " + kind, adaptive, List.of(random(r, -1, 1, 2, 2, 4, 5)), List.of(0),
                    g -> run(new PoolingGrad(adaptive), g.x(), g.y(), g.dy())));
        }
        for (Interpolation.Kind kind : Interpolation.Kind.values()) {
            Interpolation interpolation = new Interpolation(kind, List.of(5L, 2L), List.of(0.6f, 2.5f));
            cases.add(
                    new Case("interpolation " + kind, interpolation, List.of(random(r, -1, 1, 2, 2, 3, 5)), List.of(0),
                            g -> run(new InterpolationGrad(interpolation, List.of(3L, 5L)), g.dy())));
        }
        regions(r, cases);
        for (Recurrence.Cell cell : Recurrence.Cell.values()) {
            cases.add(recurrence(r, new Recurrence(cell, false, false)));
            cases.add(recurrence(r, new Recurrence(cell, true, true)));
            cases.add(recurrence(r, new Recurrence(cell, false, false, Recurrence.Order.ONNX)));
        }
        for (boolean training : new boolean[]{true, false}) {
            BatchNorm norm = new BatchNorm(0.01f, training);
            List<Tensor> inputs = new ArrayList<>(
                    List.of(random(r, -1, 1, 3, 2, 4), random(r, 0.5, 1, 2), random(r, -1, 1, 2)));
            if (!training) {
                inputs.addAll(List.of(random(r, -1, 1, 2), random(r, 0.5, 1, 2)));
            }
            cases.add(new Case("batch norm " + training, norm, inputs, List.of(0, 1, 2),
                    g -> run(new BatchNormGrad(norm), g.x(), g.dy(), g.in().get(1),
                            training ? g.out().get(1) : g.in().get(3),
                            training ? g.out().get(2) : g.in().get(4))));
        }
        LayerNorm layer = new LayerNorm(1, 0.01f, true, true);
        cases.add(
                new Case("layer norm", layer,
                        List.of(random(r, -1, 1, 3, 5), random(r, 0.5, 1, 5), random(r, -1, 1, 5)), List.of(0, 1, 2),
                        g -> run(new LayerNormGrad(layer), g.x(), g.dy(), g.in().get(1), g.out().get(1),
                                g.out().get(2))));
        GroupNorm group = new GroupNorm(2, 0.01f, true, true);
        cases.add(new Case("group norm", group,
                List.of(random(r, -1, 1, 2, 4, 3), random(r, 0.5, 1, 4), random(r, -1, 1, 4)),
                List.of(0, 1, 2),
                g -> run(new GroupNormGrad(group), g.x(), g.dy(), g.in().get(1), g.out().get(1), g.out().get(2))));
    }

    private static void indices(SplittableRandom r, List<Case> cases) {
        Tensor rows = Tensor.of(new long[]{2, 0, 2, 1}, 2, 2);
        Gather gather = new Gather(1, 1);
        cases.add(new Case("gather", gather, List.of(random(r, -1, 1, 2, 3, 2), rows), List.of(0),
                g -> run(new GatherGrad(gather, List.of(2L, 3L, 2L)), g.dy(), rows)));
        Tensor along = Tensor.of(new long[]{2, 0, 1, 1}, 2, 2);
        cases.add(new Case("take along axis", new TakeAlongAxis(1), List.of(random(r, -1, 1, 2, 3), along), List.of(0),
                g -> run(new PutAlongAxis(1, true), Tensor.of(DType.FLOAT64, new double[6], 2, 3), along, g.dy())));
        Tensor tuples = Tensor.of(new long[]{1, 0, 1, 0, 0, 2}, 3, 2);
        cases.add(new Case("gather nd", new GatherNd(), List.of(random(r, -1, 1, 2, 3, 2), tuples), List.of(0),
                g -> run(new ScatterNd(ScatterNd.Function.ADD), Tensor.of(DType.FLOAT64, new double[12], 2, 3, 2),
                        tuples, g.dy())));
        for (Pad.Mode mode : Pad.Mode.values()) {
            Pad pad = new Pad(List.of(1L, 0L), List.of(2L, 1L), mode, 0.5);
            cases.add(new Case("pad " + mode, pad, List.of(random(r, -1, 1, 3, 2)), List.of(0),
                    g -> run(new PadGrad(pad), g.dy())));
        }
        cases.add(new Case("scan", new Scan(0, true, false), List.of(random(r, -1, 1, 4, 2)), List.of(0),
                g -> run(new Scan(0, true, true), g.dy())));
        cases.add(new Case("triangle", new Triangle(false, 1), List.of(random(r, -1, 1, 3, 4)), List.of(0),
                g -> run(new Triangle(false, 1), g.dy())));
        Tensor labels = Tensor.of(new long[]{1, -7, 0}, 3, 1);
        CrossEntropy entropy = new CrossEntropy(1, false, -7);
        cases.add(new Case("cross entropy", new LossOnly(entropy), List.of(random(r, -1, 1, 3, 4), labels), List.of(0),
                g -> run(new CrossEntropyGrad(entropy), run(entropy, g.x(), labels).getFirst(), labels, g.dy())));
    }

    /** Marks the second output as the one that is differentiated. */
    record LossOnly(CrossEntropy of) implements Computation {
        @Override
        public String operation() {
            return of.operation();
        }

        @Override
        public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
            return of.infer(inputs);
        }
    }

    private static List<Tensor> forward(Computation computation, List<Tensor> inputs) {
        if (computation instanceof LossOnly(CrossEntropy entropy)) {
            return run(entropy, inputs.toArray(Tensor[]::new)).reversed();
        }
        return run(computation, inputs.toArray(Tensor[]::new));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void isTheSlope(Case one) {
        List<Tensor> out = forward(one.forward(), one.inputs());
        Tensor dy = random(new SplittableRandom(SEED + 1), -1, 1, out.getFirst().shape().dims());
        List<Tensor> gradients = one.backward().apply(new Given(one.inputs(), out, dy));
        for (int k = 0; k < one.wanted().size(); k++) {
            int input = one.wanted().get(k);
            double[] got = gradients.get(k).toDoubleArray();
            double[] values = one.inputs().get(input).toDoubleArray();
            for (int i = 0; i < values.length; i++) {
                double slope = (value(one, input, i, STEP, dy) - value(one, input, i, -STEP, dy)) / (2 * STEP);
                assertEquals(slope, got[i], TOLERANCE * Math.max(1, Math.abs(slope)) * 10,
                        one + ", input " + input + ", element " + i + ", seed " + SEED);
            }
        }
    }

    /** Σ y · dy with one element moved. */
    private static double value(Case one, int input, int element, double step, Tensor dy) {
        List<Tensor> moved = new ArrayList<>(one.inputs());
        Tensor old = moved.get(input);
        double[] values = old.toDoubleArray();
        values[element] += step;
        moved.set(input, Tensor.of(DType.FLOAT64, values, old.shape().dims()));
        double[] y = Objects.requireNonNull(forward(one.forward(), moved).getFirst()).toDoubleArray();
        double[] weights = dy.toDoubleArray();
        double sum = 0;
        for (int i = 0; i < y.length; i++) {
            sum += y[i] * weights[i];
        }
        return sum;
    }
}
