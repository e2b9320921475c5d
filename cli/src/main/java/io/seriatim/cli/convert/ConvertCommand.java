package io.seriatim.cli.convert;

import io.seriatim.cli.option.Usage;
import io.seriatim.cli.spi.AtLeast;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.StagedFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Converts a model to another format. */
@Command(name = "convert", description = "Convert a model. The ends of the names say the formats: .pdmodel "
        + "(PaddlePaddle 2) and .json (PaddlePaddle 3), with NAME.pdiparams, and .onnx; models of MXNet are read. Feeds "
        + "keep their names; so do fetches, except in a .json, which has none for them.")
public final class ConvertCommand implements Callable<Integer> {
    private static final int DIFFERENT = 1;

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(index = "0", paramLabel = "IN", description = "The model: a file, a folder with a __model__, or the "
            + "name of a .pdmodel or .json without its end.")
    private @Nullable Path in;

    @Parameters(index = "1", paramLabel = "OUT",
            description = "The file to write. Its folder must be there; a model of "
                    + "this name is replaced.")
    private @Nullable Path out;

    @Option(names = "--opset", paramLabel = "N", description = "For .onnx: the version of ONNX's operators, from 17 to "
            + "20. Default: 17, which ONNX Runtime reads from 1.13 on.")
    @AtLeast(AtLeast.ANY) // The format says which it has.
    private @Nullable Integer opset;

    @Option(names = "--verify", description = "Runs both models on made-up inputs, prints the largest difference of "
            + "each fetch, and writes nothing if one is above the tolerance.")
    private boolean verify;

    @Option(names = "--tolerance", defaultValue = "1e-4", paramLabel = "X", description = "With --verify: the largest "
            + "difference, relative to the largest value of a fetch. Default: ${DEFAULT-VALUE}.")
    @AtLeast(0)
    private double tolerance;

    @Option(names = "--shape", paramLabel = "NAME=D,D…",
            description = "With --verify: the dimensions of a feed, such as "
                    + "image=1,3,224,224. Default: the model's, with a few choices for those that it leaves open.")
    private Map<String, String> shapes = new LinkedHashMap<>();

    @Option(names = "--inference", description = "Converts a model that was exported in training mode to one for "
            + "inference: dropouts and the statistics of batches are left out.")
    private boolean inference;

    @Option(names = "--seed", defaultValue = "0", paramLabel = "N",
            description = "With --verify: the seed of the made-up "
                    + "inputs. Default: ${DEFAULT-VALUE}.")
    @AtLeast(AtLeast.ANY)
    private long seed;

    /** Created by the command line parser. */
    public ConvertCommand() {
        // picocli sets the fields by reflection.
    }

    private ParameterException usage(String message, @Nullable Throwable cause) {
        return Usage.error(spec, message, cause);
    }

    @Override
    public Integer call() throws IOException {
        Path from = Objects.requireNonNull(in, "in");
        Path to = Objects.requireNonNull(out, "out");
        if (!(tolerance >= 0)) {
            throw usage("--tolerance must be a number from 0 on, but is " + tolerance, null);
        }
        try (InputFiles.Watch _ = InputFiles.watch()) {
            InferenceModels.requireWritable(to);
            try (InferenceModel model = InferenceModels.load(from, options())) {
                requireOther(to);
                try (StagedFiles staged = StagedFiles.beside(to)) {
                    save(staged.file(), model);
                    if (verify && !verify(model, staged.file())) {
                        return DIFFERENT;
                    }
                    staged.publish();
                }
            }
        } catch (FileAlreadyExistsException e) {
            throw usage(String.valueOf(e.getMessage()), e);
        } catch (NoSuchFileException e) {
            throw usage("There is no file " + e.getFile() + (e.getReason() == null ? "" : ": " + e.getReason()), e);
        } catch (FileFormatException | IllegalArgumentException e) {
            throw e instanceof ParameterException known ? known : usage(String.valueOf(e.getMessage()), e);
        }
        PrintWriter err = Objects.requireNonNull(spec, "spec").commandLine().getErr();
        err.println(Printable.of("written " + to));
        err.flush();
        return 0;
    }

    /**
     * The other files of the converted model are compared when they are put in place: the parameters of a .pdmodel and
     * a .json of the same name are one file, which may stay as it is.
     */
    private static void requireOther(Path to) throws IOException {
        try {
            InputFiles.requireNotRead(to);
        } catch (FileAlreadyExistsException e) {
            throw new IllegalArgumentException("The model would be written over itself, to " + to
                    + ", which is one of its files: name another file", e);
        }
    }

    /** Shapes are for the inputs of the verification only, so the written model stays open. */
    private LoadOptions options() {
        return inference ? LoadOptions.defaults().inference() : LoadOptions.defaults();
    }

    private void save(Path file, InferenceModel model) throws IOException {
        if (opset == null) {
            InferenceModels.save(file, model);
        } else {
            try {
                InferenceModels.save(file, model, opset);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("--opset " + opset + ": " + e.getMessage(), e);
            }
        }
    }

    private static InferenceModel loaded(Path written) throws IOException {
        try {
            return InferenceModels.load(written);
        } catch (IllegalArgumentException | FileFormatException e) {
            throw new IllegalStateException("The converted model cannot be read, so nothing is written: "
                    + e.getMessage(), e);
        }
    }

    private boolean verify(InferenceModel model, Path written) throws IOException {
        PrintWriter printer = Objects.requireNonNull(spec, "spec").commandLine().getOut();
        try (InferenceModel converted = loaded(written)) {
            Verification verification = new Verification(model, converted, new Inputs(model, shapes, seed));
            boolean same = true;
            for (Verification.Difference difference : verification.run()) {
                printer.println(Printable.of(difference.line()));
                if (!difference.isWithin(tolerance)) {
                    same = false;
                    printer.println(Printable.of("  above the tolerance of " + tolerance
                            + " relative to the largest value: nothing is written"));
                }
            }
            printer.flush();
            return same;
        } catch (ProgramFailedException e) {
            throw new IllegalStateException("The converted model cannot be run: " + e.getMessage(), e);
        }
    }
}
