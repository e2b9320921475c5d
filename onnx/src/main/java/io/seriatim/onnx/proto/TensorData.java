package io.seriatim.onnx.proto;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Copies the elements of a file's tensors, once, to memory of the host. Keeps files with external data mapped. */
public final class TensorData {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String source;
    private final @Nullable Path folder;
    private final Arena arena;
    private final Map<Path, MemorySegment> mapped = new HashMap<>();

    /**
     * Creates it for a model.
     *
     * @param source
     *            the model's file, for messages
     * @param folder
     *            the only folder whose files are read; null if there is none
     * @param arena
     *            as long as which files stay mapped
     */
    public TensorData(String source, @Nullable Path folder, Arena arena) {
        this.source = source;
        this.folder = folder;
        this.arena = arena;
    }

    private FileFormatException error(OnnxTensor tensor, String rule) {
        return new FileFormatException(source, "tensor '" + tensor.name() + "': " + rule);
    }

    /**
     * The elements of a tensor.
     *
     * @param tensor
     *            of a supported type
     * @return a tensor of the host, which belongs to the caller
     * @throws IOException
     *             if it is not valid or a file cannot be read
     */
    public Tensor read(OnnxTensor tensor) throws IOException {
        DType dtype = ElementTypes.find(tensor.element());
        if (dtype == null) {
            throw error(tensor, "the type " + ElementTypes.name(tensor.element()) + " is not supported");
        }
        long count = 1;
        for (long dim : tensor.dims()) {
            if (dim < 0) {
                throw error(tensor, "dimensions are 0 or more, but one is " + dim);
            }
            try {
                count = Math.multiplyExact(count, dim);
                Math.multiplyExact(count, (long) dtype.bytes());
            } catch (ArithmeticException e) {
                throw new FileFormatException(source, "tensor '" + tensor.name()
                        + "': its dimensions have more elements than memory can hold", e);
            }
        }
        MemorySegment raw = tensor.external() == null ? tensor.raw() : external(tensor, tensor.external());
        if (raw == null) {
            return ofNumbers(tensor, dtype, count);
        }
        if (raw.byteSize() != count * dtype.bytes()) {
            throw error(tensor, "its dimensions need " + count * dtype.bytes() + " bytes, but it has "
                    + raw.byteSize());
        }
        Tensor result = Tensor.allocate(dtype, dims(tensor));
        // Declared, so that plans may keep packed copies of it.
        result.declared().memory().copyFrom(raw);
        return result;
    }

    private static long[] dims(OnnxTensor tensor) {
        return tensor.dims().stream().mapToLong(Long::longValue).toArray();
    }

    private Tensor ofNumbers(OnnxTensor tensor, DType dtype, long count) throws IOException {
        Longs numbers = tensor.numbers();
        int parts = dtype.isComplex() ? 2 : 1;
        if (numbers.size() != count * parts) {
            throw error(tensor, "its dimensions have " + count + " elements, but it has " + numbers.size() / parts);
        }
        Tensor result = Tensor.allocate(dtype, dims(tensor));
        MemorySegment memory = result.declared().memory();
        int bytes = dtype.bytes() / parts;
        for (int i = 0; i < numbers.size(); i++) {
            switch (bytes) {
                case 1 -> memory.set(ValueLayout.JAVA_BYTE, i, (byte) numbers.get(i));
                case 2 -> memory.set(SHORT, 2L * i, (short) numbers.get(i));
                case 4 -> memory.set(INT, 4L * i, (int) numbers.get(i));
                default -> memory.set(LONG, 8L * i, numbers.get(i));
            }
        }
        return result;
    }

    private MemorySegment external(OnnxTensor tensor, Map<String, String> entries) throws IOException {
        Path file = inside(tensor, entries.getOrDefault("location", ""));
        MemorySegment whole = mapped.get(file);
        if (whole == null) {
            try (FileChannel channel = FileChannel.open(InputFiles.regular(file), StandardOpenOption.READ)) {
                whole = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            }
            mapped.put(file, whole);
        }
        long offset = number(tensor, entries, "offset", 0);
        long length = number(tensor, entries, "length", whole.byteSize() - offset);
        if (offset < 0 || length < 0 || offset > whole.byteSize() || length > whole.byteSize() - offset) {
            throw error(tensor, "its data, " + length + " bytes at " + offset + ", are not within the file " + file
                    + " of " + whole.byteSize() + " bytes");
        }
        return whole.asSlice(offset, length);
    }

    private long number(OnnxTensor tensor, Map<String, String> entries, String key, long byDefault) throws IOException {
        String text = entries.get(key);
        try {
            return text == null ? byDefault : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new FileFormatException(source, "tensor '" + tensor.name() + "': the " + key
                    + " of its external data is a whole number, but is '" + text + "'", e);
        }
    }

    /** A regular file in the model's folder or below it, reached through no link that leads out. */
    private Path inside(OnnxTensor tensor, String location) throws IOException {
        if (folder == null) {
            throw error(tensor, "its data are in another file, but the model was not read from a folder");
        }
        try {
            Path relative = Path.of(location);
            Path file = folder.resolve(relative).normalize();
            if (location.isEmpty() || relative.isAbsolute() || !file.startsWith(folder.normalize())
                    || file.equals(folder.normalize())) {
                throw error(tensor, "external data lie in the model's folder, but its location is '" + location + "'");
            }
            if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                throw error(tensor, "its data are in the file '" + location + "' beside the model, which is missing");
            }
            Path real = file.toRealPath();
            if (!real.startsWith(folder.toRealPath()) || !Files.isRegularFile(real)) {
                throw error(tensor, "external data lie in a file of the model's folder, but '" + location
                        + "' is a link out of it or no file");
            }
            return real;
        } catch (InvalidPathException e) {
            throw new FileFormatException(source, "tensor '" + tensor.name() + "': the location of its external data '"
                    + location + "' is no path", e);
        }
    }
}
