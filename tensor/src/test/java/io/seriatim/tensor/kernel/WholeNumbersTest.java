package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels of all types of whole numbers, at the ends of their ranges too, against {@link BigInteger}. */
class WholeNumbersTest {
    private static final long SEED = 20261123;
    private static final int COUNT = 1500;
    private static final List<DType> TYPES = Arrays.stream(DType.values()).filter(DType::isWhole).toList();
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16);

    record Case(Kernels kernels, DType dtype) {
        @Override
        public String toString() {
            return dtype.toString();
        }
    }

    static Stream<Case> cases() {
        return Stream.of(Kernels.portable(), Kernels.system())
                .flatMap(kernels -> TYPES.stream().map(dtype -> new Case(kernels, dtype)));
    }

    private static int width(DType dtype) {
        return 8 * dtype.bytes();
    }

    private static BigInteger value(DType dtype, long bits) {
        return dtype == DType.UINT64 ? new BigInteger(Long.toUnsignedString(bits)) : BigInteger.valueOf(bits);
    }

    private static BigInteger[] values(Tensor tensor) {
        return Arrays.stream(tensor.toLongArray()).mapToObj(bits -> value(tensor.dtype(), bits))
                .toArray(BigInteger[]::new);
    }

    /** As a type keeps it: what does not fit wraps around. */
    private static BigInteger wrapped(DType dtype, BigInteger value) {
        BigInteger range = BigInteger.ONE.shiftLeft(width(dtype));
        BigInteger bits = value.mod(range);
        boolean negative = !dtype.isUnsigned() && bits.testBit(width(dtype) - 1);
        return negative ? bits.subtract(range) : bits;
    }

    /** Numbers of all lengths, with those at the ends of the range among them. */
    private static Tensor numbers(DType dtype, SplittableRandom random, long... dims) {
        long[] bits = new long[(int) Arrays.stream(dims).reduce(1, (a, b) -> a * b)];
        for (int i = 0; i < bits.length; i++) {
            long any = random.nextLong() >> random.nextInt(64);
            bits[i] = switch (random.nextInt(8)) {
                case 0 -> 0;
                case 1 -> 1;
                case 2 -> -1;
                case 3 -> 1L << (width(dtype) - 1);
                case 4 -> (1L << (width(dtype) - 1)) - 1;
                default -> any;
            };
        }
        return Tensor.of(dtype, bits, dims);
    }

    private static void check(String what, DType dtype, BigInteger[] expected, Tensor got) {
        assertEquals(dtype, got.dtype(), what);
        assertArrayEquals(Arrays.stream(expected).map(each -> wrapped(dtype, each)).toArray(), values(got), what);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void functionsOfTwo(Case one) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (Binary.Function function : Binary.Function.values()) {
            Tensor x = numbers(one.dtype, random, COUNT);
            Tensor y = operands(function, one.dtype, random);
            BigInteger[] a = values(x);
            BigInteger[] b = values(y);
            BigInteger[] expected = IntStream.range(0, COUNT).mapToObj(i -> apply(one.dtype, function, a[i], b[i]))
                    .toArray(BigInteger[]::new);
            Tensor got = KernelRun.run(one.kernels, Binary.of(function), x, y)[0];
            if (function.isTest()) {
                assertEquals(DType.BOOL, got.dtype());
                assertArrayEquals(expected, values(got), function.toString());
            } else {
                check(function.toString(), one.dtype, expected, got);
            }
        }
    }

    private static Tensor operands(Binary.Function function, DType dtype, SplittableRandom random) {
        return switch (function) {
            case POWER -> Tensor.of(dtype, random.longs(COUNT, 0, 100).toArray());
            case SHIFT_LEFT, SHIFT_RIGHT -> Tensor.of(dtype, random.longs(COUNT, 0, 100).toArray());
            case DIVIDE, MODULO, REMAINDER, FLOOR_DIVIDE -> {
                long[] bits = numbers(dtype, random, COUNT).toLongArray();
                yield Tensor.of(dtype, Arrays.stream(bits).map(each -> each == 0 ? 3 : each).toArray());
            }
            default -> numbers(dtype, random, COUNT);
        };
    }

    private static BigInteger apply(DType dtype, Binary.Function function, BigInteger x, BigInteger y) {
        return switch (function) {
            case ADD -> x.add(y);
            case SUBTRACT -> x.subtract(y);
            case MULTIPLY -> x.multiply(y);
            case DIVIDE -> x.divide(y);
            case MAXIMUM -> x.max(y);
            case MINIMUM -> x.min(y);
            case PRELU -> x.signum() < 0 ? x.multiply(y) : x;
            case POWER -> x.modPow(y, BigInteger.ONE.shiftLeft(width(dtype)));
            case REMAINDER -> x.remainder(y);
            case MODULO -> x.subtract(floor(x, y).multiply(y));
            case FLOOR_DIVIDE -> floor(x, y);
            case EQUAL -> truth(x.equals(y));
            case NOT_EQUAL -> truth(!x.equals(y));
            case LESS -> truth(x.compareTo(y) < 0);
            case LESS_EQUAL -> truth(x.compareTo(y) <= 0);
            case GREATER -> truth(x.compareTo(y) > 0);
            case GREATER_EQUAL -> truth(x.compareTo(y) >= 0);
            case LOGICAL_AND -> truth(x.signum() != 0 && y.signum() != 0);
            case LOGICAL_OR -> truth(x.signum() != 0 || y.signum() != 0);
            case LOGICAL_XOR -> truth(x.signum() != 0 != (y.signum() != 0));
            case BITWISE_AND -> x.and(y);
            case BITWISE_OR -> x.or(y);
            case BITWISE_XOR -> x.xor(y);
            case SHIFT_LEFT -> x.shiftLeft(y.intValue());
            case SHIFT_RIGHT -> x.shiftRight(y.intValue());
        };
    }

    private static BigInteger truth(boolean holds) {
        return holds ? BigInteger.ONE : BigInteger.ZERO;
    }

    private static BigInteger floor(BigInteger x, BigInteger y) {
        BigInteger[] both = x.divideAndRemainder(y);
        return both[1].signum() != 0 && both[1].signum() != y.signum() ? both[0].subtract(BigInteger.ONE) : both[0];
    }

    @ParameterizedTest
    @MethodSource("cases")
    void functionsOfOne(Case one) {
        Tensor x = numbers(one.dtype, new SplittableRandom(SEED), COUNT);
        BigInteger[] in = values(x);
        for (Unary.Function function : List.of(Unary.Function.RELU, Unary.Function.CLIP, Unary.Function.SQUARE,
                Unary.Function.ABS, Unary.Function.LINEAR, Unary.Function.NEGATE, Unary.Function.FLOOR,
                Unary.Function.CEIL, Unary.Function.ROUND, Unary.Function.SIGN)) {
            BigInteger[] expected = Arrays.stream(in).map(each -> switch (function) {
                case RELU -> each.max(BigInteger.ZERO);
                case CLIP -> each.max(BigInteger.TWO).min(BigInteger.valueOf(100));
                case SQUARE -> each.multiply(each);
                case ABS -> each.abs();
                case LINEAR -> each.multiply(BigInteger.valueOf(3)).subtract(BigInteger.TEN);
                case NEGATE -> each.negate();
                case SIGN -> BigInteger.valueOf(each.signum());
                default -> each;
            }).toArray(BigInteger[]::new);
            float alpha = function == Unary.Function.CLIP ? 2 : 3;
            float beta = function == Unary.Function.CLIP ? 100 : -10;
            check(function.toString(), one.dtype, expected,
                    KernelRun.run(one.kernels, new Unary(function, alpha, beta), x)[0]);
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void castsWrapAroundOrRound(Case one) {
        SplittableRandom random = new SplittableRandom(SEED);
        Tensor x = numbers(one.dtype, random, COUNT);
        BigInteger[] in = values(x);
        for (DType to : TYPES) {
            check("to " + to, to, in, KernelRun.run(one.kernels, new Copy(to), x)[0]);
        }
        for (DType to : FLOATS) {
            Tensor got = KernelRun.run(one.kernels, new Copy(to), x)[0];
            double[] expected = Arrays.stream(in)
                    .mapToDouble(each -> to == DType.FLOAT64 ? each.doubleValue() : each.floatValue()).toArray();
            assertArrayEquals(Tensor.of(to, expected).toDoubleArray(), got.toDoubleArray(), "to " + to);
        }
        Tensor truths = KernelRun.run(one.kernels, new Copy(DType.BOOL), x)[0];
        assertArrayEquals(Arrays.stream(in).mapToLong(each -> Math.abs(each.signum())).toArray(),
                truths.toLongArray());
    }

    @ParameterizedTest
    @MethodSource("cases")
    void castsOfNumbersTruncate(Case one) {
        SplittableRandom random = new SplittableRandom(SEED);
        int most = width(one.dtype) - (one.dtype.isUnsigned() ? 0 : 1);
        for (DType from : List.of(DType.FLOAT32, DType.FLOAT64)) {
            double[] numbers = new double[COUNT];
            for (int i = 0; i < COUNT; i++) {
                double number = Math.scalb(random.nextDouble(), random.nextInt(most + 1));
                numbers[i] = from == DType.FLOAT32 ? Math.min((float) number, Math.scalb(0x0.ffffffp0f, most)) : number;
                numbers[i] *= random.nextInt(4) == 0 && !one.dtype.isUnsigned() ? -1 : 1;
            }
            Tensor x = Tensor.of(from, numbers);
            BigInteger[] expected = Arrays.stream(numbers).mapToObj(each -> new BigDecimal(each).toBigInteger())
                    .toArray(BigInteger[]::new);
            check("from " + from, one.dtype, expected, KernelRun.run(one.kernels, new Copy(one.dtype), x)[0]);
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void reductions(Case one) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (Reduction.Function function : Reduction.Function.values()) {
            Tensor x = numbers(one.dtype, random, 40, 7);
            BigInteger[] in = values(x);
            if (function == Reduction.Function.MEAN || function == Reduction.Function.LOG_SUM_EXP) {
                assertThrows(NoKernelException.class,
                        () -> KernelRun.run(one.kernels, new Reduction(function, List.of(1), false), x));
                continue;
            }
            BigInteger[] expected = IntStream.range(0, 40)
                    .mapToObj(row -> folded(function, Arrays.asList(in).subList(7 * row, 7 * row + 7)))
                    .toArray(BigInteger[]::new);
            Tensor got = KernelRun.run(one.kernels, new Reduction(function, List.of(1), false), x)[0];
            boolean logic = function == Reduction.Function.ALL || function == Reduction.Function.ANY;
            check(function.toString(), logic ? DType.BOOL : one.dtype,
                    expected, got);
        }
    }

    private static BigInteger folded(Reduction.Function function, List<BigInteger> row) {
        Stream<BigInteger> all = row.stream();
        return switch (function) {
            case SUM -> all.reduce(BigInteger.ZERO, BigInteger::add);
            case PRODUCT -> all.reduce(BigInteger.ONE, BigInteger::multiply);
            case MAX -> all.max(Comparator.naturalOrder()).orElseThrow();
            case MIN -> all.min(Comparator.naturalOrder()).orElseThrow();
            case SUM_OF_SQUARES -> all.map(each -> each.multiply(each)).reduce(BigInteger.ZERO, BigInteger::add);
            case SUM_OF_MAGNITUDES -> all.map(BigInteger::abs).reduce(BigInteger.ZERO, BigInteger::add);
            case ALL -> truth(all.allMatch(each -> each.signum() != 0));
            case ANY -> truth(all.anyMatch(each -> each.signum() != 0));
            case MEAN, LOG_SUM_EXP -> throw new IllegalArgumentException(function + " of whole numbers");
        };
    }

    @ParameterizedTest
    @MethodSource("cases")
    void orderIsThatOfTheType(Case one) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int length : new int[]{1, 9, 50}) {
            Tensor x = numbers(one.dtype, random, length);
            BigInteger[] in = values(x);
            for (boolean largest : new boolean[]{true, false}) {
                Comparator<Integer> byValue = Comparator.comparing(i -> in[i]);
                List<Integer> order = new ArrayList<>(IntStream.range(0, length).boxed().toList());
                order.sort(largest ? byValue.reversed() : byValue);
                for (int k : new int[]{Math.min(length, 3), length}) {
                    Tensor[] got = KernelRun.run(one.kernels, new TopK(k, 0, largest), x);
                    check("values", one.dtype, order.stream().limit(k).map(i -> in[i]).toArray(BigInteger[]::new),
                            got[0]);
                    assertArrayEquals(order.stream().limit(k).mapToLong(i -> i).toArray(), got[1].toLongArray());
                }
                Tensor place = KernelRun.run(one.kernels, new ArgReduction(largest, 0, false), x)[0];
                assertEquals((long) order.getFirst(), place.getLong());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void sumsWrapAround(Case one) {
        SplittableRandom random = new SplittableRandom(SEED);
        Tensor x = numbers(one.dtype, random, 30);
        BigInteger[] sums = values(x);
        for (int i = 1; i < sums.length; i++) {
            sums[i] = sums[i].add(sums[i - 1]);
        }
        check("scan", one.dtype, sums, KernelRun.run(one.kernels, new Scan(0, false, false), x)[0]);
        Tensor values = numbers(one.dtype, random, 4);
        BigInteger[] put = values(x);
        int[] places = {3, 29, 3, 3};
        for (int i = 0; i < places.length; i++) {
            put[places[i]] = put[places[i]].add(values(values)[i]);
        }
        check("put", one.dtype, put, KernelRun.run(one.kernels, new PutAlongAxis(0, true), x,
                Tensor.of(new long[]{3, 29, 3, 3}), values)[0]);
        if (one.dtype.bytes() > 1) {
            Tensor a = numbers(one.dtype, random, 3, 5);
            Tensor b = numbers(one.dtype, random, 5, 2);
            BigInteger[] products = IntStream.range(0, 6).mapToObj(i -> IntStream.range(0, 5)
                    .mapToObj(k -> values(a)[i / 2 * 5 + k].multiply(values(b)[2 * k + i % 2]))
                    .reduce(BigInteger.ZERO, BigInteger::add)).toArray(BigInteger[]::new);
            check("product", one.dtype, products, KernelRun.run(one.kernels, MatMul.PLAIN, a, b)[0]);
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void elementsAreMovedUnchanged(Case one) {
        SplittableRandom random = new SplittableRandom(SEED);
        Tensor x = numbers(one.dtype, random, 6, 5);
        BigInteger[] in = values(x);
        BigInteger[] turned = IntStream.range(0, 30).mapToObj(i -> in[i % 6 * 5 + i / 6]).toArray(BigInteger[]::new);
        check("transpose", one.dtype, turned, KernelRun.run(one.kernels, Copy.PLAIN, x.transpose())[0]);
        check("gather", one.dtype, Arrays.copyOfRange(in, 15, 20),
                KernelRun.run(one.kernels, Gather.of(0), x, Tensor.of(new long[]{3}, 1))[0]);
        Tensor other = numbers(one.dtype, random, 6, 5);
        Tensor condition = KernelRun.run(one.kernels, Binary.of(Binary.Function.GREATER), x, other)[0];
        BigInteger[] most = IntStream.range(0, 30).mapToObj(i -> in[i].max(values(other)[i]))
                .toArray(BigInteger[]::new);
        check("where", one.dtype, most, KernelRun.run(one.kernels, new Where(), condition, x, other)[0]);
        double largest = Math.scalb(1.0, width(one.dtype) - 1);
        Tensor filled = Tensor.allocate(one.dtype, 3);
        KernelRun.into(one.kernels, new Fill(one.dtype.isUnsigned() ? largest : -largest), new Tensor[]{filled});
        BigInteger end = BigInteger.ONE.shiftLeft(width(one.dtype) - 1);
        check("fill", one.dtype, new BigInteger[]{end, end, end}, filled);
        Pad pad = new Pad(List.of(1L), List.of(0L), Pad.Mode.CONSTANT, one.dtype.isUnsigned() ? largest : -largest);
        check("pad", one.dtype, new BigInteger[]{end, BigInteger.TWO},
                KernelRun.run(one.kernels, pad, Tensor.of(one.dtype, new long[]{2}, 1))[0]);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void thereIsNoQuotientByZero(Case one) {
        Tensor zero = Tensor.of(one.dtype, new long[]{0});
        for (Binary.Function function : List.of(Binary.Function.DIVIDE, Binary.Function.MODULO,
                Binary.Function.REMAINDER, Binary.Function.FLOOR_DIVIDE)) {
            assertThrows(IllegalArgumentException.class,
                    () -> KernelRun.run(one.kernels, Binary.of(function), zero, zero));
        }
    }
}
