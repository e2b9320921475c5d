package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.Pad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Padding and gathering move elements alike, in whatever order the axes of both tensors lie in memory. */
class MovedElementsTest {
    private static final int CASES = 150;
    private static final List<DType> TYPES = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.INT64,
            DType.INT8);

    /** A tensor whose axes lie in a given order, the outermost first. */
    private static Tensor lying(DType dtype, Shape shape, List<Integer> order) {
        long[] strides = new long[shape.rank()];
        long step = 1;
        for (int axis : order.reversed()) {
            strides[axis] = step;
            step *= shape.dim(axis);
        }
        Tensor all = Tensor.allocate(dtype, shape.dims());
        all.memory().fill((byte) 0x7f);
        return new Tensor(all.buffer(), all.offset(), new TensorSpec(dtype, shape, Layout.strided(strides)));
    }

    private static Tensor numbers(DType dtype, Shape shape, List<Integer> order) {
        long[] numbers = new long[(int) shape.size()];
        Arrays.setAll(numbers, i -> i % 100 + 1);
        Tensor tensor = lying(dtype, shape, order);
        KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{tensor}, Tensor.of(dtype, numbers, shape.dims()));
        return tensor;
    }

    private static double[] plain(Tensor tensor) {
        Tensor plain = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
        KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{plain}, tensor);
        return plain.toDoubleArray();
    }

    private static List<Integer> order(int rank, Random random) {
        List<Integer> order = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
        switch (random.nextInt(3)) {
            case 0 -> Collections.shuffle(order, random);
            case 1 -> {
                if (rank > 2) {
                    Collections.rotate(order.subList(1, rank), -1);
                }
            }
            default -> {
                // Row-major.
            }
        }
        return order;
    }

    private static Shape shape(Random random) {
        return Shape.of(random.longs(1 + random.nextInt(4), 1, 7).toArray());
    }

    @ParameterizedTest
    @EnumSource(Pad.Mode.class)
    void padding(Pad.Mode mode) {
        for (int seed = 0; seed < CASES; seed++) {
            Random random = new Random(seed);
            Shape inner = shape(random);
            List<Long> before = new ArrayList<>();
            List<Long> after = new ArrayList<>();
            for (int i = 0; i < inner.rank(); i++) {
                int most = switch (mode) {
                    case CONSTANT, REPLICATE -> 4;
                    case REFLECT -> (int) inner.dim(i);
                    case CIRCULAR -> (int) inner.dim(i) + 1;
                };
                before.add(random.nextBoolean() ? 0L : random.nextInt(most));
                after.add(random.nextBoolean() ? 0L : random.nextInt(most));
            }
            Pad pad = new Pad(before, after, mode, mode == Pad.Mode.CONSTANT ? 3 : 0);
            DType dtype = TYPES.get(random.nextInt(TYPES.size()));
            List<Integer> order = order(inner.rank(), random);
            Tensor x = numbers(dtype, inner, order);
            Shape padded = pad.infer(x.spec())[0].shape();
            Tensor y = lying(dtype, padded, random.nextInt(4) == 0 ? order(inner.rank(), random) : order);
            KernelRun.into(Kernels.portable(), pad, new Tensor[]{y}, x);
            assertArrayEquals(padded(pad, plain(x), inner, padded), plain(y),
                    "seed " + seed + ": " + pad + " of " + x.spec() + " into " + y.spec());
        }
    }

    private static double[] padded(Pad pad, double[] from, Shape inner, Shape padded) {
        double[] all = new double[(int) padded.size()];
        for (int i = 0; i < all.length; i++) {
            long rest = i;
            long at = 0;
            long step = 1;
            for (int axis = padded.rank() - 1; axis >= 0; axis--) {
                long source = pad.source(axis, rest % padded.dim(axis), inner.dim(axis));
                rest /= padded.dim(axis);
                at = at < 0 || source < 0 ? -1 : at + source * step;
                step *= inner.dim(axis);
            }
            all[i] = at < 0 ? pad.value() : from[(int) at];
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "FLOAT16", "INT64"})
    void gathering(DType dtype) {
        for (int seed = 0; seed < CASES; seed++) {
            Random random = new Random(seed);
            Shape shape = shape(random);
            int axis = random.nextInt(shape.rank());
            long[] places = random.longs(1 + random.nextInt(9), 0, shape.dim(axis)).toArray();
            Tensor indices = Tensor.of(places, places.length);
            List<Integer> order = order(shape.rank(), random);
            Tensor x = numbers(dtype, shape, order);
            Tensor dense = Tensor.allocate(dtype, shape.dims());
            KernelRun.into(Kernels.portable(), Copy.PLAIN, new Tensor[]{dense}, x);
            Gather gather = Gather.of(axis);
            Tensor expected = KernelRun.run(Kernels.portable(), gather, dense, indices)[0];
            Tensor y = lying(dtype, expected.shape(),
                    random.nextInt(4) == 0 ? order(shape.rank(), random) : order);
            KernelRun.into(Kernels.portable(), gather, new Tensor[]{y}, x, indices);
            assertArrayEquals(expected.toDoubleArray(), plain(y),
                    "seed " + seed + ": " + gather + " of " + x.spec() + " into " + y.spec());
        }
    }
}
