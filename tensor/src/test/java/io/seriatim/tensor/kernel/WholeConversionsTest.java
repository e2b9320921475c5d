package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Copy;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Conversions to whole numbers of what they do not hold, as in NumPy, PaddlePaddle and ONNX Runtime. */
class WholeConversionsTest {
    private static final double[] NUMBERS = {1e13, -1e13, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
            Double.NaN, 3e9, -3e9, 300, -1.5, 2.5, 70000, -200, 0x1p31, -0x1p31, 0x1p63, -0x1p63, -0.9};
    private static final long INT = Integer.MIN_VALUE;
    private static final long LONG = Long.MIN_VALUE;

    static Stream<Arguments> types() {
        return Stream.of(DType.FLOAT32, DType.FLOAT64).flatMap(from -> {
            long far = from == DType.FLOAT32 ? 9_999_999_827_968L : 10_000_000_000_000L;
            return Stream.of(
                    Arguments.of(from, DType.INT8, longs(0, 0, 0, 0, 0, 0, 0, 44, -1, 2, 112, 56, 0, 0, 0, 0, 0)),
                    Arguments.of(from, DType.UINT8, longs(0, 0, 0, 0, 0, 0, 0, 44, 255, 2, 112, 56, 0, 0, 0, 0, 0)),
                    Arguments.of(from, DType.INT16,
                            longs(0, 0, 0, 0, 0, 0, 0, 300, -1, 2, 4464, -200, 0, 0, 0, 0, 0)),
                    Arguments.of(from, DType.UINT16,
                            longs(0, 0, 0, 0, 0, 0, 0, 300, 65535, 2, 4464, 65336, 0, 0, 0, 0, 0)),
                    Arguments.of(from, DType.INT32, longs(INT, INT, INT, INT, INT, INT, INT, 300, -1, 2, 70000, -200,
                            INT, INT, INT, INT, 0)),
                    Arguments.of(from, DType.INT64, longs(far, -far, LONG, LONG, LONG, 3_000_000_000L,
                            -3_000_000_000L, 300, -1, 2, 70000, -200, -INT, INT, LONG, LONG, 0)));
        });
    }

    private static long[] longs(long... values) {
        return values;
    }

    @ParameterizedTest
    @MethodSource("types")
    void whatATypeDoesNotHoldBecomesItsLeastNumber(DType from, DType to, long[] expected) {
        Tensor x = Tensor.allocate(from, NUMBERS.length, 1);
        for (int i = 0; i < NUMBERS.length; i++) {
            Doubles.set(x.memory(), from, (long) i * from.bytes(), NUMBERS[i]);
        }
        for (long columns : List.of(1L, 2L)) {
            Tensor y = Tensor.allocate(to, NUMBERS.length, columns).slice(1, 0, 1);
            KernelRun.into(Kernels.portable(), new Copy(to), new Tensor[]{y}, x);
            assertArrayEquals(expected, y.toLongArray(), () -> Arrays.toString(y.toLongArray()));
        }
        long[] single = new long[NUMBERS.length];
        Tensor element = Tensor.allocate(to, 1);
        for (int i = 0; i < single.length; i++) {
            double number = from == DType.FLOAT32 ? (float) NUMBERS[i] : NUMBERS[i];
            Doubles.set(element.memory(), to, element.offset(), number);
            single[i] = element.toLongArray()[0];
        }
        assertArrayEquals(expected, single);
    }
}
