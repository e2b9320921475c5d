package io.seriatim.graph.format;

import io.seriatim.graph.program.HeapMemory;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.TrainingMode;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.StagedFiles;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Programs for inference with their parameters as files: those of PaddlePaddle, and those of other formats that are on
 * the class or module path, see {@link ModelFormat}.
 */
public final class InferenceModels {
    private static final System.Logger LOGGER = System.getLogger("io.seriatim.graph");

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
     * The program that Paddle's {@code save_inference_model} writes, byte for byte: the operations that the fetched
     * variables need, in their form for inference, with Paddle's operations feed and fetch, and without operations of
     * training. As in Paddle, its results are copies with names such as {@code save_infer_model/scale_0.tmp_0};
     * {@link #save(Path, Program, List, List, Function)} keeps the names of the variables.
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
        requireFetches(fetches);
        feeds.forEach(main.global()::get);
        return ExportedProgram.of(main, feeds, fetches);
    }

    private static void requireFetches(List<String> fetches) {
        if (fetches.isEmpty()) {
            throw new IllegalArgumentException("An inference model fetches at least one variable, but none is named");
        }
    }

    /**
     * Writes {@code prefix.pdmodel} and {@code prefix.pdiparams}; the latter only if there are parameters. Both are
     * replaced or none. The model's results have the names of the fetched variables, except one that is also fed,
     * outlives runs, or is fetched twice: it is saved as a copy with a name of Paddle's.
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
        requireFetches(fetches);
        feeds.forEach(main.global()::get);
        PaddleFormat.write(prefix, ExportedProgram.withNames(main, feeds, fetches), values, false);
    }

    /**
     * The part of a program that computes some variables from others, as a model for inference.
     *
     * @param main
     *            any program, such as one that was trained; it is not changed
     * @param feeds
     *            the variables that will be given, in order
     * @param fetches
     *            the variables that are wanted, in order
     * @param values
     *            the tensor of each persistable variable, of the host
     * @return a model in its form for inference, with the tensors that were given: close it only if they are its own
     * @throws IllegalArgumentException
     *             if a variable is not there or has no value, nothing produces a fetched one, or one that is needed is
     *             not given
     */
    public static InferenceModel of(Program main, List<String> feeds, List<String> fetches,
            Function<String, @Nullable Tensor> values) {
        Program program = ExportedProgram.needed(main.copyForTest(), feeds, fetches);
        return new InferenceModel(program, feeds, fetches, ParameterFiles.values(program, values));
    }

    /**
     * The part of a network that computes some of its outputs, as a model for inference before any training. Its
     * fetches have the names that the user gave the outputs; its feeds are what they need.
     *
     * @param network
     *            the network; it is not changed
     * @param outputs
     *            the names of the outputs that are wanted; none for all
     * @return a model with parameters of its own; close it
     * @throws IllegalArgumentException
     *             if the network has no such output, or no output
     */
    public static InferenceModel of(Definition network, String... outputs) {
        return of(network, network.initialValues()::get, outputs);
    }

    /**
     * The part of a network that computes some of its outputs, as a model for inference. Its fetches have the names
     * that the user gave the outputs; its feeds are what they need.
     *
     * @param network
     *            the network; it is not changed
     * @param values
     *            the tensor of each persistable variable, of the host, such as {@code scope::find} after a training
     * @param outputs
     *            the names of the outputs that are wanted; none for all
     * @return a model with the tensors that were given: close it only if they are its own
     * @throws IllegalArgumentException
     *             if the network has no such output, or no output, or a variable has no value
     */
    public static InferenceModel of(Definition network, Function<String, @Nullable Tensor> values,
            String... outputs) {
        Map<String, String> all = network.outputNames();
        List<String> wanted = outputs.length == 0 ? List.copyOf(all.keySet()) : List.of(outputs);
        wanted.stream().filter(name -> !all.containsKey(name)).findFirst().ifPresent(name -> {
            throw new IllegalArgumentException("The network has no output '" + name + "': its outputs are "
                    + all.keySet());
        });
        NamedResults named = NamedResults.of(network.main().copyForTest(), network.feeds(), all, wanted, Set.of());
        return of(named.program(), named.feeds(), named.fetches(), values);
    }

    /**
     * Writes a model in the format that the end of a name says: {@code .pdmodel} (PaddlePaddle 2) or {@code .json}
     * (PaddlePaddle 3), with {@code NAME.pdiparams} beside it, and {@code .onnx} with the artifact
     * {@code io.seriatim:seriatim-onnx}. Feeds and fetches keep their names. All files are
     * replaced or none: none if writing fails, if the process ends meanwhile, or if the format lacks an operation.
     *
     * @param path
     *            the file of the program; its folder must be there
     * @param model
     *            the model, whose parameters are on the host; it is not changed
     * @throws IllegalArgumentException
     *             if no format has such names, the artifact of the format is not there, or the format has no
     *             counterpart of operations or types of the model; the message names the artifact or all of them
     * @throws IOException
     *             if a file cannot be written
     */
    public static void save(Path path, InferenceModel model) throws IOException {
        ModelFormats.system().writer(path).save(path, model);
    }

