package io.seriatim.tensor;

import io.seriatim.device.Devices;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * NumPy's format of one array. All types are read and written, C and Fortran order, versions 1 to 3; a type that NumPy
 * does not have, bfloat16, is written as {@code V2}, as the package ml_dtypes does. Files are not trusted: sizes are
 * checked before memory is allocated.
 */
public final class Npy {
    private static final int CHUNK = 1 << 16;

    private Npy() {
    }

    /**
     * Reads a file.
     *
     * @param file
     *            an {@code .npy} file
     * @return a row-major tensor of the host
     * @throws FileFormatException
     *             if it is not such a file, with the offset of the error
     * @throws IOException
     *             if it cannot be read
     */
    public static Tensor read(Path file) throws IOException {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(InputFiles.regular(file)), CHUNK)) {
            return read(file.toString(), in, Files.size(file));
        }
    }

    /**
     * Reads a stream to its end.
     *
     * @param in
     *            the bytes of an {@code .npy} file
     * @return a row-major tensor of the host
     * @throws FileFormatException
     *             if it is not such a file, with the offset of the error
     * @throws IOException
     *             if it cannot be read
     */
    public static Tensor read(InputStream in) throws IOException {
        return read("the stream", in, -1);
    }

    /** Reads a stream of a length, or −1 if it is not known. */
    static Tensor read(String source, InputStream in, long length) throws IOException {
        DataInputStream data = new DataInputStream(in);
        NpyHeader header = NpyHeader.read(source, data);
        long bytes = TensorSpec.of(header.dtype(), header.shape()).bytes();
        if (length >= 0 && length != header.length() + bytes) {
            throw new FileFormatException(source, Math.min(length, header.length() + bytes),
                    "the data of " + header.dtype() + " " + header.shape() + " take " + bytes + " bytes, but there are "
                            + (length - header.length()));
        }
        // Without a length, memory is allocated as bytes arrive: the header's sizes are not trusted.
        return stored(header, length < 0 ? collected(source, data, header, bytes) : fill(source, data, header, bytes));
    }

    private static Tensor collected(String source, DataInputStream in, NpyHeader header, long bytes)
            throws IOException {
        byte[] all = bounded(source, in, header, bytes);
        Tensor tensor = Tensor.allocate(Devices.system().host(), TensorSpec.of(header.dtype(), header.shape()));
        MemorySegment.copy(all, 0, tensor.buffer().declared().segment(), ValueLayout.JAVA_BYTE, 0, all.length);
        return tensor;
    }

    private static byte[] bounded(String source, DataInputStream in, NpyHeader header, long bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] chunk = new byte[CHUNK];
        long left = bytes;
        while (left > 0) {
            int count = in.read(chunk, 0, (int) Math.min(chunk.length, left));
            if (count < 0 || out.size() > Integer.MAX_VALUE - 2 * CHUNK) {
                throw new FileFormatException(source, header.length() + out.size(),
                        "the data take " + bytes
                                + " bytes, but the stream ends, or holds more than can be read without its length");
            }
            out.write(chunk, 0, count);
            left -= count;
        }
        requireEnd(source, in, header.length() + bytes);
        return out.toByteArray();
    }

    private static Tensor fill(String source, DataInputStream in, NpyHeader header, long bytes) throws IOException {
        Tensor tensor = Tensor.allocate(Devices.system().host(), TensorSpec.of(header.dtype(), header.shape()));
        try {
            byte[] chunk = new byte[CHUNK];
            for (long at = 0; at < bytes;) {
                int count = in.read(chunk, 0, (int) Math.min(chunk.length, bytes - at));
                if (count < 0) {
                    throw new FileFormatException(source, header.length() + at,
                            "the data take " + bytes + " bytes, but the file ends");
                }
                MemorySegment.copy(chunk, 0, tensor.buffer().declared().segment(), ValueLayout.JAVA_BYTE, at, count);
                at += count;
            }
            requireEnd(source, in, header.length() + bytes);
            return tensor;
        } catch (IOException e) {
            tensor.close();
            throw e;
        }
    }

    private static void requireEnd(String source, InputStream in, long offset) throws IOException {
        if (in.read() >= 0) {
            throw new FileFormatException(source, offset, "the file must end after the data, but goes on");
        }
    }

    /** Little-endian and row-major. */
    private static Tensor stored(NpyHeader header, Tensor raw) {
        if (header.bigEndian()) {
            swap(raw);
        }
        if (header.dtype() == DType.BOOL) {
            normalize(raw);
        }
        if (!header.fortran() || header.shape().rank() < 2) {
            return raw;
        }
        long[] reversed = new long[header.shape().rank()];
        for (int i = 0; i < reversed.length; i++) {
            reversed[i] = header.shape().dim(reversed.length - 1 - i);
        }
        try (raw) {
            return dense(raw.reshape(reversed).transpose());
        }
    }

    private static void swap(Tensor tensor) {
        int size = tensor.dtype().real().bytes();
        MemorySegment memory = tensor.buffer().declared().segment();
        for (long at = 0; at < memory.byteSize(); at += size) {
            for (int i = 0; i < size / 2; i++) {
                byte low = memory.get(ValueLayout.JAVA_BYTE, at + i);
                memory.set(ValueLayout.JAVA_BYTE, at + i, memory.get(ValueLayout.JAVA_BYTE, at + size - 1 - i));
                memory.set(ValueLayout.JAVA_BYTE, at + size - 1 - i, low);
            }
        }
    }

    private static void normalize(Tensor tensor) {
        MemorySegment memory = tensor.buffer().declared().segment();
        for (long at = 0; at < memory.byteSize(); at++) {
            memory.set(ValueLayout.JAVA_BYTE, at, (byte) (memory.get(ValueLayout.JAVA_BYTE, at) != 0 ? 1 : 0));
        }
    }

    /** A row-major copy of a tensor with strides. */
    private static Tensor dense(Tensor tensor) {
        LoopNest nest = LoopNest.of(tensor.shape(), tensor.spec().strides());
        Tensor copy = Tensor.allocate(Devices.system().host(), tensor.spec().rowMajor());
        int size = tensor.dtype().bytes();
        long stride = nest.rowStride(0) * size;
        try {
            MemorySegment from = tensor.declared().memory();
            MemorySegment to = copy.memory();
            long at = copy.offset();
            for (long row = 0; row < nest.rows(); row++) {
                long begin = tensor.offset() + nest.offset(0, row) * size;
                if (stride == size) {
                    MemorySegment.copy(from, begin, to, at, nest.rowLength() * size);
                    at += nest.rowLength() * size;
                } else {
                    for (long i = 0; i < nest.rowLength(); i++, at += size) {
                        MemorySegment.copy(from, begin + i * stride, to, at, size);
                    }
                }
            }
        } finally {
            // The segments do not keep the buffers reachable: see Tensor#memory.
            Reference.reachabilityFence(tensor);
            Reference.reachabilityFence(copy);
        }
        return copy;
    }

    /**
     * Writes a file: to a temporary name first, which is then moved into place.
     *
     * @param file
     *            is made or replaced
     * @param tensor
     *            of the host
     * @throws IOException
     *             if it cannot be written; then the previous file is unchanged
     */
    public static void write(Path file, Tensor tensor) throws IOException {
        AtomicFile.write(file, out -> write(out, tensor));
    }

    /**
     * Writes to a stream, which stays open.
     *
     * @param out
     *            gets the bytes of an {@code .npy} file
     * @param tensor
     *            of the host
     * @throws IOException
     *             if it cannot be written
     */
    public static void write(OutputStream out, Tensor tensor) throws IOException {
        out.write(NpyHeader.of(tensor.spec()));
        boolean copied = !tensor.spec().isRowMajor();
        Tensor dense = copied ? dense(tensor) : tensor;
        try {
            byte[] chunk = new byte[CHUNK];
            long bytes = dense.spec().bytes();
            for (long at = 0; at < bytes; at += chunk.length) {
                int count = (int) Math.min(chunk.length, bytes - at);
                MemorySegment.copy(dense.buffer().declared().segment(), ValueLayout.JAVA_BYTE, dense.offset() + at,
                        chunk, 0, count);
                out.write(chunk, 0, count);
            }
        } finally {
            if (copied) {
                dense.close();
            }
            Reference.reachabilityFence(tensor);
        }
    }
}
