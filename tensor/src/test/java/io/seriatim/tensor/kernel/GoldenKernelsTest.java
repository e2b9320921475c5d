package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.BinaryGrad;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.ReductionGrad;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.computation.network.Update;
import io.seriatim.tensor.computation.network.Window;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels against results of PyTorch (tools/golden/kernels/kernels.py), portable and fast, in float64 and float32. */
class GoldenKernelsTest {
    private static Map<String, Tensor> golden = Map.of();

    /** Which kernels, in which type. */
    record Run(String name, Kernels kernels, DType dtype, double tolerance) {
        @Override
        public String toString() {
            return name + " " + dtype;
        }
    }

    static Stream<Run> runs() {
        return Stream.of(new Run("portable", Kernels.portable(), DType.FLOAT64, 1e-10),
                new Run("portable", Kernels.portable(), DType.FLOAT32, 3e-5),
                new Run("system", Kernels.system(), DType.FLOAT32, 3e-5));
    }

    @BeforeAll
    static void read() throws IOException, URISyntaxException {
        golden = Npz.read(
                Path.of(Objects.requireNonNull(GoldenKernelsTest.class.getResource("/golden/kernels.npz")).toURI()));
    }

    private static Tensor raw(String name) {
        return Objects.requireNonNull(golden.get(name), () -> "no golden array " + name);
    }

    /** A golden input in the type of a run; whole numbers stay. */
    private static Tensor in(Run run, String name) {
        Tensor tensor = raw(name);
        return tensor.dtype().isFloating()
                ? Tensor.of(run.dtype(), tensor.toDoubleArray(), tensor.shape().dims())
                : tensor;
    }

    private static void check(Run run, Computation computation, String[] outputs, @Nullable String... inputs) {
        @Nullable
        Tensor[] tensors = Arrays.stream(inputs).map(name -> name == null ? null : in(run, name))
                .toArray(Tensor[]::new);
        Tensor[] got = KernelRun.run(run.kernels(), computation, tensors);
        for (int i = 0; i < outputs.length; i++) {
            compare(run, outputs[i], got[i]);
        }
    }

    private static void compare(Run run, String name, Tensor got) {
        Tensor expected = raw(name);
        assertEquals(expected.shape().size(), got.shape().size(), name);
        double[] e = expected.toDoubleArray();
        double[] g = got.toDoubleArray();
        for (int i = 0; i < e.length; i++) {
            boolean near = Math.abs(e[i] - g[i]) <= run.tolerance() * Math.max(1, Math.abs(e[i]));
            int at = i;
            assertTrue(near, () -> name + " of " + run + ": element " + at + " is " + g[at] + ", not " + e[at]);
        }
    }

    private static String[] of(String... names) {
        return names;
    }

    @ParameterizedTest
    @MethodSource("runs")
    void productsAndConvolutions(Run run) {
        check(run, MatMul.PLAIN, of("matmul/out"), "matmul/x", "matmul/y");
        Map<String, Window> windows = Map.of("conv",
                Window.of(new int[]{2, 1}, new int[]{1, 2}, new int[]{1, 2}, new int[]{1, 2}),
                "conv_groups", Window.of(2, 1, 1));
        windows.forEach((name, window) -> {
            int groups = name.equals("conv") ? 1 : 2;
            check(run, new Convolution(window, groups, true, List.of()), of(name + "/y"), name + "/x", name + "/w",
                    name + "/b");
            check(run, new ConvolutionGradInput(window, groups, List.of(9L, 8L)), of(name + "/dx"), name + "/dy",
                    name + "/w");
            check(run, new ConvolutionGradWeights(window, groups, true, List.of(3L, 2L)),
                    of(name + "/dw", name + "/db"), name + "/x",
                    name + "/dy");
        });
    }

    @ParameterizedTest
    @MethodSource("runs")
    void poolings(Run run) {
        Window window = Window.of(new int[]{2, 1}, new int[]{1, 1}, new int[]{1, 1}, new int[]{1, 1});
        List<Long> kernel = List.of(3L, 2L);
        Map<String, Computation> cases = Map.of("pool_max", new Pooling(Pooling.Kind.MAX, kernel, window),
                "pool_average",
                new Pooling(Pooling.Kind.AVERAGE, kernel, window), "pool_padding",
                new Pooling(Pooling.Kind.AVERAGE_WITH_PADDING, kernel, window), "pool_adaptive",
                new AdaptivePooling(Pooling.Kind.AVERAGE, List.of(4L, 3L)));
        cases.forEach((name, pooling) -> {
            check(run, pooling, of(name + "/y"), name + "/x");
            check(run, new PoolingGrad(pooling), of(name + "/dx"), name + "/x", name + "/y", name + "/dy");
        });
    }