    /**
     * Writes a model in the format that the end of a name says, as {@link #save(Path, InferenceModel)}, with a version
     * of its operations.
     *
     * @param path
     *            the file of the program; its folder must be there
     * @param model
     *            the model, whose parameters are on the host; it is not changed
     * @param version
     *            for {@code .onnx} the version of ONNX's operators (opset), from 17 to 20; other formats have none
     * @throws IllegalArgumentException
     *             as for {@link #save(Path, InferenceModel)}, or if the format has no such version
     * @throws IOException
     *             if a file cannot be written
     */
    public static void save(Path path, InferenceModel model, int version) throws IOException {
        ModelFormats.system().writer(path).save(path, model, version);
    }

    /**
     * Checks that {@link #save} has a format for a name, and that no folder or device is in the place of one of its
     * files, before a model is loaded or trained.
     *
     * @param path
     *            the file of the program, which need not be there
     * @throws IllegalArgumentException
     *             if no format has such names, the artifact of the format is not there, or a file could not be put in
     *             its place; the message names it
     */
    public static void requireWritable(Path path) {
        for (Path file : files(path)) {
            try {
                StagedFiles.requireReplaceable(file);
            } catch (IOException e) {
                throw new IllegalArgumentException(e.getMessage(), e);
            }
        }
    }

    /**
     * The files that {@link #save} may write or delete for a name.
     *
     * @param path
     *            the file of the program, which need not be there
     * @return the file itself first
     * @throws IllegalArgumentException
     *             if no format has such names, or the artifact of the format is not there; the message names it
     */
    public static List<Path> files(Path path) {
        return ModelFormats.system().writer(path).files(path);
    }

    /**
     * Checks that {@link #save(Path, InferenceModel)} can write a model, without writing anything.
     *
     * @param path
     *            the file of the program, which need not be there
     * @param model
     *            the model; it is not changed
     * @throws IllegalArgumentException
     *             if no format has such names, the artifact of the format is not there, or the format has no
     *             counterpart of operations or types of the model; the message names the artifact or all of them
     */
    public static void requireWritable(Path path, InferenceModel model) {
        ModelFormats.system().writer(path).requireExpressible(path, model);
    }

    /**
     * The formats that are known: that of {@code .pdmodel}, and those that were found as services.
     *
     * @return each once
     */
    public static List<ModelFormat> formats() {
        return ModelFormats.system().formats();
    }

    /**
     * Lists the operations of a model as its file has them, whether they can be run or not.
     *
     * @param path
     *            as for {@link #load}
     * @return lines of text; empty if the format has no listing of its own
     * @throws FileFormatException
     *             if a file is not what it should be
     * @throws IllegalArgumentException
     *             if the format of the file is not known
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    public static String listing(Path path) throws IOException {
        Path located = ModelFormats.located(path);
        return ModelFormats.system().reader(located).listing(located);
    }

    /**
     * Reads a model.
     *
     * @param path
     *            {@code NAME.pdmodel} or {@code NAME.json}, or only {@code NAME}, beside {@code NAME.pdiparams}; a
     *            folder with {@code __model__} and either {@code __params__} or a file for each parameter;
     *            {@code NAME.onnx}, with the artifact {@code io.seriatim:seriatim-onnx}; {@code NAME-symbol.json}
     *            beside {@code NAME-0000.params}, with the artifact {@code io.seriatim:seriatim-mxnet}; or what another
     *            {@link ModelFormat} reads
     * @return the model, which belongs to the caller; its feeds and fetches are those of the file, by name and in order
     * @throws FileFormatException
     *             if a file is not what it should be; the message gives the byte offset
     * @throws IllegalArgumentException
     *             if operations of the program are not known or cannot be run, or the format of the file is not known;
     *             the message names all operations, or the artifact that reads the format
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    public static InferenceModel load(Path path) throws IOException {
        return load(path, LoadOptions.defaults());
    }

    /**
     * Reads a model with options. If operations of the model are in training mode, so that its results are random or
     * depend on the batch, and the options do not ask for inference, this is logged once.
     *
     * @param path
     *            as for {@link #load(Path)}
     * @param options
     *            how the model is read
     * @return the model, which belongs to the caller; its feeds and fetches are those of the file, by name and in order
     * @throws FileFormatException
     *             if a file is not what it should be; the message gives the byte offset
     * @throws IllegalArgumentException
     *             as for {@link #load(Path)}; or if a shape of the options is that of no feed, contradicts the file, or
     *             does not fit an operation
     * @throws IllegalStateException
     *             if memory is exhausted; the cause is the {@link OutOfMemoryError}
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    public static InferenceModel load(Path path, LoadOptions options) throws IOException {
        try {
            return loaded(ModelFormats.located(path), options);
        } catch (OutOfMemoryError e) {
            throw new IllegalStateException(path + " cannot be read: " + HeapMemory.advice(e), e);
        }
    }

    private static InferenceModel loaded(Path located, LoadOptions options) throws IOException {
        ModelFormat format = ModelFormats.system().reader(located);
        InferenceModel read = Objects.requireNonNull(format.load(located, options),
                () -> "The format " + format.name() + " returned no model");
        InferenceModel model;
        try {
            model = new InferenceModel(options.applied(read.program(), read.feeds()), read.feeds(), read.fetches(),
                    read.parameters());
        } catch (IllegalArgumentException e) {
            read.close();
            throw new IllegalArgumentException(located + ": " + e.getMessage(), e);
        }
        String training = options.isInference() ? "" : TrainingMode.describe(model.program());
        if (!training.isEmpty()) {
            LOGGER.log(System.Logger.Level.WARNING, () -> located + " is in training mode: its results are random or "
                    + "depend on the batch (" + training + "). LoadOptions.inference(), or --inference of a command, "
                    + "loads it for inference");
        }
        return model;
    }
}
