package io.seriatim.graph.format;

import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Programs for inference with their parameters, as Paddle's save_inference_model writes them: {@code name.pdmodel} and
 * {@code name.pdiparams}.
 */
public final class InferenceModels {
    private static final String PROGRAM = ".pdmodel";
    private static final String PARAMETERS = ".pdiparams";
    private static final String OLD_PROGRAM = "__model__";
    private static final String OLD_PARAMETERS = "__params__";

    private InferenceModels() {
    }

    /**
     * A program that computes some variables from others, and its parameters.
     *
     * @param program
     *            what computes, without Paddle's operations feed and fetch
     * @param feeds
     *            the variables that are given, in order
     * @param fetches
     *            the variables that are wanted, in order
     * @param parameters
     *            the values of its persistable variables
     */
    public record InferenceModel(Program program, List<String> feeds, List<String> fetches,
            Map<String, Tensor> parameters)
            implements
                AutoCloseable {
        /** Copies the lists. */
        public InferenceModel {
            feeds = List.copyOf(feeds);
            fetches = List.copyOf(fetches);
            parameters = new LinkedHashMap<>(parameters);
        }

        /** Frees the parameters' memory. */
        @Override
        public void close() {
            parameters.values().forEach(Tensor::close);
        }
    }

    /**
     * The program that {@link #save} writes: the operations that the fetched variables need, in their form for
     * inference, with Paddle's operations feed and fetch, and without operations of training.
     *
     * @param main
     *            any program; it is not changed
     * @param feeds
     *            the variables that will be given, in order
     * @param fetches
     *            the variables that are wanted, in order
     * @return a new program
     * @throws IllegalArgumentException
     *             if a variable is not there, nothing produces a fetched one, one that is needed is not given, or none
     *             needs a given one
     */
    public static Program export(Program main, List<String> feeds, List<String> fetches) {
        if (fetches.isEmpty()) {
            throw new IllegalArgumentException("An inference model fetches at least one variable, but none is named");
        }
        feeds.forEach(main.global()::get);
        return ExportedProgram.of(main, feeds, fetches);
    }

    /**
     * Writes {@code prefix.pdmodel} and {@code prefix.pdiparams}; the latter only if there are parameters. Each is
     * there whole or not at all.
     *
     * @param prefix
     *            the files' names without their ends; their folder must be there
     * @param main
     *            any program; it is not changed
     * @param feeds
     *            the variables that will be given, in order
     * @param fetches
     *            the variables that are wanted, in order
     * @param values
     *            the tensor of each persistable variable, of the host
     * @throws IllegalArgumentException
     *             if a variable is not there or has no value, nothing produces a fetched one, or none needs a given one
     * @throws IOException
     *             if a file cannot be written
     */
    public static void save(Path prefix, Program main, List<String> feeds, List<String> fetches,
            Function<String, @Nullable Tensor> values)
            throws IOException {
        Program program = export(main, feeds, fetches);
        ParameterFiles.writeCombined(sibling(prefix, PARAMETERS), program, values);
        ProgramFiles.write(sibling(prefix, PROGRAM), program);
    }

    private static Path sibling(Path prefix, String end) {
        return prefix.resolveSibling(prefix.getFileName() + end);
    }

    /**
     * Reads a model.
     *
     * @param path
     *            {@code name.pdmodel}, or {@code name}, beside {@code name.pdiparams}; or a folder with
     *            {@code __model__} and either {@code __params__} or a file for each parameter
     * @return the model, which belongs to the caller
     * @throws FileFormatException
     *             if a file is not what it should be; the message gives the byte offset
     * @throws IllegalArgumentException
     *             if operations of the program are not known or cannot be run; the message names all of them
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    public static InferenceModel load(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            Path parameters = path.resolve(OLD_PARAMETERS);
            Path model = path.resolve(OLD_PROGRAM);
            return Files.exists(parameters)
                    ? load(model, program -> ParameterFiles.readCombined(parameters, program))
                    : load(model, program -> ParameterFiles.readSeparate(path, program));
        }
        String name = String.valueOf(path.getFileName());
        Path prefix = name.endsWith(PROGRAM)
                ? path.resolveSibling(name.substring(0, name.length() - PROGRAM.length()))
                : path;
        return load(sibling(prefix, PROGRAM),
                program -> ParameterFiles.readCombined(sibling(prefix, PARAMETERS), program));
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
        global.remove(ExportedProgram.FEED).remove(ExportedProgram.FETCH);
        try {
            Operations.system().requireRunnable(program);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
        return new InferenceModel(program, feeds, fetches, parameters.of(program));
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
