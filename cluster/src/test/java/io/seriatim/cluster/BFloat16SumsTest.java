package io.seriatim.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.tensor.BFloat16;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums of float32 that travel as bfloat16, compared to the bit with serial sums that round in the same places. */
class BFloat16SumsTest {
    private static final long SEED = Long.getLong("seriatim.seed", 27_016);
    /** The most elements that travel as float32. */
    private static final int SMALL = 4096;
    private static final int[] COUNTS = {0, 1, 7, SMALL, SMALL + 1, 5003, 20_011, 131_073};
    private static final float[] SPECIAL = {0f, -0f, Float.NaN, Float.intBitsToFloat(0x7f800001),
            Float.intBitsToFloat(0xffc12345), Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.MAX_VALUE,
            -Float.MAX_VALUE, Float.intBitsToFloat(0x7f7f7fff), Float.intBitsToFloat(0x7f7f8000), 2e38f, -2e38f,
            Float.MIN_VALUE, Float.MIN_NORMAL, Float.intBitsToFloat(0x00008000), Float.intBitsToFloat(0x00008001),
            Float.intBitsToFloat(0x00018000), -Float.intBitsToFloat(0x00007fff), 1f, Float.intBitsToFloat(0x3f808000),
            Float.intBitsToFloat(0x3f818000), -1f};

    private static float[] elements(int count, int rank, boolean isSpecial) {
        Random random = new Random(SEED * 31 + rank * 1009L + count * 17L);
        float[] data = new float[count];
        for (int i = 0; i < count; i++) {
            data[i] = isSpecial && random.nextInt(3) > 0
                    ? SPECIAL[random.nextInt(SPECIAL.length)]
                    : (float) ((random.nextDouble() - 0.5) * Math.scalb(1.0, random.nextInt(24) - 12));
        }
        return data;
    }

    private static float rounded(float value) {
        return BFloat16.toFloat(BFloat16.fromFloat(value));
    }

    private static int partOf(int element, int count, int ranks) {
        int part = 0;
        for (int end = count / ranks + (count % ranks > 0 ? 1 : 0); element >= end; part++) {
            end += count / ranks + (part + 1 < count % ranks ? 1 : 0);
        }
        return part;
    }

    /** ((x[k+1] + x[k+2]) + …) + x[k], each rounded before and the sum behind. */
    private static float[] expected(List<float[]> all, int count) {
        int ranks = all.size();
        float[] result = new float[count];
        for (int i = 0; i < count; i++) {
            int part = partOf(i, count, ranks);
            float sum = rounded(all.get((part + 1) % ranks)[i]);
            for (int j = 2; j <= ranks; j++) {
                sum += rounded(all.get((part + j) % ranks)[i]);
            }
            result[i] = Float.isNaN(sum) ? Float.NaN : rounded(sum);
        }
        return result;
    }

    private static int[] bits(float[] values) {
        int[] bits = new int[values.length];
        Arrays.setAll(bits, i -> Float.floatToRawIntBits(values[i]));
        return bits;
    }

    private static float[] sum(Cluster cluster, float[] own, boolean isNative) {
        if (!isNative) {
            float[] data = own.clone();
            cluster.allReduce(MemorySegment.ofArray(data), DType.FLOAT32, DType.BFLOAT16);
            return data;
        }
        try (Arena arena = Arena.ofConfined()) {
            // Not aligned.
            MemorySegment data = arena.allocate(4L * own.length + 1).asSlice(1);
            MemorySegment.copy(own, 0, data, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, own.length);
            cluster.allReduce(data, DType.FLOAT32, DType.BFLOAT16);
            return data.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 9})
    void sumsAreRoundedOnceBeforeAndOnceBehind(int ranks) throws Exception {
        for (boolean isSpecial : new boolean[]{false, true}) {
            List<List<float[]>> sums = Ranks.run(ranks, cluster -> {
                List<float[]> results = new ArrayList<>();
                for (int count : COUNTS) {
                    results.add(sum(cluster, elements(count, cluster.rank(), isSpecial), count % 2 == 1));
                }
                return results;
            });
            for (int number = 0; number < COUNTS.length; number++) {
                int count = COUNTS[number];
                List<float[]> all = new ArrayList<>();
                for (int rank = 0; rank < ranks; rank++) {
                    all.add(elements(count, rank, isSpecial));
                }
                int[] expected = count > SMALL ? bits(expected(all, count)) : bits(sums.getFirst().get(number));
                for (int rank = 0; rank < ranks; rank++) {
                    assertArrayEquals(expected, bits(sums.get(rank).get(number)),
                            count + " elements on rank " + rank + " of " + ranks + ", seed " + SEED);
                }
            }
        }
    }

