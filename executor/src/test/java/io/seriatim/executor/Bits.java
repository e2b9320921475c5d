package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.fail;

import io.seriatim.executor.ir.Copies;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;

/** Creates tensors for tests, and compares them bit for bit. */
public final class Bits {
    private Bits() {
    }

    /** Returns a tensor of normally distributed random numbers. */
    public static Tensor normal(long seed, long... dims) {
        Random random = new Random(seed);
        float[] values = new float[Math.toIntExact(Arrays.stream(dims).reduce(1, Math::multiplyExact))];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, dims);
    }

    /** Returns a tensor of random integers from 0, inclusive, to a bound, exclusive. */
    public static Tensor below(long bound, long seed, long... dims) {
        return Tensor.of(new Random(seed).longs(Arrays.stream(dims).reduce(1, Math::multiplyExact), 0, bound).toArray(),
                dims);
    }

    public static Tensor floats(double... values) {
        return Tensor.of(DType.FLOAT32, values, values.length);
    }

    static Tensor longs(long... values) {
        return Tensor.of(values, values.length);
    }

    private static MemorySegment elements(Tensor tensor) {
        if (!tensor.spec().isRowMajor()) {
            throw new IllegalArgumentException("Only row-major tensors are compared, but there is " + tensor);
        }
        return tensor.memory().asSlice(tensor.offset(), tensor.spec().bytes());
    }

    static byte[] of(Tensor tensor) {
        return tensor.shape().size() == 0 ? new byte[0] : elements(tensor).toArray(ValueLayout.JAVA_BYTE);
    }

    public static Tensor copy(Tensor tensor) {
        Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
        if (tensor.shape().size() > 0) {
            elements(copy).copyFrom(elements(tensor));
        }
        return copy;
    }

    /** Returns the tensor, or a copy in host memory if it is on a device. */
    public static Tensor onHost(Tensor tensor) {
        return Copies.toHost(tensor);
    }

    public static boolean same(Tensor a, Tensor b) {
        return a.spec().equals(b.spec()) && Arrays.equals(of(a), of(b));
    }

    public static void assertSame(Tensor expected, Tensor found, String where) {
        if (!same(expected, found)) {
            fail(where + ": expected " + text(expected) + ", but found " + text(found));
        }
    }

    private static String text(Tensor tensor) {
        String values = Arrays
                .toString(Arrays.copyOf(tensor.toDoubleArray(), (int) Math.min(12, tensor.shape().size())));
        return tensor.spec() + " " + values;
    }
}