    @ParameterizedTest
    @MethodSource("runs")
    void normalisations(Run run) {
        BatchNorm batch = new BatchNorm(1e-3f, true);
        check(run, batch, of("batch_norm/y", "batch_norm/mean", "batch_norm/inverse"), "batch_norm/x", "batch_norm/s",
                "batch_norm/b");
        check(run, new BatchNormGrad(batch), of("batch_norm/dx", "batch_norm/ds", "batch_norm/db"), "batch_norm/x",
                "batch_norm/dy",
                "batch_norm/s", "batch_norm/mean",
                "batch_norm/inverse");
        LayerNorm layer = new LayerNorm(1, 1e-3f, true, true);
        check(run, layer, of("layer_norm/y", "layer_norm/mean", "layer_norm/variance"), "layer_norm/x", "layer_norm/s",
                "layer_norm/b");
        check(run, new LayerNormGrad(layer), of("layer_norm/dx", "layer_norm/ds", "layer_norm/db"), "layer_norm/x",
                "layer_norm/dy",
                "layer_norm/s", "layer_norm/mean",
                "layer_norm/variance");
        GroupNorm group = new GroupNorm(3, 1e-3f, true, true);
        check(run, group, of("group_norm/y", "group_norm/mean", "group_norm/variance"), "group_norm/x", "group_norm/s",
                "group_norm/b");
        check(run, new GroupNormGrad(group), of("group_norm/dx", "group_norm/ds", "group_norm/db"), "group_norm/x",
                "group_norm/dy",
                "group_norm/s", "group_norm/mean",
                "group_norm/variance");
    }

    @ParameterizedTest
    @MethodSource("runs")
    void softmaxAndCrossEntropy(Run run) {
        check(run, new Softmax(1, false), of("softmax/y"), "softmax/x");
        check(run, new SoftmaxGrad(1, false), of("softmax/dx"), "softmax/y", "softmax/dy");
        check(run, new Softmax(1, true), of("log_softmax/y"), "log_softmax/x");
        check(run, new SoftmaxGrad(1, true), of("log_softmax/dx"), "log_softmax/y", "log_softmax/dy");
        CrossEntropy hard = new CrossEntropy(1, false, -100);
        check(run, hard, of("cross_entropy/softmax", "cross_entropy/loss"), "cross_entropy/x", "cross_entropy/labels");
        check(run, new CrossEntropyGrad(hard), of("cross_entropy/dx"), "cross_entropy/softmax", "cross_entropy/labels",
                "cross_entropy/dloss");
        CrossEntropy soft = new CrossEntropy(-1, true, -100);
        check(run, soft, of("cross_entropy/softmax", "cross_entropy_soft/loss"), "cross_entropy_soft/x",
                "cross_entropy_soft/labels");
        check(run, new CrossEntropyGrad(soft), of("cross_entropy_soft/dx"), "cross_entropy/softmax",
                "cross_entropy_soft/labels",
                "cross_entropy_soft/dloss");
    }

    @ParameterizedTest
    @MethodSource("runs")
    void functionsAndTheirGradients(Run run) {
        int checked = 0;
        for (Unary.Function function : Unary.Function.values()) {
            String name = "unary_" + function;
            if (golden.containsKey(name + "/x")) {
                Unary unary = new Unary(function, 0.25f, 0.75f);
                check(run, unary, of(name + "/y"), name + "/x");
                check(run, UnaryGrad.of(unary), of(name + "/dx"), name + "/x", null, name + "/dy");
                checked++;
            }
        }
        assertEquals(26, checked);
        for (Binary.Function function : List.of(Binary.Function.ADD, Binary.Function.SUBTRACT, Binary.Function.MULTIPLY,
                Binary.Function.DIVIDE, Binary.Function.MAXIMUM,
                Binary.Function.MINIMUM, Binary.Function.POWER)) {
            String name = "binary_" + function;
            check(run, Binary.of(function), of(name + "/out"), name + "/x", name + "/y");
            check(run, new BinaryGrad(function), of(name + "/dx", name + "/dy"), name + "/x", name + "/y",
                    name + "/dout");
        }
        check(run, Binary.of(Binary.Function.MODULO), of("binary_MODULO/out"), "binary_MODULO/x", "binary_MODULO/y");
        check(run, Binary.of(Binary.Function.FLOOR_DIVIDE), of("binary_FLOOR_DIVIDE/out"), "binary_FLOOR_DIVIDE/x",
                "binary_FLOOR_DIVIDE/y");
    }

