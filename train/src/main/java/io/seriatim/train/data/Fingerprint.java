package io.seriatim.train.data;

import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A fingerprint of data, which prevents that a training is resumed with other data of the same size and kind. It is the
 * first half of a SHA-256 hash of the fields and examples of both parts. Of a part with more than {@value #BYTES}
 * bytes, only examples at equal distances are hashed, including the first and the last. So a change of a single example
 * in a large set may go undetected.
 */
public final class Fingerprint {
    /** The number of bytes that are hashed in a few milliseconds. */
    private static final long BYTES = 8L << 20;
    private static final int MOST_EXAMPLES = 256;
    private static final int DIGITS = 32;

    private Fingerprint() {
    }

    /**
     * Computes the fingerprint.
     *
     * @param data
     *            the data
     * @return 32 hexadecimal digits, which depend on the data only
     * @throws IOException
     *             if examples cannot be read
     */
    public static String of(Split data) throws IOException {
        MessageDigest digest = sha256();
        add(digest, data.training());
        add(digest, data.validation());
        return text(digest);
    }

    /**
     * Computes the fingerprint of a text, such as the fingerprints of the parts of data that are on several machines.
     *
     * @param text
     *            any text
     * @return 32 hexadecimal digits
     */
    public static String of(String text) {
        MessageDigest digest = sha256();
        digest.update(text.getBytes(StandardCharsets.UTF_8));
        return text(digest);
    }

    private static String text(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    private static void add(MessageDigest digest, Dataset part) throws IOException {
        digest.update((part.fields() + " " + part.size()).getBytes(StandardCharsets.UTF_8));
        long each = Math.max(1,
                part.fields().stream().mapToLong(field -> field.dtype().bytes() * field.shape().size()).sum());
        int count = (int) Math.min(part.size(), Math.max(2, BYTES / each));
        int together = Math.clamp(BYTES / each, 1, MOST_EXAMPLES);
        for (int first = 0; first < count; first += together) {
            int[] examples = new int[Math.min(together, count - first)];
            for (int i = 0; i < examples.length; i++) {
                examples[i] = count == 1 ? 0 : (int) ((long) (first + i) * (part.size() - 1) / (count - 1));
            }
            for (Tensor tensor : part.batch(examples)) {
                add(digest, tensor.declared().elements());
                tensor.close();
            }
        }
    }

    private static void add(MessageDigest digest, MemorySegment bytes) {
        for (long from = 0; from < bytes.byteSize(); from += BYTES) {
            digest.update(bytes.asSlice(from, Math.min(BYTES, bytes.byteSize() - from)).asByteBuffer());
        }
    }
}
