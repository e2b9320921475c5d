package io.seriatim.graph;

import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The results of the real Paddle, operation by operation: made by tools/golden/operations. */
public record GoldenOperations(String name, Program program, String meta, Map<String, Tensor> in,
        Map<String, Tensor> out, Map<String, Lod> lods) {
    /** A folder with more files, which {@code mvn -Pgolden} reads instead of the committed ones of the same name. */
    private static final String FOLDER = System.getProperty("seriatim.golden", "");
    private static final Map<String, GoldenOperations> ALL = load();

    /** Copies of the inputs, since some operations update their inputs in place. */
    @Override
    public Map<String, Tensor> in() {
        Map<String, Tensor> copies = new LinkedHashMap<>();
        in.forEach((name, tensor) -> copies.put(name, copy(tensor)));
        return copies;
    }

    private static Tensor copy(Tensor tensor) {
        Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
        copy.memory().copyFrom(tensor.memory());
        return copy.withLod(tensor.lod());
    }

    /** All cases by name, {@code <operation>.<case>}. */
    public static Map<String, GoldenOperations> all() {
        return ALL;
    }

    String operation() {
        return name.substring(0, name.indexOf('.'));
    }

    /** The case with an operation of another type that has the same slots. */
    GoldenOperations withType(String type) {
        Program changed = program.copy();
        Block block = changed.global();
        for (int i = 0; i < block.ops().size(); i++) {
            OpDesc op = block.ops().get(i);
            if (op.type().equals(operation())) {
                block.set(i, new OpDesc(type, op.inputs(), op.outputs(), op.attributes(), null));
            }
        }
        return new GoldenOperations(type + name.substring(name.indexOf('.')), changed, meta, in, out, lods);
    }

    static Map<String, Tensor> entries(String resource) {
        return read(path(resource));
    }

    private static Path path(String resource) {
        try {
            return Path.of(Objects.requireNonNull(GoldenOperations.class.getResource(resource)).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, Tensor> read(Path file) {
        try {
            return Npz.read(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The files operations*.npz, by name. */
    private static Collection<Path> files() {
        Map<String, Path> files = new TreeMap<>(list(path("/golden/operations.npz").resolveSibling(".").normalize()));
        if (!FOLDER.isEmpty()) {
            Map<String, Path> more = list(Path.of(FOLDER));
            if (more.isEmpty()) {
                throw new IllegalStateException("no operations*.npz in " + FOLDER
                        + ": make them with tools/golden/operations/all.sh " + FOLDER);
            }
            files.putAll(more);
        }
        return files.values();
    }

    private static Map<String, Path> list(Path folder) {
        try (Stream<Path> paths = Files.list(folder)) {
            return paths.filter(path -> path.getFileName().toString().matches("operations.*\\.npz"))
                    .collect(Collectors.toMap(path -> path.getFileName().toString(), path -> path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static byte[] bytes(Tensor tensor) {
        long[] values = tensor.toLongArray();
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    static Program program(Map<String, Tensor> entries, String key) {
        try {
            return ProgramFiles.parse(key, bytes(Objects.requireNonNull(entries.get(key), key)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, GoldenOperations> load() {
        Map<String, Tensor> entries = new LinkedHashMap<>();
        files().forEach(file -> entries.putAll(read(file)));
        Map<String, GoldenOperations> cases = new TreeMap<>();
        for (String key : entries.keySet()) {
            if (key.endsWith("/program")) {
                String name = key.substring(0, key.length() - "/program".length());
                String meta = new String(bytes(Objects.requireNonNull(entries.get(name + "/meta"))),
                        StandardCharsets.UTF_8);
                Map<String, Lod> lods = new LinkedHashMap<>();
                part(entries, name + "/lod/").forEach((variable, offsets) -> lods.put(variable, Lod.of(offsets)));
                Map<String, Tensor> in = part(entries, name + "/in/");
                in.replaceAll((variable, tensor) -> tensor.withLod(lods.getOrDefault(variable, Lod.NONE)));
                cases.put(name, new GoldenOperations(name, program(entries, key), meta, in,
                        part(entries, name + "/out/"), lods));
            }
        }
        return cases;
    }

    private static Map<String, Tensor> part(Map<String, Tensor> entries, String prefix) {
        Map<String, Tensor> part = new LinkedHashMap<>();
        entries.forEach((key, tensor) -> {
            if (key.startsWith(prefix)) {
                part.put(key.substring(prefix.length()), tensor);
            }
        });
        return part;
    }
}
