package io.seriatim.graph.interpret;

import io.seriatim.graph.format.TensorStreams;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.AtomicFile;
import io.seriatim.tensor.ConfinedFolder;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Saves variables to files and loads them, in Paddle's format. */
final class FileInstructions {
    private final OpDesc op;
    private final Environment environment;
    private final Attrs attrs;
    private final ConfinedFolder folder;
    private final String name;

    private FileInstructions(OpDesc op, Environment environment, ConfinedFolder folder) {
        this.op = op;
        this.folder = folder;
        this.environment = environment;
        this.attrs = Instructions.attrs(op);
        this.name = attrs.getText("file_path");
    }

    static void run(OpDesc op, Block block, Environment environment, AllowedFiles allowed) {
        FileInstructions files = new FileInstructions(op, environment, allowed.folder(op));
        try {
            switch (op.type()) {
                case "save" -> files.save();
                case "save_combine" -> files.saveAll();
                case "load" -> files.load(block);
                case "load_combine" -> files.loadAll();
                default -> throw new IllegalArgumentException("'" + op.type() + "' neither saves nor loads");
            }
        } catch (FileAlreadyExistsException e) {
            throw new IllegalArgumentException(
                    "The file " + files.name + " is there already; set overwrite to true to replace it", e);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Operation '" + op.type() + "' failed at the file " + files.name + ": " + e.getMessage(), e);
        }
    }

    private void save() throws IOException {
        Object value = environment.get(op.input("X").getFirst());
        if (value instanceof SelectedRows rows) {
            write(out -> TensorStreams.writeRows(out,
                    new SelectedRows(rows.rows(), saved(rows.values()), rows.height())));
        } else {
            TensorStreams.LodTensor tensor = new TensorStreams.LodTensor(
                    saved(environment.tensor(op.input("X").getFirst())));
            write(out -> TensorStreams.write(out, tensor));
        }
    }

    private void saveAll() throws IOException {
        List<TensorStreams.LodTensor> tensors = op.input("X").stream()
                .map(input -> new TensorStreams.LodTensor(saved(environment.tensor(input)))).toList();
        write(out -> {
            for (TensorStreams.LodTensor tensor : tensors) {
                TensorStreams.write(out, tensor);
            }
        });
    }

    private void write(AtomicFile.Content content) throws IOException {
        folder.write(name, attrs.getBool("overwrite"), content);
    }

    private Tensor saved(Tensor tensor) {
        return half(tensor, "save_as_fp16");
    }

    private Tensor half(Tensor tensor, String attribute) {
        return attrs.getBool(attribute) && tensor.dtype().isFloating()
                ? VariableValues.cast(tensor, DType.FLOAT16)
                : tensor;
    }

    private void load(Block block) throws IOException {
        String out = op.output("Out").getFirst();
        @Nullable
        VarDesc desc = block.find(out);
        if (desc != null && desc.type() instanceof VarType.Rows) {
            environment.set(out, folder.read(name, (in, size) -> TensorStreams.readRows(name, in, size)));
            return;
        }
        Tensor whole = read(1).getFirst().tensor();
        long from = attrs.getLong("seek");
        environment.set(out, half(from < 0 ? whole : part(whole, from), "load_as_fp16"));
    }

    /** Some elements, of a shape that the operation gives. */
    private Tensor part(Tensor whole, long from) {
        long[] dims = attrs.getLongs("shape");
        long size = 1;
        for (long dim : dims) {
            size = dim < 0 ? -1 : Math.multiplyExact(size, dim);
        }
        if (size < 0 || from > whole.shape().size() - size) {
            throw new IllegalArgumentException("Elements from " + from + " of the shape " + attrs.get("shape")
                    + " must be within the saved tensor, which is " + whole.spec());
        }
        return VariableValues.copy(whole.reshape(whole.shape().size()).slice(0, from, from + size)).reshape(dims);
    }

    private List<TensorStreams.LodTensor> read(int count) throws IOException {
        return folder.read(name, (in, size) -> TensorStreams.readAll(name, in, size, count));
    }

    private void loadAll() throws IOException {
        List<String> names = op.output("Out");
        List<TensorStreams.LodTensor> tensors = read(names.size());
        for (int i = 0; i < names.size(); i++) {
            environment.set(names.get(i), half(tensors.get(i).tensor(), "load_as_fp16"));
        }
    }
}
