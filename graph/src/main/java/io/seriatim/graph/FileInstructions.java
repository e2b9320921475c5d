package io.seriatim.graph;

import io.seriatim.graph.format.TensorStreams;
import io.seriatim.graph.op.Attrs;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Saves variables to files and loads them, in Paddle's format. */
final class FileInstructions {
    private final OpDesc op;
    private final Environment environment;
    private final Attrs attrs;

    private FileInstructions(OpDesc op, Environment environment) {
        this.op = op;
        this.environment = environment;
        this.attrs = Instructions.attrs(op);
    }

    static void run(OpDesc op, Block block, Environment environment) {
        FileInstructions files = new FileInstructions(op, environment);
        Path file = Path.of(files.attrs.getText("file_path"));
        try {
            switch (op.type()) {
                case "save" -> files.save(file);
                case "save_combine" -> files.saveAll(file);
                case "load" -> files.load(file, block);
                case "load_combine" -> files.loadAll(file);
                default -> throw new IllegalArgumentException("'" + op.type() + "' neither saves nor loads");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Operation '" + op.type() + "' failed at the file " + file + ": " + e.getMessage(), e);
        }
    }

    private void save(Path file) throws IOException {
        prepare(file);
        Object value = environment.get(op.input("X").getFirst());
        if (value instanceof SelectedRows rows) {
            TensorStreams.writeRows(file, new SelectedRows(rows.rows(), saved(rows.values()), rows.height()));
        } else {
            TensorStreams.write(file, List.of(new TensorStreams.LodTensor(saved(environment.tensor(op.input("X").getFirst())))));
        }
    }

    private void saveAll(Path file) throws IOException {
        if (attrs.getBool("save_to_memory")) {
            throw new IllegalArgumentException("Parameters are saved to files only; set save_to_memory to false");
        }
        prepare(file);
        TensorStreams.write(file,
                op.input("X").stream().map(name -> new TensorStreams.LodTensor(saved(environment.tensor(name)))).toList());
    }

    private void prepare(Path file) throws IOException {
        if (Files.exists(file) && !attrs.getBool("overwrite")) {
            throw new IllegalArgumentException("The file " + file + " is there already; set overwrite to true to replace it");
        }
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) {
            Files.createDirectories(folder);
        }
    }

    private Tensor saved(Tensor tensor) {
        return half(tensor, "save_as_fp16");
    }

    private Tensor half(Tensor tensor, String attribute) {
        return attrs.getBool(attribute) && tensor.dtype().isFloating() ? VariableValues.cast(tensor, DType.FLOAT16) : tensor;
    }

    private void load(Path file, Block block) throws IOException {
        String name = op.output("Out").getFirst();
        @Nullable
        VarDesc desc = block.find(name);
        if (desc != null && desc.type() instanceof VarType.Rows) {
            environment.set(name, TensorStreams.readRows(file));
            return;
        }
        Tensor whole = TensorStreams.read(file).tensor();
        long from = attrs.getLong("seek");
        environment.set(name, half(from < 0 ? whole : part(whole, from), "load_as_fp16"));
    }

    /** Some elements, of a shape that the operation gives. */
    private Tensor part(Tensor whole, long from) {
        long[] dims = attrs.getLongs("shape");
        long size = 1;
        for (long dim : dims) {
            size = dim < 0 ? -1 : Math.multiplyExact(size, dim);
        }
        if (size < 0 || from + size > whole.shape().size()) {
            throw new IllegalArgumentException("Elements from " + from + " of the shape " + attrs.get("shape")
                    + " must be within the saved tensor, which is " + whole.spec());
        }
        return VariableValues.copy(whole.reshape(whole.shape().size()).slice(0, from, from + size)).reshape(dims);
    }

    private void loadAll(Path file) throws IOException {
        if (attrs.getBool("model_from_memory")) {
            throw new IllegalArgumentException("Parameters are loaded from files only; set model_from_memory to false");
        }
        List<String> names = op.output("Out");
        List<TensorStreams.LodTensor> tensors = new ArrayList<>(TensorStreams.readAll(file, names.size()));
        for (int i = 0; i < names.size(); i++) {
            environment.set(names.get(i), half(tensors.get(i).tensor(), "load_as_fp16"));
        }
    }
}
