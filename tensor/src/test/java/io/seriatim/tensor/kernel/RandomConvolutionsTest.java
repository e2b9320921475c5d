package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.Window;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Convolutions in groups and transposed ones, of random shapes with random post-ops: whole, with packed weights,
 * channels first and last, and cut into images or rows, against the portable kernel.
 */
class RandomConvolutionsTest {
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 2000 : 100;
    private static final float BOUND = 2e-5f;
    private static final List<Unary> FUNCTIONS = List.of(Unary.of(Unary.Function.TANH),
            Unary.of(Unary.Function.SIGMOID), Unary.of(Unary.Function.RELU),
            new Unary(Unary.Function.LEAKY_RELU, 0.2f, 0));

    private final SplittableRandom seeds = new SplittableRandom(20261126);
    private SplittableRandom random = new SplittableRandom();

    @BeforeAll
    static void needsTheLibrary() {
        FastKernels.needsTheLibrary();
    }

    /** A computation with operands. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Case(Computation computation, Tensor[] inputs, Tensor expected, String where) {
        /** The weights as they are packed. */
        TensorSpec packed() {
            TensorSpec weights = inputs[1].spec();
            return computation instanceof Convolution convolution
                    ? Convolution.packedWeights(weights, convolution.groups())
                    : ConvolutionGradInput.packedWeights(weights, ((ConvolutionGradInput) computation).groups());
        }
    }

    @Test
    void kernelsGiveWhatThePortableOneGives() {
        Map<String, Integer> kinds = new HashMap<>();
        for (int i = 0; i < CASES; i++) {
            Case one = next();
            Tensor[] inputs = one.inputs();
            for (boolean last : new boolean[]{false, true}) {
                Tensor[] arguments = Arrays.copyOf(inputs, inputs.length + 1);
                arguments[0] = laid(inputs[0], last);
                for (int j = 2; j < inputs.length; j++) {
                    arguments[j] = inputs[j].shape().equals(one.expected().shape()) ? laid(inputs[j], last) : inputs[j];
                }
                String where = one.where() + (last ? ", channels last" : "");
                arguments[inputs.length] = empty(one.expected().shape(), last);
                TensorSpec preferred;
                try (Kernel kernel = Kernels.system().prepare(one.computation(), Place.CPU, specs(arguments))) {
                    kernel.run(arguments, KernelContext.current());
                    preferred = kernel.preferred(1, inputs[1].spec());
                }
                assertClose(one.expected(), arguments[inputs.length], where);
                parts(one, arguments, where);
                if (preferred.layout() instanceof Layout.Opaque) {
                    packed(one, arguments, preferred, last, where);
                    kinds.merge("packed", 1, Integer::sum);
                }
                kinds.merge("all", 1, Integer::sum);
            }
        }
        assertTrue(kinds.getOrDefault("packed", 0) > CASES / 2, kinds::toString);
    }

    private static void packed(Case one, Tensor[] arguments, TensorSpec preferred, boolean last, String where) {
        int end = arguments.length - 1;
        Tensor[] others = arguments.clone();
        TensorSpec source = one.packed();
        Tensor weights = Tensor.allocate(Devices.system().host(), preferred);
        KernelRun.into(Kernels.system(), Copy.PLAIN,
                new Tensor[]{new Tensor(weights.buffer(), 0,
                        new TensorSpec(DType.FLOAT32, source.shape(), preferred.layout()))},
                new Tensor(arguments[1].buffer(), arguments[1].offset(), source));
        others[1] = weights;
        others[end] = empty(one.expected().shape(), last);
        try (Kernel kernel = Kernels.system().prepare(one.computation(), Place.CPU, specs(others))) {
            assertEquals("onednn", kernel.provider(), where);
            kernel.run(others, KernelContext.current());
        }
        assertClose(one.expected(), others[end], where + ", packed");
    }

    /** Each split in two or three parts. */
    private void parts(Case one, Tensor[] arguments, String where) {
        TensorSpec[] specs = specs(arguments);
        for (Split split : one.computation().splits(specs)) {
            long length = split.length(specs);
            long count = Math.min(random.nextInt(2, 4), length / Math.max(split.least(), split.unit()));
            if (count < 2) {
                continue;
            }
            Tensor result = arguments[arguments.length - 1];
            result.memory().fill((byte) 0x7f);
            boolean done = true;
            for (int part = 0; part < count; part++) {
                Split.Range range = new Split.Range(part * length / count / split.unit() * split.unit(),
                        part == count - 1 ? length : (part + 1) * length / count / split.unit() * split.unit());
                Tensor[] views = arguments.clone();
                for (int i = 0; i < views.length; i++) {
                    int axis = split.axes().get(i);
                    if (axis == Split.WHOLE) {
                        continue;
                    }
                    Split.Range places = split.range(i, range, length, specs[i].shape().dim(axis));
                    done &= places.from() < places.to();
                    if (done) {
                        views[i] = cut(arguments[i], axis, places);
                    }
                }
                if (!done) {
                    break;
                }
                Computation computation = one.computation().part(split, range, specs);
                try (Kernel kernel = Kernels.system().prepare(computation, Place.CPU, specs(views))) {
                    kernel.run(views, KernelContext.current());
                }
            }
            if (done) {
                assertClose(one.expected(), result, where + ", in " + count + " parts by " + split);
            }
        }
    }

    private static Tensor cut(Tensor whole, int axis, Split.Range places) {
        long[] dims = whole.shape().dims();
        long[] strides = whole.spec().strides();
        dims[axis] = places.to() - places.from();
        return new Tensor(whole.buffer(), whole.offset() + places.from() * strides[axis] * Float.BYTES,
                new TensorSpec(DType.FLOAT32, Shape.of(dims), Layout.strided(strides)));
    }

    private Case next() {
        long seed = seeds.nextLong();
        random = new SplittableRandom(seed);
        while (true) {
            Case one = random.nextInt(3) == 0 ? grouped(seed) : transposed(seed);
            if (one != null) {
                return one;
            }
        }
    }

    private @Nullable Case grouped(long seed) {
        int rank = random.nextInt(1, 4);
        int groups = random.nextInt(1, 9);
        long inputs = random.nextInt(4) == 0 ? 1 : random.nextInt(1, 20);
        long outputs = inputs == 1 && random.nextBoolean() ? 1 : random.nextInt(1, 20);
        boolean pointwise = random.nextBoolean();
        int[] strides = new int[rank];
        int[] begin = new int[rank];
        int[] end = new int[rank];
        int[] dilations = new int[rank];
        long[] x = new long[rank + 2];
        long[] w = new long[rank + 2];
        long[] y = new long[rank + 2];
        x[0] = random.nextInt(1, 4);
        x[1] = inputs * groups;
        w[0] = outputs * groups;
        w[1] = inputs;
        y[0] = x[0];
        y[1] = w[0];
        for (int i = 0; i < rank; i++) {
            strides[i] = pointwise ? 1 : random.nextInt(1, 3);
            dilations[i] = 1;
            w[2 + i] = pointwise ? 1 : random.nextInt(1, 4);
            x[2 + i] = random.nextInt(1, rank == 1 ? 60 : rank == 2 ? 14 : 6);
            begin[i] = pointwise ? 0 : random.nextInt((int) w[2 + i]);
            end[i] = pointwise ? 0 : random.nextInt((int) w[2 + i]);
            y[2 + i] = Math.floorDiv(x[2 + i] + begin[i] + end[i] - w[2 + i], strides[i]) + 1;
            if (y[2 + i] < 1) {
                return null;
            }
        }
        List<Tensor> operands = new ArrayList<>(List.of(numbers(x), numbers(w)));
        boolean bias = random.nextBoolean();
        if (bias) {
            operands.add(numbers(w[0]));
        }
        List<PostOp> postOps = postOps(operands, y);
        return of(new Convolution(Window.of(strides, begin, end, dilations), groups, bias, postOps), operands, seed);
    }

    private List<PostOp> postOps(List<Tensor> operands, long[] result) {
        List<PostOp> postOps = new ArrayList<>();
        for (int count = random.nextInt(4); count > 0; count--) {
            long[] dims = new long[result.length - 1];
            Arrays.fill(dims, 1);
            dims[0] = random.nextInt(6) == 0 ? 1 : result[1];
            postOps.add(new PostOp.Combine(random.nextBoolean() ? Binary.Function.ADD : Binary.Function.MULTIPLY));
            operands.add(numbers(random.nextInt(8) == 0 ? result : dims));
        }
        if (random.nextBoolean()) {
            Unary function = FUNCTIONS.get(random.nextInt(FUNCTIONS.size()));
            postOps.add(new PostOp.Apply(function.function(), function.alpha(), function.beta()));
        }
        return postOps;
    }

    private static Case of(Computation computation, List<Tensor> operands, long seed) {
        Tensor[] given = operands.toArray(Tensor[]::new);
        String where = "seed " + seed + ": " + computation + " of "
                + operands.stream().map(each -> each.shape().toString()).toList();
        return new Case(computation, given, KernelRun.run(Kernels.portable(), computation, given)[0], where);
    }

    private @Nullable Case transposed(long seed) {
        // Some images are so large that products are computed for a part of their rows at a time.
        boolean large = random.nextInt(16) == 0;
        int rank = large || random.nextInt(10) < 7 ? 2 : random.nextInt(1, 4);
        int groups = !large && random.nextInt(5) == 0 ? random.nextInt(2, 5) : 1;
        long perGroup = large || random.nextBoolean() ? random.nextInt(1, large ? 8 : 20) : 16;
        long inputs = large ? 3 : groups * (random.nextBoolean() ? random.nextInt(1, 40) : 32L);
        int[] strides = new int[rank];
        int[] begin = new int[rank];
        int[] end = new int[rank];
        int[] dilations = new int[rank];
        long[] x = new long[rank + 2];
        long[] w = new long[rank + 2];
        List<Long> spatial = new ArrayList<>();
        x[0] = random.nextInt(1, 4);
        x[1] = inputs;
        w[0] = inputs;
        w[1] = perGroup;
        for (int i = 0; i < rank; i++) {
            strides[i] = random.nextInt(1, 4);
            dilations[i] = random.nextInt(4) == 0 ? 2 : 1;
            w[2 + i] = random.nextInt(1, 6);
            x[2 + i] = large ? random.nextInt(20, 60) : random.nextInt(1, rank == 1 ? 60 : rank == 2 ? 14 : 6);
            long extent = (w[2 + i] - 1) * dilations[i] + 1;
            begin[i] = random.nextInt((int) extent);
            end[i] = random.nextInt((int) extent);
            long length = (x[2 + i] - 1) * strides[i] + extent - begin[i] - end[i] + random.nextInt(strides[i]);
            if (length < 1) {
                return null;
            }
            spatial.add(length);
        }
        List<Tensor> operands = new ArrayList<>(List.of(numbers(x), numbers(w)));
        long[] y = new long[rank + 2];
        y[0] = x[0];
        y[1] = perGroup * groups;
        for (int i = 0; i < rank; i++) {
            y[2 + i] = spatial.get(i);
        }
        List<PostOp> postOps = postOps(operands, y);
        return of(new ConvolutionGradInput(Window.of(strides, begin, end, dilations), groups, spatial, postOps),
                operands, seed);
    }

    private Tensor numbers(long... dims) {
        return Tensor.of(DType.FLOAT32, random.doubles(Shape.of(dims).size(), -1, 1).toArray(), dims);
    }

    private static TensorSpec spec(Shape shape, boolean last) {
        long[] dims = shape.dims();
        long[] strides = shape.strides();
        if (last) {
            strides[1] = 1;
            long step = dims[1];
            for (int i = dims.length - 1; i > 1; i--) {
                strides[i] = step;
                step *= dims[i];
            }
            strides[0] = step;
        }
        return new TensorSpec(DType.FLOAT32, shape, Layout.strided(strides));
    }

    private static Tensor empty(Shape shape, boolean last) {
        Tensor empty = Tensor.allocate(DType.FLOAT32, shape.dims());
        empty.memory().fill((byte) 0x7f);
        return new Tensor(empty.buffer(), empty.offset(), spec(shape, last));
    }

    private static Tensor laid(Tensor dense, boolean last) {
        Tensor turned = empty(dense.shape(), last);
        KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{turned}, dense);
        return turned;
    }

    private static TensorSpec[] specs(Tensor... tensors) {
        return Arrays.stream(tensors).map(Tensor::spec).toArray(TensorSpec[]::new);
    }

    private static void assertClose(Tensor expected, Tensor found, String where) {
        Tensor dense = Tensor.allocate(DType.FLOAT32, found.shape().dims());
        KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{dense}, found);
        float[] a = expected.toFloatArray();
        float[] b = dense.toFloatArray();
        float largest = 1;
        for (float value : a) {
            largest = Math.max(largest, Math.abs(value));
        }
        for (int i = 0; i < a.length; i++) {
            int at = i;
            assertTrue(Math.abs(a[i] - b[i]) <= BOUND * largest,
                    () -> where + ": element " + at + " is " + b[at] + ", not " + a[at]);
        }
    }
}
