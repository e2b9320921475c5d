package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Casts and transposes of the kernels that are used against the portable ones, to the bit. */
class CopiesTest {
    /** Small enough for plain Java, and large enough for a library. */
    private static final List<Shape> SHAPES = List.of(Shape.of(3, 7), Shape.of(129, 127), Shape.of(240, 250),
            Shape.of(2, 40, 33), Shape.of(4, 16, 28, 28));

    record Case(DType from, DType to, Shape shape, boolean transposed) {
    }

    static Stream<Case> cases() {
        return FastKernels.FLOATS.stream().flatMap(from -> FastKernels.FLOATS.stream().flatMap(to -> SHAPES.stream()
                .flatMap(shape -> Stream.of(new Case(from, to, shape, false), new Case(from, to, shape, true)))));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void giveThePortableBits(Case one) {
        Tensor x = values(one.from(), one.shape());
        Tensor view = one.transposed() ? x.transpose() : x;
        assertArrayEquals(copied(Kernels.portable(), view, one.to()), copied(Kernels.system(), view, one.to()),
                () -> one + ", seed " + FastKernels.SEED);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void keepTheSignsOfZeros(Case one) {
        Tensor x = Tensor.allocate(Devices.system().host(), TensorSpec.of(one.from(), one.shape()));
        float[] zeros = new float[(int) one.shape().size()];
        Arrays.fill(zeros, -0f);
        Floats.store(x, 0, zeros, 0, zeros.length);
        Tensor view = one.transposed() ? x.transpose() : x;
        try (Tensor y = run(Kernels.system(), view, one.to())) {
            for (float value : y.toFloatArray()) {
                assertEquals(Float.floatToRawIntBits(-0f), Float.floatToRawIntBits(value));
            }
        }
    }

    /** Without NaN: its payload is not specified. */
    private static Tensor values(DType dtype, Shape shape) {
        SplittableRandom random = new SplittableRandom(FastKernels.SEED);
        float[] values = new float[(int) shape.size()];
        for (int i = 0; i < values.length; i++) {
            float special = FastKernels.SPECIAL[random.nextInt(FastKernels.SPECIAL.length)];
            values[i] = random.nextInt(4) == 0 && !Float.isNaN(special)
                    ? special
                    : (float) (random.nextGaussian() * Math.exp(8 * random.nextGaussian()));
        }
        Tensor tensor = Tensor.allocate(Devices.system().host(), TensorSpec.of(dtype, shape));
        Floats.store(tensor, 0, values, 0, values.length);
        return tensor;
    }

    private static byte[] copied(Kernels kernels, Tensor x, DType to) {
        try (Tensor y = run(kernels, x, to)) {
            return y.declared().memory().asSlice(y.offset(), y.spec().bytes()).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static Tensor run(Kernels kernels, Tensor x, DType to) {
        TensorSpec spec = TensorSpec.of(to, x.shape());
        Tensor y = Tensor.allocate(Devices.system().host(), spec);
        try (Kernel kernel = kernels.prepare(new Copy(to), Place.CPU, x.spec(), spec)) {
            kernel.run(new Tensor[]{x, y}, KernelContext.current());
        }
        return y;
    }
}