    @ParameterizedTest
    @MethodSource("runs")
    void reductionsAndTheirGradients(Run run) {
        for (Reduction.Function function : Reduction.Function.values()) {
            String name = "reduce_" + function;
            if (golden.containsKey(name + "/x")) {
                Reduction reduction = new Reduction(function, List.of(0, -1), false);
                check(run, reduction, of(name + "/y"), name + "/x");
                check(run, new ReductionGrad(reduction), of(name + "/dx"), name + "/x", name + "/y", name + "/dy");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("runs")
    void indices(Run run) {
        check(run, new TopK(3, 1, true), of("top_k/values", "top_k/indices"), "top_k/x");
        check(run, new ArgReduction(true, 1, false), of("top_k/arg"), "top_k/x");
        check(run, new Scan(1, false, false), of("top_k/sums"), "top_k/x");
        check(run, new Scan(1, true, true), of("top_k/exclusive"), "top_k/x");
        Gather gather = Gather.of(1);
        check(run, gather, of("gather/y"), "gather/x", "gather/indices");
        check(run, new GatherGrad(gather, List.of(3L, 7L, 2L)), of("gather/dx"), "gather/dy", "gather/indices");
        check(run, new TakeAlongAxis(1), of("take_along/y"), "take_along/x", "take_along/indices");
        Tensor zeros = Tensor.of(run.dtype(), new double[42], 3, 7, 2);
        compare(run, "take_along/dx",
                KernelRun.run(run.kernels(), new PutAlongAxis(1, true), zeros, raw("take_along/indices"),
                        in(run, "take_along/dy"))[0]);
        for (Pad.Mode mode : List.of(Pad.Mode.REFLECT, Pad.Mode.REPLICATE, Pad.Mode.CIRCULAR)) {
            Pad pad = new Pad(List.of(0L, 0L, 1L, 2L), List.of(0L, 0L, 3L, 1L), mode, 0);
            check(run, pad, of("pad_" + mode + "/y"), "pad_" + mode + "/x");
            check(run, new PadGrad(pad), of("pad_" + mode + "/dx"), "pad_" + mode + "/dy");
        }
    }

    @ParameterizedTest
    @MethodSource("runs")
    void optimizers(Run run) {
        optimize(run, "sgd", new Update.Sgd());
        optimize(run, "momentum", new Update.Momentum(0.9f, false, 0.01f), 0);
        optimize(run, "nesterov", new Update.Momentum(0.9f, true, 0.01f), 0);
        optimize(run, "adam", new Update.Adam(0.9f, 0.99f, 1e-6f, 0), 0, 0);
        optimize(run, "adamw", new Update.Adam(0.9f, 0.99f, 1e-6f, 0.01f), 0, 0);
        optimize(run, "adagrad", new Update.Adagrad(1e-6f), 0.1);
        optimize(run, "adadelta", new Update.Adadelta(0.95f, 1e-6f), 0, 0);
        optimize(run, "rmsprop", new Update.RmsProp(0.95f, 1e-6f, 0.9f, false), 0, 0, 0);
        optimize(run, "rmsprop_centered", new Update.RmsProp(0.95f, 1e-6f, 0.9f, true), 0, 0, 0);
        optimize(run, "lamb", new Update.Lamb(0.9f, 0.99f, 1e-6f, 0.01f), 0, 0);
        optimize(run, "adamax", new Update.Adamax(0.9f, 0.99f, 1e-6f), 0, 0);
    }

    private static void optimize(Run run, String name, Update update, double... initial) {
        Tensor p = in(run, "optimizer/p0");
        double[] all = raw("optimizer/grads").toDoubleArray();
        int n = (int) p.shape().size();
        List<Tensor> arguments = new ArrayList<>(List.of(p, p, Tensor.of(run.dtype(), new double[]{0.05}, 1)));
        for (double value : initial) {
            double[] values = new double[n];
            Arrays.fill(values, value);
            arguments.add(Tensor.of(run.dtype(), values, n));
        }
        double[] betas = {0.9, 0.99};
        for (int i = 0; i < update.scalars(); i++) {
            arguments.add(Tensor.of(run.dtype(), new double[]{betas[i]}, 1));
        }
        Tensor[] tensors = arguments.toArray(Tensor[]::new);
        for (int step = 0; step < 5; step++) {
            tensors[1] = Tensor.of(run.dtype(), Arrays.copyOfRange(all, step * n, (step + 1) * n), n);
            KernelRun.into(run.kernels(), update, new Tensor[0], tensors);
            if (update instanceof Update.Adamax) {
                // Its power is advanced by an operation of its own.
                Tensor power = tensors[tensors.length - 1];
                tensors[tensors.length - 1] = Tensor.of(run.dtype(), new double[]{power.getDouble(0) * 0.9}, 1);
            }
        }
        // The parameters of the rules are float32: their float64 values differ from the script's in the eighth digit.
        Run near = new Run(run.name(), run.kernels(), run.dtype(), Math.max(run.tolerance(), 3e-6));
        compare(near, name + "/p", p);
    }

    @Test
    void everyArrayIsUsedOrKnown() {
        assertEquals(Shape.of(11), raw("lamb/p").shape());
        assertEquals(309, golden.size());
    }
}
