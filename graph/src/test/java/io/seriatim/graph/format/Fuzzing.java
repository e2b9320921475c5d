package io.seriatim.graph.format;

import io.seriatim.device.Devices;
import io.seriatim.device.MemoryStats;
import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Damages valid bytes and gives them to a reader. The reader must return, or refuse them with an error that names a
 * byte offset, and must not take more memory than their size justifies.
 */
final class Fuzzing {
    /**
     * Valid inputs are small, and so is the memory that they justify. Memory is kept for the next input, so that the
     * bound holds for all inputs together.
     */
    private static final long WORTH = 4 << 20;
    private static final Pattern OFFSET = Pattern.compile(".*, byte (\\d+): .+", Pattern.DOTALL);
    /** Numbers at which readers stumble. */
    private static final long[] AWKWARD = {-1, 0, 1, Byte.MAX_VALUE, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE,
            1L << 32, 1L << 40,
            Long.MAX_VALUE,
            Long.MIN_VALUE};

    private Fuzzing() {
    }

    /** Reads bytes, and frees what it has read. */
    interface Reader {
        void read(byte[] bytes) throws IOException;
    }

    /**
     * The results of reading damaged bytes.
     *
     * @param refused
     *            how many were refused as they should be
     * @param wrong
     *            what else happened, at most ten of it
     */
    record Outcome(int refused, List<String> wrong) {
    }

    static Outcome run(long seed, int count, List<byte[]> good, Reader reader) {
        SplittableRandom random = new SplittableRandom(seed);
        Devices.system().host().trim();
        long bound = taken(Devices.system().host().memory()) + WORTH;
        List<String> wrong = new ArrayList<>();
        int refused = 0;
        for (int i = 0; i < count && wrong.size() < 10; i++) {
            byte[] bytes = damaged(good.get(random.nextInt(good.size())), random);
            MemoryStats before = Devices.system().host().memory();
            String fault = null;
            try {
                reader.read(bytes);
            } catch (FileFormatException e) {
                refused++;
                fault = fault(e, bytes.length);
            } catch (Exception | Error e) {
                fault = "threw " + e;
            }
            MemoryStats after = Devices.system().host().memory();
            if (taken(after) > bound) {
                fault = "took " + (taken(after) - taken(before)) + " bytes of memory for " + bytes.length;
                Devices.system().host().trim();
            } else if (after.used() > before.used()) {
                fault = "left " + (after.used() - before.used()) + " bytes of memory allocated";
            }
            if (fault != null) {
                wrong.add("mutation " + i + " of seed " + seed + " " + fault);
            }
        }
        return new Outcome(refused, wrong);
    }

    private static long taken(MemoryStats memory) {
        return memory.used() + memory.cached();
    }

    private static @Nullable String fault(FileFormatException e, int length) {
        Matcher matcher = OFFSET.matcher(String.valueOf(e.getMessage()));
        if (!matcher.matches()) {
            return "was refused without a byte offset: " + e.getMessage();
        }
        return Long.parseLong(matcher.group(1)) <= length
                ? null
                : "was refused at a byte that is not there: " + e.getMessage();
    }

    private static byte[] damaged(byte[] good, SplittableRandom random) {
        byte[] bytes = good;
        for (int i = random.nextInt(3); i >= 0; i--) {
            bytes = damagedOnce(bytes, random);
        }
        return bytes;
    }

    private static byte[] damagedOnce(byte[] good, SplittableRandom random) {
        if (good.length == 0) {
            return new byte[]{(byte) random.nextInt()};
        }
        byte[] bytes = good.clone();
        int at = random.nextInt(good.length);
        int other = random.nextInt(good.length);
        return switch (random.nextInt(9)) {
            case 0 -> Arrays.copyOf(bytes, at);
            case 1 -> with(bytes, at, (byte) random.nextInt());
            case 2 -> with(bytes, at, (byte) (bytes[at] + (random.nextBoolean() ? 1 : -1)));
            case 3 -> spliced(bytes, at, Math.min(bytes.length, at + random.nextInt(1, 9)), new byte[0]);
            case 4 ->
                spliced(bytes, at, at, Arrays.copyOfRange(bytes, Math.min(at, other),
                        Math.min(bytes.length, Math.min(at, other) + 16)));
            case 5 -> number(bytes, at, AWKWARD[random.nextInt(AWKWARD.length)]);
            case 6 -> spliced(bytes, at, at + 1, varint(AWKWARD[random.nextInt(AWKWARD.length)]));
            case 7 -> Arrays.copyOf(bytes, bytes.length + random.nextInt(1, 20));
            default -> with(bytes, at, (byte) (bytes[at] ^ (1 << random.nextInt(8))));
        };
    }

    private static byte[] with(byte[] bytes, int at, byte value) {
        bytes[at] = value;
        return bytes;
    }

    private static byte[] spliced(byte[] bytes, int from, int to, byte[] replacement) {
        byte[] result = new byte[bytes.length - (to - from) + replacement.length];
        System.arraycopy(bytes, 0, result, 0, from);
        System.arraycopy(replacement, 0, result, from, replacement.length);
        System.arraycopy(bytes, to, result, from + replacement.length, bytes.length - to);
        return result;
    }

    private static byte[] number(byte[] bytes, int at, long value) {
        for (int i = 0; i < Long.BYTES && at + i < bytes.length; i++) {
            bytes[at + i] = (byte) (value >>> (8 * i));
        }
        return bytes;
    }

    private static byte[] varint(long value) {
        byte[] bytes = new byte[10];
        int length = 0;
        long left = value;
        while ((left & ~0x7FL) != 0) {
            bytes[length++] = (byte) (left | 0x80);
            left >>>= 7;
        }
        bytes[length++] = (byte) left;
        return Arrays.copyOf(bytes, length);
    }
}
