package io.seriatim.graph.format;

import io.seriatim.graph.program.SelectedRows;
import io.seriatim.graph.util.ByteSource;
import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Paddle's format of tensors and of selected rows, which its operations save, load, save_combine and load_combine have.
 * Tensors of files are read into their own memory, without a copy in the heap. A file may be hostile: sizes are checked
 * before memory is taken.
 */
public final class TensorStreams {
    private TensorStreams() {
    }

    /**
     * A tensor whose rows may be grouped to sequences.
     *
     * @param tensor
     *            the elements
     * @param lod
     *            for each level, coarsest first, the offsets at which its groups begin, and the end of the last; empty
     *            for a plain tensor. What a file says is not checked
     */
    public record LodTensor(Tensor tensor, List<long[]> lod) {
        /** Copies the levels. */
        public LodTensor {
            lod = lod.stream().map(long[]::clone).toList();
        }

        /**
         * A tensor with the offsets that it has.
         *
         * @param tensor
         *            the elements; mostly without offsets
         */
        public LodTensor(Tensor tensor) {
            this(tensor, tensor.lod().levels());
        }

        /**
         * The tensor, divided as the file says.
         *
         * @return the tensor without offsets if those of the file do not divide its rows
         */
        public Tensor divided() {
            try {
                return lod.isEmpty() ? tensor : tensor.withLod(Lod.of(lod));
            } catch (IllegalArgumentException e) {
                // Files may have offsets that no operation reads; those that do would refuse them.
                return tensor;
            }
        }
    }

    /**
     * Reads a file of one tensor.
     *
     * @param file
     *            as the operation save writes it
     * @return the tensor, which belongs to the caller
     * @throws FileFormatException
     *             if it is not such a file; the message gives the byte offset
     * @throws IOException
     *             if it cannot be read
     */
    public static LodTensor read(Path file) throws IOException {
        return readAll(file, 1).getFirst();
    }

    /**
     * Reads a file of several tensors.
     *
     * @param file
     *            as the operation save_combine writes it
     * @param count
     *            how many there must be
     * @return the tensors, which belong to the caller
     * @throws FileFormatException
     *             if it is not such a file, or holds more or fewer; the message gives the byte offset
     * @throws IOException
     *             if it cannot be read
     */
    public static List<LodTensor> readAll(Path file, int count) throws IOException {
        return readAll(file, numbered(count));
    }

    /** One tensor for each name, which messages give. */
    static List<LodTensor> readAll(Path file, List<String> names) throws IOException {
        try (FileChannel channel = FileChannel.open(InputFiles.regular(file))) {
            return new TensorReader(new ByteSource(file.toString(), channel, channel.size())).readAll(names);
        }
    }

    /**
     * Reads several tensors from a stream.
     *
     * @param source
     *            where they are from, for messages
     * @param in
     *            the bytes; stays open
     * @param size
     *            how many bytes there are
     * @param count
     *            how many tensors they must be
     * @return the tensors, which belong to the caller
     * @throws FileFormatException
     *             if the bytes are not so many tensors; the message gives the byte offset
     * @throws IOException
     *             if they cannot be read
     */
    public static List<LodTensor> readAll(String source, InputStream in, long size, int count) throws IOException {
        return new TensorReader(new ByteSource(source, Channels.newChannel(in), size)).readAll(numbered(count));
    }

    private static List<String> numbered(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("The number of tensors must be 0 or more, but is " + count);
        }
        return count == 1 ? List.of("") : IntStream.range(0, count).mapToObj(i -> "tensor " + i).toList();
    }

    /**
     * Reads a file of selected rows.
     *
     * @param file
     *            as the operation save writes it
     * @return the rows, which belong to the caller
     * @throws FileFormatException
     *             if it is not such a file; the message gives the byte offset
     * @throws IOException
     *             if it cannot be read
     */
    public static SelectedRows readRows(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(InputFiles.regular(file))) {
            return new TensorReader(new ByteSource(file.toString(), channel, channel.size())).rows();
        }
    }

    /**
     * Reads selected rows from a stream.
     *
     * @param source
     *            where they are from, for messages
     * @param in
     *            the bytes; stays open
     * @param size
     *            how many bytes there are
     * @return the rows, which belong to the caller
     * @throws FileFormatException
     *             if the bytes are something else; the message gives the byte offset
     * @throws IOException
     *             if they cannot be read
     */
    public static SelectedRows readRows(String source, InputStream in, long size) throws IOException {
        return new TensorReader(new ByteSource(source, Channels.newChannel(in), size)).rows();
    }

    /**
     * Writes a file of tensors, one after the other: to a temporary name first, then moved into place.
     *
     * @param file
     *            replaced if it is there
     * @param tensors
     *            of the host
     * @throws IOException
     *             if it cannot be written; then what was there is still there
     */
    public static void write(Path file, List<LodTensor> tensors) throws IOException {
        AtomicFile.write(file, out -> {
            for (LodTensor tensor : tensors) {
                write(out, tensor);
            }
        });
    }

    static void writeAll(OutputStream out, Collection<Tensor> tensors) throws IOException {
        for (Tensor tensor : tensors) {
            write(out, new LodTensor(tensor));
        }
    }

    /**
     * Writes a tensor to a stream, which stays open.
     *
     * @param out
     *            gets the bytes
     * @param tensor
     *            of the host
     * @throws IOException
     *             if it cannot be written
     */
    public static void write(OutputStream out, LodTensor tensor) throws IOException {
        new TensorWriter(out).lodTensor(tensor);
    }

    /**
     * Writes a file of selected rows: to a temporary name first, then moved into place.
     *
     * @param file
     *            replaced if it is there
     * @param rows
     *            of the host
     * @throws IOException
     *             if it cannot be written; then what was there is still there
     */
    public static void writeRows(Path file, SelectedRows rows) throws IOException {
        AtomicFile.write(file, out -> writeRows(out, rows));
    }

    /**
     * Writes selected rows to a stream, which stays open.
     *
     * @param out
     *            gets the bytes
     * @param rows
     *            of the host
     * @throws IOException
     *             if they cannot be written
     */
    public static void writeRows(OutputStream out, SelectedRows rows) throws IOException {
        new TensorWriter(out).rows(rows);
    }
}
