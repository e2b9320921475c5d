package io.seriatim.graph.ops.elementwise;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.ops.SmallProgram;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations of whole numbers on types without a sign, and on the bits of all of them. */
class UnsignedOperationsTest {
    private static final long MOST = -1;

    private static Tensor run(OpDesc.Builder op, Map<String, Tensor> feeds, String out) {
        return SmallProgram.run(op.build(), feeds, out);
    }

    private static Tensor two(String type, Tensor x, Tensor y) {
        return run(OpDesc.of(type).in("X", "x").in("Y", "y").out("Out", "out"), Map.of("x", x, "y", y), "out");
    }

    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32",
            "UINT64"})
    void bitsAreThoseOfTheType(DType dtype) {
        Tensor x = Tensor.of(dtype, new SplittableRandom(7).longs(50).toArray());
        Tensor y = Tensor.of(dtype, new SplittableRandom(8).longs(50).toArray());
        long[] a = x.toLongArray();
        long[] b = y.toLongArray();
        long[] each = new long[a.length];
        Arrays.setAll(each, i -> a[i] & b[i]);
        assertArrayEquals(Tensor.of(dtype, each).toLongArray(), two("bitwise_and", x, y).toLongArray());
        Arrays.setAll(each, i -> a[i] | b[i]);
        assertArrayEquals(Tensor.of(dtype, each).toLongArray(), two("bitwise_or", x, y).toLongArray());
        Arrays.setAll(each, i -> a[i] ^ b[i]);
        assertArrayEquals(Tensor.of(dtype, each).toLongArray(), two("bitwise_xor", x, y).toLongArray());
        Arrays.setAll(each, i -> ~a[i]);
        assertArrayEquals(Tensor.of(dtype, each).toLongArray(),
                run(OpDesc.of("bitwise_not").in("X", "x").out("Out", "out"), Map.of("x", x), "out").toLongArray());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shiftsKeepTheSignOnlyIfArithmetic(boolean arithmetic) {
        int[] numbers = new SplittableRandom(9).ints(64).toArray();
        Tensor x = Tensor.of(DType.INT32, Arrays.stream(numbers).asLongStream().toArray());
        long[] places = new long[numbers.length];
        Arrays.setAll(places, i -> i / 2);
        Tensor y = Tensor.of(DType.INT32, places);
        for (String type : new String[]{"bitwise_left_shift", "bitwise_right_shift"}) {
            long[] expected = new long[numbers.length];
            Arrays.setAll(expected, i -> type.contains("left")
                    ? numbers[i] << places[i]
                    : arithmetic ? numbers[i] >> places[i] : numbers[i] >>> places[i]);
            Tensor got = run(OpDesc.of(type).in("x", "x").in("y", "y").out("out", "out")
                    .attr("is_arithmetic", arithmetic), Map.of("x", x, "y", y), "out");
            assertEquals(DType.INT32, got.dtype());
            assertArrayEquals(expected, got.toLongArray(), type);
        }
    }

    @Test
    void quotientsAndOrderHaveNoSign() {
        Tensor x = Tensor.of(DType.UINT64, new long[]{MOST, Long.MIN_VALUE, 7});
        Tensor y = Tensor.of(DType.UINT64, new long[]{10, 3, Long.MIN_VALUE});
        assertArrayEquals(new long[]{Long.divideUnsigned(MOST, 10), Long.divideUnsigned(Long.MIN_VALUE, 3), 0},
                two("elementwise_floordiv", x, y).toLongArray());
        assertArrayEquals(new long[]{5, 2, 7}, two("elementwise_mod", x, y).toLongArray());
        assertArrayEquals(new long[]{MOST, Long.MIN_VALUE, Long.MIN_VALUE},
                two("elementwise_max", x, y).toLongArray());
        assertArrayEquals(new long[]{0, 0, 1}, two("less_than", x, y).toLongArray());
        Tensor most = run(OpDesc.of("reduce_max").in("X", "x").out("Out", "out").attr("reduce_all", true),
                Map.of("x", x), "out");
        assertEquals(MOST, most.getLong());
    }

    @Test
    void elementsAreSortedAndPutAsTheirTypeSays() {
        Tensor x = Tensor.of(DType.UINT64, new long[]{MOST, 1, Long.MIN_VALUE, 1});
        Tensor unique = run(
                OpDesc.of("unique").in("X", "x").out("Out", "out").out("Index", "i").out("Indices", "j")
                        .out("Counts", "c").attr("dtype", 3).attr("is_sorted", true).attr("axis", new int[0]),
                Map.of("x", x), "out");
        assertArrayEquals(new long[]{1, Long.MIN_VALUE, MOST}, unique.toLongArray());
        OpDesc.Builder put = OpDesc.of("put_along_axis").in("Input", "x").in("Index", "at").in("Value", "v")
                .out("Result", "out").attr("Axis", 0);
        Map<String, Tensor> feeds = Map.of("x", x, "at", Tensor.of(new long[]{0, 1, 2}), "v",
                Tensor.of(DType.UINT64, new long[]{5, MOST, 2}));
        assertArrayEquals(new long[]{5, 1, 2, 1}, run(put.attr("Reduce", "amin"), feeds, "out").toLongArray());
        assertArrayEquals(new long[]{MOST, MOST, Long.MIN_VALUE, 1},
                run(put.attr("Reduce", "amax"), feeds, "out").toLongArray());
    }

    @Test
    void constantsReachTheEndsOfTheRange() {
        for (String text : new String[]{"18446744073709551615", "9223372036854775808", "0"}) {
            Tensor filled = run(OpDesc.of("fill_constant").out("Out", "out").attr("shape", new long[]{2})
                    .attr("dtype", DataTypes.number(DType.UINT64)).attr("str_value", text), Map.of(), "out");
            assertEquals(text, Long.toUnsignedString(filled.getLong(1)));
        }
        for (String text : new String[]{"18446744073709551616", "-1", "1e30"}) {
            SmallProgram.refused(
                    OpDesc.of("fill_constant").out("Out", "out").attr("shape", new long[]{2})
                            .attr("dtype", DataTypes.number(DType.UINT64)).attr("str_value", text).build(),
                    Map.of(), text, "uint64");
        }
        SmallProgram.refused(
                OpDesc.of("fill_constant").out("Out", "out").attr("shape", new long[]{2})
                        .attr("dtype", DataTypes.number(DType.UINT16)).attr("value", 65536f).build(),
                Map.of(), "65536", "uint16");
    }

    @Test
    void castsWrapAround() {
        for (DType to : new DType[]{DType.UINT16, DType.UINT32, DType.UINT64}) {
            Tensor got = run(OpDesc.of("cast").in("X", "x").out("Out", "out").attr("in_dtype", 3)
                    .attr("out_dtype", DataTypes.number(to)), Map.of("x", Tensor.of(new long[]{-1, 70000})), "out");
            assertEquals(to, got.dtype());
            assertArrayEquals(Tensor.of(to, new long[]{-1, 70000}).toLongArray(), got.toLongArray());
        }
    }
}
