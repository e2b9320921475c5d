package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * An array of unsigned bytes in the format IDX, described with the data set MNIST: two zero bytes, the type (8), the
 * number of dimensions, each dimension as four bytes in big-endian order, and the bytes. Files are not trusted: sizes
 * are checked, and memory for compressed data is allocated only as data are read.
 */
final class IdxArray {
    private static final int UNSIGNED_BYTE = 8;
    private static final int CHUNK = 1 << 16;
    /** The size of the largest array that every JVM can allocate. */
    private static final long MOST = Integer.MAX_VALUE - 8;

    private final Path file;
    private final int[] dims;
    private final byte[] bytes;

    private IdxArray(Path file, int[] dims, byte[] bytes) {
        this.file = file;
        this.dims = dims;
        this.bytes = bytes;
    }

    /** Reads a plain or compressed file. Offsets in messages refer to the uncompressed content. */
    static IdxArray read(Path file, int rank) throws IOException {
        try (InputStream raw = new BufferedInputStream(Files.newInputStream(InputFiles.regular(file)), CHUNK)) {
            boolean compressed = isCompressed(raw);
            return read(file, rank, compressed ? new GZIPInputStream(raw, CHUNK) : raw,
                    compressed ? -1 : Files.size(file));
        } catch (EOFException | ZipException e) {
            throw new FileFormatException(file.toString(), "the compressed data are not whole: " + e.getMessage(), e);
        }
    }

    /** Returns whether a file begins with the header of an IDX file of labels or images. */
    static boolean is(Path file) throws IOException {
        try (InputStream raw = new BufferedInputStream(Files.newInputStream(InputFiles.regular(file)))) {
            byte[] magic = (isCompressed(raw) ? new GZIPInputStream(raw) : raw).readNBytes(4);
            return magic.length == 4 && magic[0] == 0 && magic[1] == 0 && magic[2] == UNSIGNED_BYTE
                    && (magic[3] == 1 || magic[3] == 3);
        } catch (EOFException | ZipException e) {
            return false;
        }
    }

    private static boolean isCompressed(InputStream in) throws IOException {
        in.mark(2);
        boolean compressed = in.read() == 0x1f && in.read() == 0x8b;
        in.reset();
        return compressed;
    }

    /** Reads an array from a stream with the given total length, or −1 if it is unknown. */
    private static IdxArray read(Path file, int rank, InputStream in, long length) throws IOException {
        int[] dims = header(file, rank, in);
        long begin = 4 + 4L * rank;
        long size = 1;
        for (int dim : dims) {
            // Each factor and the product so far are below 2^31, so the next product does not overflow.
            size *= dim;
            if (size > MOST) {
                throw new FileFormatException(file.toString(), 4,
                        "there can be at most " + MOST + " values, but the file says that it has " + times(dims));
            }
        }
        if (length >= 0 && length != begin + size) {
            throw new FileFormatException(file.toString(), Math.min(length, begin + size),
                    times(dims) + " values take " + size + " bytes after the header, but there are "
                            + (length - begin));
        }
        byte[] bytes = in.readNBytes((int) size);
        if (bytes.length < size) {
            throw new FileFormatException(file.toString(), begin + bytes.length,
                    times(dims) + " values take " + size + " bytes after the header, but there are " + bytes.length);
        }
        if (in.read() >= 0) {
            throw new FileFormatException(file.toString(), begin + size,
                    "the file must end after its " + times(dims) + " values, but goes on");
        }
        return new IdxArray(file, dims, bytes);
    }

    private static int[] header(Path file, int rank, InputStream in) throws IOException {
        byte[] header = in.readNBytes(4 + 4 * rank);
        for (int i = 0; i < Math.min(4, header.length); i++) {
            int wanted = i < 2 ? 0 : i == 2 ? UNSIGNED_BYTE : rank;
            if (header[i] != wanted) {
                throw new FileFormatException(file.toString(), i,
                        String.format(
                                "an IDX file of unsigned bytes with %d dimensions begins with 00 00 08 %02x, but "
                                        + "this one does not",
                                rank, rank));
            }
        }
        if (header.length < 4 + 4 * rank) {
            throw new FileFormatException(file.toString(), header.length,
                    header.length == 0
                            ? "the file is empty"
                            : "the file ends within its header of " + (4 + 4 * rank) + " bytes");
        }
        int[] dims = new int[rank];
        for (int i = 0; i < rank; i++) {
            int at = 4 + 4 * i;
            dims[i] = (header[at] & 0xff) << 24 | (header[at + 1] & 0xff) << 16 | (header[at + 2] & 0xff) << 8
                    | (header[at + 3] & 0xff);
            if (dims[i] <= 0) {
                throw new FileFormatException(file.toString(), at,
                        "a dimension must be from 1 to 2147483647, but dimension " + i + " is "
                                + Integer.toUnsignedString(dims[i]));
            }
        }
        return dims;
    }

    private static String times(int... dims) {
        return Arrays.stream(dims).mapToObj(Integer::toString).collect(Collectors.joining(" × "));
    }

    Path file() {
        return file;
    }

    int dim(int axis) {
        return dims[axis];
    }

    /** Returns the array itself, not a copy. */
    byte[] bytes() {
        return bytes;
    }
}
