package io.seriatim.tensor.kernel.portable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.network.LinearResampling;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Against sums in plain loops, in every order of dimensions in memory. */
class LinearResamplingTest {
    private static void run(Computation computation, Tensor... arguments) {
        TensorSpec[] specs = new TensorSpec[arguments.length];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = arguments[i].spec();
        }
        try (Kernel kernel = Kernels.portable().prepare(computation, Place.CPU, specs)) {
            kernel.run(arguments, KernelContext.current());
        }
    }

    /** Memory of a tensor whose dimensions lie in another order. */
    private static Tensor permuted(SplittableRandom random, long... dims) {
        int[] order = new int[dims.length];
        for (int i = 0; i < order.length; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        long[] strides = new long[dims.length];
        long step = 1;
        for (int axis : order) {
            strides[axis] = step;
            step *= dims[axis];
        }
        Tensor memory = Tensor.allocate(Devices.system().host(), TensorSpec.of(DType.FLOAT32, dims));
        return new Tensor(memory.buffer(), 0,
                new TensorSpec(DType.FLOAT32, Shape.of(dims), Layout.strided(strides)));
    }

    private static float[] expected(Tensor x, int axis, long[] low, long[] high, float[] u, float[] v) {
        long outer = x.shape().slice(0, axis).size();
        int length = (int) x.shape().dim(axis);
        int inner = (int) x.shape().slice(axis + 1, x.shape().rank()).size();
        float[] from = x.toFloatArray();
        float[] to = new float[(int) outer * low.length * inner];
        for (int o = 0; o < outer; o++) {
            for (int i = 0; i < low.length; i++) {
                for (int j = 0; j < inner; j++) {
                    to[(o * low.length + i) * inner + j] = from[(o * length + (int) low[i]) * inner + j] * u[i]
                            + from[(o * length + (int) high[i]) * inner + j] * v[i];
                }
            }
        }
        return to;
    }

    @Test
    void sumsAreThoseOfPlainLoops() {
        for (int number = 0; number < 300; number++) {
            SplittableRandom random = new SplittableRandom(number);
            int rank = random.nextInt(1, 5);
            long[] dims = new long[rank];
            for (int i = 0; i < rank; i++) {
                dims[i] = random.nextInt(1, random.nextInt(6) == 0 ? 600 : 9);
            }
            int axis = random.nextInt(rank);
            int count = random.nextInt(1, 40);
            long[] low = random.longs(count, 0, dims[axis]).toArray();
            long[] high = random.longs(count, 0, dims[axis]).toArray();
            Tensor u = Tensor.of(DType.FLOAT32, random.doubles(count, -1, 1).toArray(), count);
            Tensor v = Tensor.of(DType.FLOAT32, random.doubles(count, -1, 1).toArray(), count);
            Tensor plain = Tensor.of(DType.FLOAT32, random.doubles(Shape.of(dims).size(), -9, 9).toArray(), dims);
            Tensor x = random.nextBoolean() ? plain : permuted(random, dims);
            if (x != plain) {
                run(Copy.PLAIN, plain, x);
            }
            long[] result = dims.clone();
            result[axis] = count;
            SplittableRandom same = random.split();
            Tensor y = random.nextBoolean()
                    ? permuted(same, result)
                    : Tensor.allocate(Devices.system().host(), TensorSpec.of(DType.FLOAT32, result));
            run(new LinearResampling(axis - (random.nextBoolean() ? rank : 0)), x, Tensor.of(low, count),
                    Tensor.of(high, count), u, v, y);
            assertArrayEquals(expected(plain, axis, low, high, u.toFloatArray(), v.toFloatArray()), y.toFloatArray(),
                    "case " + number);
        }
    }

    @Test
    void placesBeyondAreRefused() {
        Tensor x = Tensor.of(DType.FLOAT32, new double[]{1, 2, 3}, 3);
        Tensor one = Tensor.of(DType.FLOAT32, new double[]{1}, 1);
        for (long place : new long[]{-1, 3, Long.MAX_VALUE}) {
            IndexRangeException refused = assertThrows(IndexRangeException.class, () -> run(new LinearResampling(0), x,
                    Tensor.of(new long[]{0}, 1), Tensor.of(new long[]{place}, 1), one, one,
                    Tensor.of(DType.FLOAT32, new double[]{0}, 1)));
            assertTrue(String.valueOf(refused.getMessage()).contains("from 0 to 2, but is " + place),
                    refused::getMessage);
        }
    }
}
