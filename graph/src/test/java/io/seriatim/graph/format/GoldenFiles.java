package io.seriatim.graph.format;

import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Programs and streams that the real Paddle wrote: made by tools/golden. */
final class GoldenFiles {
    private GoldenFiles() {
    }

    static Map<String, Tensor> entries(String name) {
        try {
            return Npz.read(Path.of(
                    Objects.requireNonNull(GoldenFiles.class.getResource("/golden/" + name + ".npz"), name).toURI()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    static byte[] bytes(Map<String, Tensor> entries, String key) {
        long[] values = Objects.requireNonNull(entries.get(key), key).toLongArray();
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    static String text(Map<String, Tensor> entries, String key) {
        return new String(bytes(entries, key), StandardCharsets.UTF_8);
    }

    static List<String> lines(Map<String, Tensor> entries, String key) {
        return text(entries, key).lines().toList();
    }

    static Program program(Map<String, Tensor> entries, String key) throws IOException {
        return ProgramFiles.parse(key, bytes(entries, key));
    }

    /** The names before the first slash. */
    static List<String> names(Map<String, Tensor> entries, String entry) {
        return entries.keySet().stream().filter(key -> key.endsWith("/" + entry))
                .map(key -> key.substring(0, key.indexOf('/'))).sorted()
                .toList();
    }
}