    /** Small messages are summed as without a wire type. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void smallSumsAreNotRounded(int ranks) throws Exception {
        Ranks.run(ranks, cluster -> {
            for (int count : ranks == 1 ? new int[]{1, 100_000} : new int[]{1, SMALL}) {
                float[] own = elements(count, cluster.rank(), false);
                float[] plain = own.clone();
                cluster.allReduce(MemorySegment.ofArray(plain), DType.FLOAT32);
                assertArrayEquals(bits(plain), bits(sum(cluster, own, false)));
            }
            return true;
        });
    }

    /** The bound that the interface states, with sums of float64 as the exact ones. */
    @ParameterizedTest
    @ValueSource(ints = {2, 4, 9})
    void errorsAreWithinTheStatedBound(int ranks) throws Exception {
        int count = 30_000;
        List<float[]> sums = Ranks.run(ranks, cluster -> sum(cluster, spread(count, cluster.rank()), false));
        double u = 0x1p-8;
        double v = 0x1p-24;
        double largest = 0;
        for (int i = 0; i < count; i++) {
            double exact = 0;
            double size = 0;
            for (int rank = 0; rank < ranks; rank++) {
                exact += spread(count, rank)[i];
                size += Math.abs(spread(count, rank)[i]);
            }
            double bound = (2 * u + u * u) * size + (1 + u) * (1 + u) * (ranks - 1) * v * size
                    + 0x1p-133 * (ranks + 1);
            double error = Math.abs(sums.getFirst()[i] - exact);
            assertTrue(error <= bound, i + ": " + error + " > " + bound);
            largest = Math.max(largest, error / bound);
        }
        assertTrue(largest > 0.2, "the bound is far from what happens: " + largest);
    }

    private static final List<float[]> SPREAD = new ArrayList<>();

    /** Equal exponents, and subnormal numbers. */
    private static synchronized float[] spread(int count, int rank) {
        while (SPREAD.size() <= rank) {
            Random random = new Random(SEED + SPREAD.size());
            float[] data = new float[count];
            for (int i = 0; i < count; i++) {
                data[i] = (random.nextFloat() + (i % 3 == 0 ? 1 : -0.5f)) * (i % 5 == 0 ? 0x1p-130f : 1f);
            }
            SPREAD.add(data);
        }
        return SPREAD.get(rank);
    }

    @Test
    void halfTheBytesTravel() throws Exception {
        int count = 500_000;
        long[] bytes = new long[2];
        for (DType wire : List.of(DType.FLOAT32, DType.BFLOAT16)) {
            AtomicLong counted = new AtomicLong();
            List<ServerSocket> relays = new ArrayList<>();
            Rendezvous gathering = Ranks.gathering(3);
            try {
                Ranks.run(3, Function.identity(), (address, options) -> {
                    ServerSocket relay = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                    synchronized (relays) {
                        relays.add(relay);
                    }
                    Thread.ofPlatform().daemon().start(() -> relay(relay, address, counted));
                    return gathering.exchange("127.0.0.1:" + relay.getLocalPort(), options);
                }, cluster -> {
                    cluster.allReduce(MemorySegment.ofArray(new float[count]), DType.FLOAT32, wire);
                    cluster.barrier();
                    return true;
                });
            } finally {
                for (ServerSocket each : relays) {
                    each.close();
                }
            }
            bytes[wire == DType.FLOAT32 ? 0 : 1] = counted.get();
        }
        // 2 (n − 1) times the elements, on all ranks together.
        assertEquals(1, bytes[0] / (4.0 * 4 * count), 0.02);
        assertEquals(0.5, (double) bytes[1] / bytes[0], 0.02);
    }

    private static void relay(ServerSocket relay, String address, AtomicLong counted) {
        try {
            while (true) {
                Socket client = relay.accept();
                Socket onward = new Socket(InetAddress.getLoopbackAddress(),
                        Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
                Thread.ofPlatform().daemon().start(() -> copy(client, onward, counted));
                Thread.ofPlatform().daemon().start(() -> copy(onward, client, counted));
            }
        } catch (IOException _) {
            // The relay was closed.
        }
    }

    private static void copy(Socket from, Socket to, AtomicLong counted) {
        byte[] piece = new byte[1 << 16];
        try (InputStream in = from.getInputStream(); OutputStream out = to.getOutputStream()) {
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                counted.addAndGet(count);
                out.write(piece, 0, count);
            }
        } catch (IOException _) {
            // One end was closed.
        }
    }

    @Test
    void aRankWithAnotherWireIsNamed() throws Exception {
        for (int count : new int[]{10, 100_000}) {
            for (Ranks.Outcome<Boolean> each : Ranks.outcomes(3, Function.identity(), Ranks.gathering(3),
                    (Cluster cluster) -> {
                        cluster.allReduce(MemorySegment.ofArray(new float[count]), DType.FLOAT32,
                                cluster.rank() == 1 ? DType.BFLOAT16 : DType.FLOAT32);
                        cluster.barrier();
                        return true;
                    })) {
                if (!(each.failure() instanceof CommunicationException failure)) {
                    throw new AssertionError("another failure, or none", each.failure());
                }
                assertEquals(1, failure.rank(), failure::getMessage);
                assertTrue(String.valueOf(failure.getMessage()).contains("bfloat16"), failure::getMessage);
            }
        }
    }

    @Test
    void otherTypesAreRefusedBeforeAnythingIsSent() throws Exception {
        Ranks.run(2, cluster -> {
            MemorySegment six = MemorySegment.ofArray(new byte[6]);
            assertThrows(IllegalArgumentException.class,
                    () -> cluster.allReduce(six, DType.FLOAT32, DType.BFLOAT16));
            for (DType type : List.of(DType.FLOAT64, DType.FLOAT16, DType.INT32, DType.BOOL)) {
                String message = String.valueOf(assertThrows(IllegalArgumentException.class,
                        () -> cluster.allReduce(MemorySegment.ofArray(new byte[8]), type, DType.BFLOAT16))
                        .getMessage());
                assertTrue(message.contains("only float32"), message);
            }
            assertThrows(IllegalArgumentException.class,
                    () -> cluster.allReduce(MemorySegment.ofArray(new byte[8]), DType.FLOAT32, DType.FLOAT16));
            cluster.barrier();
            return true;
        });
    }
}
