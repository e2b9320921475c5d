package io.seriatim.mxnet.read;

import io.seriatim.graph.util.ByteSource;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * MXNet's list of arrays with names, {@code NAME-0000.params}: a header, the arrays, then their names, which begin with
 * {@code arg:} or {@code aux:}.
 */
public final class ArrayFile {
    /** The number with which every such file begins. */
    public static final long MAGIC = 0x112;

    private static final int LEAST_ARRAY = Integer.BYTES;
    private static final int MOST_TEXT = 1 << 16;
    private static final List<String> PREFIXES = List.of("arg:", "aux:");

    private ArrayFile() {
    }

    /**
     * Reads a file.
     *
     * @param file
     *            where it is
     * @return the tensors by name without prefix, in the file's order; they belong to the caller
     * @throws FileFormatException
     *             if it is not such a file; the message gives the byte offset
     * @throws IOException
     *             if it cannot be read
     */
    public static Map<String, Tensor> read(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(InputFiles.regular(file), StandardOpenOption.READ)) {
            return read(new ByteSource(file.toString(), channel, channel.size()));
        }
    }

    private static Map<String, Tensor> read(ByteSource in) throws IOException {
        if (in.int64("the magic number") != MAGIC) {
            throw in.error(0, "a list of arrays begins with the number 0x112, but this file does not: it is no file "
                    + "of MXNet's parameters");
        }
        in.int64("the reserved number");
        long count = count(in, "arrays", LEAST_ARRAY);
        List<Tensor> tensors = new ArrayList<>();
        boolean whole = false;
        try {
            ArrayReader reader = new ArrayReader(in);
            for (long i = 0; i < count; i++) {
                tensors.add(reader.array(i));
            }
            Map<String, Tensor> named = named(in, tensors);
            in.requireEnd("the names");
            whole = true;
            return named;
        } finally {
            if (!whole) {
                tensors.forEach(Tensor::close);
            }
        }
    }

    private static Map<String, Tensor> named(ByteSource in, List<Tensor> tensors) throws IOException {
        long at = in.position();
        long count = count(in, "names", Long.BYTES);
        if (count != tensors.size()) {
            throw in.error(at, "each of the " + tensors.size() + " arrays has a name, but there are " + count
                    + " names");
        }
        Map<String, Tensor> named = new LinkedHashMap<>();
        Set<String> whole = new HashSet<>();
        for (Tensor tensor : tensors) {
            at = in.position();
            String name = text(in, "the name of an array");
            String bare = withoutPrefix(name);
            if (!whole.add(name) || named.put(bare, tensor) != null) {
                throw in.error(at, "the name '" + name + "' occurs twice");
            }
        }
        return named;
    }

    private static String withoutPrefix(String name) {
        for (String prefix : PREFIXES) {
            if (name.startsWith(prefix)) {
                return name.substring(prefix.length());
            }
        }
        return name;
    }

    /** A number of things that follow, each of at least some bytes. */
    private static long count(ByteSource in, String what, int least) throws IOException {
        long at = in.position();
        long count = in.int64("the number of " + what);
        if (count < 0 || count > in.remaining() / least) {
            throw in.error(at, Long.toUnsignedString(count) + " " + what + " where " + in.remaining()
                    + " bytes are left: the file is cut off or of another kind");
        }
        return count;
    }

    private static String text(ByteSource in, String what) throws IOException {
        long at = in.position();
        long length = in.int64("the length of " + what);
        if (length < 0 || length > MOST_TEXT) {
            throw in.error(at,
                    what + " has from 0 to " + MOST_TEXT + " bytes, but has " + Long.toUnsignedString(length));
        }
        long start = in.position();
        byte[] bytes = in.bytes((int) length, what);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw (FileFormatException) in.error(start, what + " must be UTF-8, but is not").initCause(e);
        }
    }
}
