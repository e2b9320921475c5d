package io.seriatim.graph.format;

import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.ConfinedFolder;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The values of a program's persistable variables as files: Paddle's {@code .pdiparams}, a file for each variable, or
 * NumPy's {@code .npz}. The shape and type that a file says count, whatever the program says. Files are there whole or
 * not at all.
 */
public final class ParameterFiles {
    private ParameterFiles() {
    }

    /**
     * Reads a {@code .pdiparams}, which has the tensors in the order of their variables' names, but not the names.
     *
     * @param file
     *            need not be there if the program has no persistable variables
     * @param program
     *            whose persistable variables it holds
     * @return the tensors by name, which belong to the caller
     * @throws FileFormatException
     *             if it is not such a file, or has more or fewer tensors; the message gives the byte offset
     * @throws IOException
     *             if it cannot be read
     */
    public static Map<String, Tensor> readCombined(Path file, Program program) throws IOException {
        List<String> names = names(program);
        if (names.isEmpty() && !Files.exists(file)) {
            return new LinkedHashMap<>();
        }
        requireFile(file, names);
        List<TensorStreams.LodTensor> read = TensorStreams.readAll(file, names);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (int i = 0; i < read.size(); i++) {
            tensors.put(names.get(i), read.get(i).divided());
        }
        return tensors;
    }

    /**
     * Writes a {@code .pdiparams}, or takes it away if the program has no persistable variables.
     *
     * @param file
     *            replaced if it is there
     * @param program
     *            whose persistable variables are written
     * @param values
     *            the tensor of each, of the host
     * @throws IllegalArgumentException
     *             if a variable has no value
     * @throws IOException
     *             if it cannot be written; then what was there is still there
     */
    public static void writeCombined(Path file, Program program, Function<String, @Nullable Tensor> values)
            throws IOException {
        Map<String, Tensor> tensors = values(program, values);
        if (tensors.isEmpty()) {
            InputFiles.requireNotRead(file);
            Files.deleteIfExists(file);
        } else {
            TensorStreams.write(file, tensors.values().stream().map(TensorStreams.LodTensor::new).toList());
        }
    }

    /**
     * Reads a file for each variable, with its name: the older form of parameters.
     *
     * @param folder
     *            where they are
     * @param program
     *            whose persistable variables they hold
     * @return the tensors by name, which belong to the caller
     * @throws FileFormatException
     *             if one is not the file of one tensor; the message gives the byte offset
     * @throws IOException
     *             if one cannot be read
     */
    public static Map<String, Tensor> readSeparate(Path folder, Program program) throws IOException {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        boolean whole = false;
        try {
            for (String name : names(program)) {
                Path file = inside(folder, name);
                requireFile(file, List.of(name));
                tensors.put(name, TensorStreams.read(file).divided());
            }
            whole = true;
        } finally {
            if (!whole) {
                tensors.values().forEach(Tensor::close);
            }
        }
        return tensors;
    }

    /**
     * Writes a file for each variable, with its name, which leads nowhere else, see {@link ConfinedFolder}. Each is
     * there whole or not at all; all together are not.
     *
     * @param folder
     *            made if it is not there
     * @param program
     *            whose persistable variables are written
     * @param values
     *            the tensor of each, of the host
     * @throws IllegalArgumentException
     *             if a variable has no value
     * @throws IOException
     *             if a file cannot be written
     */
    public static void writeSeparate(Path folder, Program program, Function<String, @Nullable Tensor> values)
            throws IOException {
        Map<String, Tensor> tensors = values(program, values);
        Files.createDirectories(folder);
        ConfinedFolder confined = ConfinedFolder.of(folder);
        for (Map.Entry<String, Tensor> named : tensors.entrySet()) {
            inside(folder, named.getKey());
            confined.write(named.getKey(), true,
                    out -> TensorStreams.write(out, new TensorStreams.LodTensor(named.getValue())));
        }
    }

    /** A program may come from anywhere, and its names must not lead to files elsewhere. */
    private static Path inside(Path folder, String name) throws IOException {
        Path root = folder.toAbsolutePath().normalize();
        try {
            Path file = root.resolve(name).normalize();
            if (file.startsWith(root) && !file.equals(root)) {
                return file;
            }
        } catch (InvalidPathException e) {
            throw new IOException("Variable '" + name + "' cannot be a file of its own: " + e.getReason(), e);
        }
        throw new IOException(
                "The file of variable '" + name + "' would not be in the folder " + folder
                        + ": keep the parameters in one file");
    }

    /**
     * Reads an {@code .npz} of arrays with the names of variables. It may have more of them.
     *
     * @param file
     *            need not be there if the program has no persistable variables
     * @param program
     *            whose persistable variables it holds
     * @return the tensors by name, which belong to the caller
     * @throws FileFormatException
     *             if it is not such a file, or a variable is missing
     * @throws IOException
     *             if it cannot be read
     */
    public static Map<String, Tensor> readNpz(Path file, Program program) throws IOException {
        List<String> names = names(program);
        if (names.isEmpty()) {
            return new LinkedHashMap<>();
        }
        requireFile(file, names);
        Map<String, Tensor> found = Npz.read(file);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (String name : names) {
            Tensor tensor = found.remove(name);
            if (tensor != null) {
                tensors.put(name, tensor);
            }
        }
        found.values().forEach(Tensor::close);
        if (tensors.size() != names.size()) {
            tensors.values().forEach(Tensor::close);
            List<String> missing = names.stream().filter(name -> !tensors.containsKey(name)).toList();
            throw new FileFormatException(file.toString(), 0,
                    "there must be an array for each of " + names.size() + " variables, but there is none for "
                            + missing);
        }
        return tensors;
    }

    /**
     * Writes an {@code .npz} of arrays with the names of variables, or takes it away if the program has no persistable
     * variables.
     *
     * @param file
     *            replaced if it is there
     * @param program
     *            whose persistable variables are written
     * @param values
     *            the tensor of each, of the host
     * @throws IllegalArgumentException
     *             if a variable has no value
     * @throws IOException
     *             if it cannot be written; then what was there is still there
     */
    public static void writeNpz(Path file, Program program, Function<String, @Nullable Tensor> values)
            throws IOException {
        Map<String, Tensor> tensors = values(program, values);
        if (tensors.isEmpty()) {
            InputFiles.requireNotRead(file);
            Files.deleteIfExists(file);
        } else {
            Npz.write(file, tensors);
        }
    }

    private static void requireFile(Path file, List<String> names) throws NoSuchFileException {
        if (!Files.exists(file)) {
            throw new NoSuchFileException(file.toString(), null,
                    "the values of " + names.size() + " persistable variables, such as '"
                            + names.getFirst() + "', should be there");
        }
    }

    /** The names of persistable variables; one name in several blocks is one parameter. */
    private static List<String> names(Program program) {
        for (VarDesc desc : program.persistables()) {
            if (!(desc.type() instanceof VarType.Dense)) {
                throw new IllegalArgumentException(
                        "Files of parameters hold tensors, but persistable variable '" + desc.name()
                                + "' is another kind: " + desc);
            }
        }
        return program.persistables().stream().map(VarDesc::name).distinct().toList();
    }

    /** The value of each persistable variable. */
    static Map<String, Tensor> values(Program program, Function<String, @Nullable Tensor> values) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (String name : names(program)) {
            Tensor tensor = values.apply(name);
            if (tensor == null) {
                throw new IllegalArgumentException(
                        "Persistable variable '" + name
                                + "' has no value: run the startup program first, or load its parameters");
            }
            tensors.put(name, tensor);
        }
        return tensors;
    }
}
