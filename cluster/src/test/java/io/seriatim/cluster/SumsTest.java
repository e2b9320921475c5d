package io.seriatim.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.cluster.collective.Choices;
import io.seriatim.tensor.BFloat16;
import io.seriatim.tensor.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Collectives of ranks as threads, compared to the bit with sums that one thread computes in the documented order. */
class SumsTest {
    private static final long SEED = 27;
    private static final List<DType> TYPES = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16,
            DType.INT32, DType.INT64);
    private static final int[] COUNTS = {0, 1, 2, 3, 7, 1000, 5003, 20_011};
    private static final int MANY = 1 << 19;

    /** How the ranks are connected. */
    ClusterOptions connected(ClusterOptions options) {
        return options;
    }

    private <T> List<T> run(int ranks, Ranks.Body<T> body) throws Exception {
        return Ranks.run(ranks, this::connected, Ranks.gathering(ranks), body);
    }

    /** The elements of a rank: of very different sizes, so that another order gives other bits. */
    private static byte[] elements(DType type, int count, int rank) {
        Random random = new Random(SEED * 31 + rank * 1009L + count * 17L + type.name().hashCode());
        MemorySegment data = MemorySegment.ofArray(new byte[count * type.bytes()]);
        for (int i = 0; i < count; i++) {
            double value = (random.nextDouble() - 0.5) * Math.scalb(1.0, random.nextInt(24) - 12);
            put(data, type, i, value, random.nextLong());
        }
        return data.toArray(ValueLayout.JAVA_BYTE);
    }

    private static void put(MemorySegment data, DType type, int i, double value, long whole) {
        switch (type) {
            case FLOAT32 -> data.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i, (float) value);
            case FLOAT64 -> data.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8L * i, value);
            case FLOAT16 -> data.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i, Float.floatToFloat16((float) value));
            case BFLOAT16 -> data.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i, BFloat16.fromFloat((float) value));
            case INT32 -> data.set(ValueLayout.JAVA_INT_UNALIGNED, 4L * i, (int) whole);
            default -> data.set(ValueLayout.JAVA_LONG_UNALIGNED, 8L * i, whole);
        }
    }

    /** An element as it is summed: floats of 16 bits as float32, whole numbers as long. */
    private static Object get(byte[] bytes, DType type, int i) {
        MemorySegment data = MemorySegment.ofArray(bytes);
        return switch (type) {
            case FLOAT32 -> data.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i);
            case FLOAT64 -> data.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8L * i);
            case FLOAT16 -> Float.float16ToFloat(data.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i));
            case BFLOAT16 -> BFloat16.toFloat(data.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i));
            case INT32 -> (long) data.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * i);
            default -> data.get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * i);
        };
    }

    private static Object plus(Object left, Object right) {
        if (left instanceof Float one && right instanceof Float other) {
            return one + other;
        }
        return left instanceof Double one && right instanceof Double other ? one + other : (Long) left + (Long) right;
    }

    /** ((x[k+1] + x[k+2]) + …) + x[k]. */
    private static Object ring(List<Object> terms, int part) {
        int ranks = terms.size();
        Object sum = terms.get((part + 1) % ranks);
        for (int i = 2; i <= ranks; i++) {
            sum = plus(sum, terms.get((part + i) % ranks));
        }
        return sum;
    }

    /** Pairs of the first ranks until a power of two remains; then neighbours, and neighbours of those. */
    private static Object tree(List<Object> terms) {
        int remaining = Integer.highestOneBit(terms.size());
        int pairs = terms.size() - remaining;
        List<Object> level = new ArrayList<>();
        for (int i = 0; i < remaining; i++) {
            level.add(i < pairs ? plus(terms.get(2 * i), terms.get(2 * i + 1)) : terms.get(i + pairs));
        }
        while (level.size() > 1) {
            List<Object> above = new ArrayList<>();
            for (int i = 0; i < level.size(); i += 2) {
                above.add(plus(level.get(i), level.get(i + 1)));
            }
            level = above;
        }
        return level.get(0);
    }

    private static int partOf(int element, int count, int ranks) {
        int part = 0;
        int end = 0;
        while (true) {
            end += count / ranks + (part < count % ranks ? 1 : 0);
            if (element < end) {
                return part;
            }
            part++;
        }
    }

    private static boolean isRing(DType type, int count, int ranks) {
        return ranks > 1 && Choices.isRing(type, count, ranks);
    }

    private static byte[] expected(DType type, int count, int ranks, boolean isRing) {
        List<byte[]> all = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            all.add(elements(type, count, rank));
        }
        MemorySegment data = MemorySegment.ofArray(new byte[count * type.bytes()]);
        for (int i = 0; i < count; i++) {
            List<Object> terms = new ArrayList<>();
            for (byte[] each : all) {
                terms.add(get(each, type, i));
            }
            Object sum = isRing ? ring(terms, partOf(i, count, ranks)) : tree(terms);
            put(data, type, i, ((Number) sum).doubleValue(), ((Number) sum).longValue());
        }
        return data.toArray(ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9})
    void sumsOfAllRanksAreThoseOfTheSerialOrder(int ranks) throws Exception {
        List<List<byte[]>> sums = run(ranks, cluster -> {
            List<byte[]> results = new ArrayList<>();
            try (Arena arena = Arena.ofConfined()) {
                for (DType type : TYPES) {
                    for (int count : COUNTS) {
                        byte[] own = elements(type, count, cluster.rank());
                        // Not aligned.
                        MemorySegment data = arena.allocate(own.length + 1).asSlice(1);
                        data.copyFrom(MemorySegment.ofArray(own));
                        cluster.allReduce(data, type);
                        results.add(data.toArray(ValueLayout.JAVA_BYTE));
                    }
                }
            }
            return results;
        });
        int number = 0;
        for (DType type : TYPES) {
            for (int count : COUNTS) {
                byte[] expected = expected(type, count, ranks, isRing(type, count, ranks));
                for (int rank = 0; rank < ranks; rank++) {
                    assertArrayEquals(expected, sums.get(rank).get(number),
                            count + " elements of " + type + " on rank " + rank + " of " + ranks);
                }
                number++;
            }
        }
    }

    /** Ranks that chose differently would wait for each other, and another order would give other bits. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 6})
    void sumsAroundTheLimitsAreThoseOfTheSerialOrder(int ranks) throws Exception {
        for (DType type : List.of(DType.FLOAT32, DType.BFLOAT16)) {
            for (int limit : Choices.limits(type, MANY, ranks)) {
                for (int count : new int[]{limit - 1, limit}) {
                    List<byte[]> sums = run(ranks, cluster -> {
                        byte[] data = elements(type, count, cluster.rank());
                        cluster.allReduce(MemorySegment.ofArray(data), type);
                        return data;
                    });
                    byte[] expected = expected(type, count, ranks, isRing(type, count, ranks));
                    for (byte[] each : sums) {
                        assertArrayEquals(expected, each, count + " elements of " + type);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 9})
    void scatteredSumsAreTheRanksParts(int ranks) throws Exception {
        int[] parts = {0, 1, 3, 1001, 20_001};
        List<List<byte[]>> sums = run(ranks, cluster -> {
            List<byte[]> results = new ArrayList<>();
            for (DType type : TYPES) {
                for (int part : parts) {
                    byte[] own = elements(type, part * ranks, cluster.rank());
                    byte[] data = own.clone();
                    byte[] result = new byte[part * type.bytes()];
                    cluster.reduceScatter(MemorySegment.ofArray(data), MemorySegment.ofArray(result), type);
                    assertArrayEquals(own, data, "the operand is unchanged");
                    byte[] all = new byte[data.length];
                    cluster.allGather(MemorySegment.ofArray(result), MemorySegment.ofArray(all));
                    results.add(all);
                }
            }
            return results;
        });
        int number = 0;
        for (DType type : TYPES) {
            for (int part : parts) {
                byte[] expected = expected(type, part * ranks, ranks, true);
                for (List<byte[]> each : sums) {
                    assertArrayEquals(expected, each.get(number), part + " elements of " + type + " a rank");
                }
                number++;
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 6, 8, 9})
    void everyRankCanBeTheRootOfABroadcast(int ranks) throws Exception {
        run(ranks, cluster -> {
            for (int root = 0; root < ranks; root++) {
                for (int size : new int[]{0, 1, 5, 300_001}) {
                    byte[] expected = new byte[size];
                    new Random(root * 7919L + size).nextBytes(expected);
                    byte[] data = cluster.rank() == root ? expected.clone() : new byte[size];
                    cluster.broadcast(MemorySegment.ofArray(data), root);
                    assertArrayEquals(expected, data);
                }
                cluster.barrier();
            }
            return true;
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 5, 9})
    void replicasOfNaNsAreEqual(int ranks) throws Exception {
        for (int count : new int[]{1, 3000, 20_000, 200_000}) {
            List<float[]> sums = run(ranks, cluster -> {
                float[] data = new float[count];
                Arrays.fill(data, Float.intBitsToFloat(0x7fc00000 | cluster.rank() + 1));
                cluster.allReduce(MemorySegment.ofArray(data), DType.FLOAT32);
                return data;
            });
            for (float[] each : sums) {
                for (int i = 0; i < count; i++) {
                    assertEquals(Float.floatToRawIntBits(sums.get(0)[i]), Float.floatToRawIntBits(each[i]));
                }
            }
        }
    }

    @Test
    void wrongArgumentsAreRefusedBeforeAnythingIsSent() throws Exception {
        run(2, cluster -> {
            MemorySegment six = MemorySegment.ofArray(new byte[6]);
            assertThrows(IllegalArgumentException.class, () -> cluster.allReduce(six, DType.FLOAT32));
            assertThrows(IllegalArgumentException.class, () -> cluster.allReduce(six, DType.BOOL));
            assertThrows(IllegalArgumentException.class, () -> cluster.broadcast(six, 2));
            assertThrows(IllegalArgumentException.class, () -> cluster.broadcast(six, -1));
            assertThrows(IllegalArgumentException.class, () -> cluster.allGather(six, six));
            assertThrows(IllegalArgumentException.class, () -> cluster.reduceScatter(six, six, DType.FLOAT16));
            float[] one = {cluster.rank() + 1};
            cluster.allReduce(MemorySegment.ofArray(one), DType.FLOAT32);
            assertEquals(3, one[0]);
            return true;
        });
    }
}
