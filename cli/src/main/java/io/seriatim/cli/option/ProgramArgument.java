package io.seriatim.cli.option;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.format.ModelFormat;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * The program of an option {@code --program}: a program of PaddlePaddle 2, for which other options give the parameters,
 * or a model of another format with its parameters.
 *
 * @param program
 *            the program
 * @param feeds
 *            the names of what must be fed; empty if the program does not say
 * @param fetches
 *            the names of what is fetched by default
 * @param parameters
 *            the parameters of a model by name; none for a program of PaddlePaddle 2
 */
public record ProgramArgument(Program program, List<String> feeds, List<String> fetches,
        Map<String, Tensor> parameters) {
    private static final String PROGRAM = ".pdmodel";
    private static final String OLD_PROGRAM = "__model__";
    private static final List<String> ENDS_OF_MODELS = List.of(".onnx", ".json");
    private static final Set<String> FEEDS = Set.of("feed");
    private static final Set<String> FETCHES = Set.of("fetch", "fetch_v2");

    /** Copies the lists. */
    public ProgramArgument {
        feeds = List.copyOf(feeds);
        fetches = List.copyOf(fetches);
    }

    /**
     * Completes the name of a program.
     *
     * @param given
     *            a file, a folder with the file {@code __model__}, or the name of a {@code .pdmodel} without its end
     * @return the file or folder; the argument itself if there is none
     */
    public static Path located(Path given) {
        boolean there = Files.isDirectory(given) ? Files.exists(given.resolve(OLD_PROGRAM)) : Files.exists(given);
        Path file = given.resolveSibling(given.getFileName() + PROGRAM);
        return !there && Files.exists(file) ? file : given;
    }

    /**
     * Whether a file is a program of PaddlePaddle 2, which any file is that has no other format.
     *
     * @param file
     *            a path that {@link #located} returned
     * @return whether {@link #program} reads it
     * @throws IOException
     *             if it cannot be read
     */
    public static boolean isProgram(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            return Files.exists(file.resolve(OLD_PROGRAM))
                    || !Files.exists(file.resolveSibling(file.getFileName() + ".json"));
        }
        if (!Files.exists(file) || ENDS_OF_MODELS.stream().anyMatch(file.toString()::endsWith)) {
            return false;
        }
        if (file.toString().endsWith(PROGRAM)) {
            // Looking for other formats takes some 30 ms of a start.
            return true;
        }
        List<ModelFormat> formats = InferenceModels.formats();
        for (ModelFormat format : formats.subList(1, formats.size())) {
            if (format.reads(file)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Reads a program of PaddlePaddle 2.
     *
     * @param command
     *            the command line, for errors
     * @param file
     *            a path for which {@link #isProgram} returned true
     * @return the program, without parameters
     * @throws IOException
     *             if it cannot be read
     */
    public static ProgramArgument program(CommandLine command, Path file) throws IOException {
        Path model = Files.isDirectory(file) ? file.resolve(OLD_PROGRAM) : file;
        try {
            Program read = ProgramFiles.read(model);
            return new ProgramArgument(read, columns(read, FEEDS), columns(read, FETCHES), Map.of());
        } catch (FileFormatException e) {
            throw new ParameterException(command, String.valueOf(e.getMessage()), e);
        } catch (NoSuchFileException e) {
            throw new ParameterException(command, "There is no file " + model, e);
        }
    }

    /**
     * Applies options for loading, as {@link #model} does.
     *
     * @param options
     *            how the program is loaded
     * @return the argument with the changed program
     * @throws IllegalArgumentException
     *             if a shape of the options does not fit the program
     */
    public ProgramArgument with(LoadOptions options) {
        return new ProgramArgument(options.applied(program, feeds), feeds, fetches, parameters);
    }

    /**
     * Whether this program of PaddlePaddle 2 is a model for inference whose parameters are beside it.
     *
     * @param file
     *            from which {@link #program} read it
     * @return whether {@link #model} reads it, too
     */
    public boolean hasParametersBeside(Path file) {
        String name = file.toString();
        return !fetches.isEmpty() && !program.persistables().isEmpty() && (Files.isDirectory(file)
                || (name.endsWith(PROGRAM)
                        && Files.exists(Path.of(name.substring(0, name.length() - PROGRAM.length()) + ".pdiparams"))));
    }

    /** Returns the variables of the operations feed or fetch, by column. */
    private static List<String> columns(Program program, Set<String> types) {
        return program.global().ops().stream().filter(op -> types.contains(op.type()))
                .sorted(Comparator.comparingInt(ProgramArgument::column))
                .flatMap(op -> (types.equals(FEEDS) ? op.output("Out") : op.input("X")).stream().limit(1)).toList();
    }

    private static int column(OpDesc op) {
        return op.attribute("col") instanceof Attribute.Int(int value) ? value : 0;
    }

    /**
     * Reads a model with its parameters.
     *
     * @param command
     *            the command line, for errors
     * @param file
     *            any that {@link InferenceModels#load(Path)} takes
     * @param options
     *            how the model is loaded
     * @return the model's program
     * @throws IllegalArgumentException
     *             if the model cannot be run
     * @throws IOException
     *             if it cannot be read
     */
    public static ProgramArgument model(CommandLine command, Path file, LoadOptions options) throws IOException {
        try {
            InferenceModel model = InferenceModels.load(file, options);
            return new ProgramArgument(model.program(), model.feeds(), model.fetches(), model.parameters());
        } catch (FileFormatException e) {
            throw new ParameterException(command, String.valueOf(e.getMessage()), e);
        } catch (NoSuchFileException e) {
            throw new ParameterException(command,
                    "There is no file " + e.getFile() + (e.getReason() == null ? "" : ": " + e.getReason()), e);
        }
    }
}
