package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Numbers without a sign in memory, in files and converted, against BigInteger and BigDecimal. */
class UnsignedTest {
    private static final long SEED = 20261123;
    private static final BigInteger TWO_TO_64 = BigInteger.ONE.shiftLeft(64);
    private static final List<DType> TYPES = List.of(DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64);

    /** Bits of all lengths, and those next to where a rounding changes. */
    private static LongStream bits() {
        SplittableRandom random = new SplittableRandom(SEED);
        LongStream edges = LongStream.of(0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0xffff_ffffL, 1L << 32);
        // One bit at the place of the half, one at the last place, and one far below: ties, and what is just above.
        LongStream ties = LongStream.range(0, 3000).map(_ -> {
            int top = 24 + random.nextInt(40);
            long mantissa = random.nextLong() | Long.MIN_VALUE;
            long kept = random.nextBoolean() ? mantissa >>> 40 << 40 : mantissa >>> 11 << 11;
            long half = random.nextBoolean() ? 1L << 39 : 1L << 10;
            return (kept | half | random.nextInt(2)) >>> (63 - top);
        });
        LongStream any = LongStream.range(0, 3000).map(_ -> random.nextLong() >>> random.nextInt(64));
        return LongStream.concat(edges, LongStream.concat(ties, any));
    }

    private static BigInteger value(long bits) {
        return new BigInteger(Long.toUnsignedString(bits));
    }

    @Test
    void convertsToTheNearestNumber() {
        bits().forEach(bits -> {
            assertEquals(value(bits).doubleValue(), Unsigned.toDouble(bits), () -> Long.toUnsignedString(bits));
            assertEquals(value(bits).floatValue(), Unsigned.toFloat(bits), () -> Long.toUnsignedString(bits));
        });
    }

    @Test
    void convertsFromNumbersTowardsZero() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 5000; i++) {
            double number = Math.scalb(random.nextDouble(), random.nextInt(65)) * (i % 5 == 0 ? -0.5 : 1);
            long expected = new BigDecimal(number).toBigInteger().mod(TWO_TO_64).longValue();
            assertEquals(expected, Unsigned.fromDouble(number), () -> "from " + number);
        }
        assertEquals(-1, Unsigned.fromDouble(0x1p64));
        assertEquals(-1, Unsigned.fromDouble(Double.POSITIVE_INFINITY));
        assertEquals(0, Unsigned.fromDouble(Double.NaN));
        assertEquals(Long.MIN_VALUE, Unsigned.fromDouble(0x1p63));
        assertEquals(-1, Unsigned.fromDouble(-1.5));
    }

    @Test
    void tensorsHoldTheWholeRange() {
        long[] bits = bits().toArray();
        for (DType dtype : TYPES) {
            int shift = Long.SIZE - 8 * dtype.bytes();
            Tensor tensor = Tensor.of(dtype, bits);
            for (int i = 0; i < bits.length; i++) {
                long kept = bits[i] << shift >>> shift;
                assertEquals(kept, tensor.getLong(i));
                assertEquals(value(kept).doubleValue(), tensor.getDouble(i));
                assertEquals(value(kept).floatValue(), tensor.toFloatArray()[i]);
            }
            assertArrayEquals(tensor.toLongArray(), Tensor.of(dtype, tensor.toLongArray()).toLongArray());
        }
    }

    @Test
    void numpyFilesKeepTypeAndBits() throws IOException {
        long[] bits = bits().limit(200).toArray();
        for (DType dtype : TYPES) {
            Tensor tensor = Tensor.of(dtype, bits, 20, 10);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            Npy.write(out, tensor);
            byte[] file = out.toByteArray();
            String header = new String(file, 0, 64, StandardCharsets.ISO_8859_1);
            assertTrue(header.contains("'" + (dtype.bytes() == 1 ? "|" : "<") + "u" + dtype.bytes() + "'"), header);
            Tensor read = Npy.read(new ByteArrayInputStream(file));
            assertEquals(dtype, read.dtype());
            assertArrayEquals(tensor.toLongArray(), read.toLongArray());
        }
    }

    @Test
    void aBigEndianFileIsTurned() throws IOException {
        String dictionary = "{'descr': '>u4', 'fortran_order': False, 'shape': (2,), }";
        byte[] file = new byte[128 + 8];
        Arrays.fill(file, 10, 128, (byte) ' ');
        System.arraycopy(new byte[]{(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0}, 0, file, 0, 10);
        System.arraycopy(dictionary.getBytes(StandardCharsets.ISO_8859_1), 0, file, 10,
                dictionary.length());
        file[128] = (byte) 0xfe;
        file[135] = 7;
        assertArrayEquals(new long[]{0xfe00_0000L, 7}, Npy.read(new ByteArrayInputStream(file)).toLongArray());
    }
}
