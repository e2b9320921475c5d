package io.seriatim.graph.format;

import io.seriatim.graph.dialect.PaddleForms;
import io.seriatim.graph.dialect.TargetSchema;
import io.seriatim.graph.dialect.TypesOfPaddle;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.StagedFiles;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The models of PaddlePaddle 2: {@code NAME.pdmodel} and {@code NAME.pdiparams}, or a folder. */
final class PaddleFormat implements ModelFormat {
    static final String PROGRAM = ".pdmodel";
    static final String PARAMETERS = ".pdiparams";
    static final String OLD_PROGRAM = "__model__";
    private static final String OLD_PARAMETERS = "__params__";

    @Override
    public String name() {
        return "PaddlePaddle 2";
    }

    static boolean isFolder(Path path) {
        return Files.exists(path.resolve(OLD_PROGRAM));
    }

    @Override
    public boolean reads(Path path) {
        return path.toString().endsWith(PROGRAM) || isFolder(path);
    }

    @Override
    public boolean writes(Path path) {
        return path.toString().endsWith(PROGRAM);
    }

    @Override
    public List<Path> files(Path path) {
        return List.of(path, sibling(prefix(path), PARAMETERS));
    }

    /** The files' names without their ends. */
    static Path prefix(Path program) {
        String name = String.valueOf(program.getFileName());
        return program.resolveSibling(name.substring(0, name.length() - PROGRAM.length()));
    }

    static Path sibling(Path prefix, String end) {
        return prefix.resolveSibling(prefix.getFileName() + end);
    }

    @Override
    public InferenceModel load(Path path) throws IOException {
        if (isFolder(path)) {
            Path parameters = path.resolve(OLD_PARAMETERS);
            Path model = path.resolve(OLD_PROGRAM);
            return Files.exists(parameters)
                    ? load(model, program -> ParameterFiles.readCombined(parameters, program))
                    : load(model, program -> ParameterFiles.readSeparate(path, program));
        }
        return load(path, program -> ParameterFiles.readCombined(sibling(prefix(path), PARAMETERS), program));
    }

    @Override
    public void save(Path path, InferenceModel model) throws IOException {
        write(prefix(path), expressed(model), model.parameters()::get, true);
    }

    private static Program expressed(InferenceModel model) {
        Program program = ExportedProgram.named(model.program(), model.feeds(), model.fetches());
        return OperationsOfPaddle.expressed(PaddleForms.of(program, model.fetches(),
                PaddleForms.constants(model.parameters(), model.feeds()), TargetSchema.paddle2()));
    }

    @Override
    public void requireExpressible(Path path, InferenceModel model) {
        TypesOfPaddle.require(expressed(model));
    }

    /**
     * Writes both files, or none.
     *
     * @param always
     *            whether there is a file of parameters even if there are no parameters
     */
    static void write(Path prefix, Program program, Function<String, @Nullable Tensor> values, boolean always)
            throws IOException {
        TypesOfPaddle.require(program);
        Map<String, Tensor> tensors = ParameterFiles.values(program, values);
        byte[] bytes = ProgramFiles.toBytes(program);
        Path file = sibling(prefix, PROGRAM);
        String parameters = String.valueOf(sibling(prefix, PARAMETERS).getFileName());
        try (StagedFiles staged = StagedFiles.beside(file)) {
            if (tensors.isEmpty() && !always) {
                staged.remove(parameters);
            } else {
                staged.write(parameters, out -> TensorStreams.writeAll(out, tensors.values()));
            }
            staged.write(String.valueOf(file.getFileName()), out -> out.write(bytes));
            staged.publish();
        }
    }

    private interface Parameters {
        Map<String, Tensor> of(Program program) throws IOException;
    }

    private static InferenceModel load(Path file, Parameters parameters) throws IOException {
        Program program = ProgramFiles.read(file);
        Block global = program.global();
        List<String> feeds = columns(file, global, ExportedProgram.FEED, op -> op.output("Out"));
        List<String> fetches = columns(file, global, ExportedProgram.FETCH, op -> op.input("X"));
        if (fetches.isEmpty()) {
            throw new FileFormatException(file.toString(), 0,
                    "an inference model fetches something, but there is no operation fetch: read programs for "
                            + "training with ProgramFiles");
        }
        global.setOps(global.ops().stream().filter(op -> !ExportedProgram.isFeedOrFetch(op)).toList());
        List.copyOf(global.vars()).stream().filter(desc -> isHolder(desc, feeds, fetches))
                .forEach(desc -> global.remove(desc.name()));
        try {
            Operations.system().requireRunnable(program);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
        return new InferenceModel(program, feeds, fetches, parameters.of(program));
    }

    /** Whether a variable stands for all feeds or all fetches. A feed or a fetch may itself have such a name. */
    private static boolean isHolder(VarDesc desc, List<String> feeds, List<String> fetches) {
        int kind = desc.type().kind();
        boolean named = desc.name().equals(ExportedProgram.FEED) || desc.name().equals(ExportedProgram.FETCH);
        return kind == VarType.FEED_MINIBATCH || kind == VarType.FETCH_LIST
                || (named && !feeds.contains(desc.name()) && !fetches.contains(desc.name()));
    }

    /** The variables of operations feed or fetch, in the order of their attribute col. */
    private static List<String> columns(Path file, Block global, String type, Function<OpDesc, List<String>> variables)
            throws FileFormatException {
        Map<Integer, String> byColumn = new TreeMap<>();
        for (OpDesc op : global.ops()) {
            if (op.type().equals(type)) {
                if (!(op.attribute(ExportedProgram.COLUMN) instanceof Attribute.Int(int column))
                        || variables.apply(op).size() != 1
                        || global.var(variables.apply(op).getFirst()) == null) {
                    throw new FileFormatException(file.toString(), 0,
                            "an operation " + type + " has one declared variable and the number col, but this is "
                                    + op);
                }
                if (byColumn.put(column, variables.apply(op).getFirst()) != null) {
                    throw new FileFormatException(file.toString(), 0,
                            "two operations " + type + " have the number " + column);
                }
            }
        }
        List<Integer> expected = IntStream.range(0, byColumn.size()).boxed().toList();
        if (!List.copyOf(byColumn.keySet()).equals(expected)) {
            throw new FileFormatException(file.toString(), 0,
                    "the numbers of operations " + type + " go from 0 up, but are " + byColumn.keySet());
        }
        return List.copyOf(byColumn.values());
    }
}
