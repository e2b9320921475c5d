package io.seriatim.cli.quantize;

import io.seriatim.cli.option.Outputs;
import io.seriatim.cli.option.Usage;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.FeedCheck;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.quantization.ModelComparison;
import io.seriatim.train.quantization.PostTrainingQuantization;
import io.seriatim.train.quantization.QuantizedModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

/** Quantizes an inference model after training, and prints how much its results change. */
@Command(name = "quantize", description = "Quantize a float32 inference model to int8 with calibration data. Prints "
        + "how the results on this data change, and writes a model that 'seriatim run' and PaddlePaddle run.")
public final class QuantizeCommand implements Callable<Integer> {
    private static final List<String> LABELS = List.of("label", "labels");
    private static final int MOST_REASONS = 10;

    /** The methods, spelt as options are. */
    enum Method {
        /** The largest magnitude. */
        MIN_MAX("min-max", PostTrainingQuantization.Method.MIN_MAX),
        /** The least relative entropy. */
        ENTROPY("entropy", PostTrainingQuantization.Method.ENTROPY);

        private final String text;
        private final PostTrainingQuantization.Method method;

        Method(String text, PostTrainingQuantization.Method method) {
            this.text = text;
            this.method = method;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(paramLabel = "MODEL", description = "The float32 model: a .pdmodel beside its .pdiparams, a "
            + "folder with __model__, or a file of another format that 'seriatim run' reads.")
    private @Nullable Path model;

    @Option(names = "--calibrate", required = true, paramLabel = "DATA", description = "Inputs on which the ranges of "
            + "the activations are measured: an .npz with an array for each feed, an .npy for a model with one feed, "
            + "or a folder with NAME.npy for each feed or with several .npz. The rows of each array are the examples.")
    private @Nullable Path calibrate;

    @Option(names = "--method", defaultValue = "min-max", paramLabel = "min-max|entropy", description = "How ranges "
            + "are found: the largest magnitude, or the least relative entropy, which clips outliers. Default: "
            + "${DEFAULT-VALUE}.")
    private Method method = Method.MIN_MAX;

    @Option(names = "--labels", paramLabel = "NAME", description = "The array of DATA with the class of each example, "
            + "to print the accuracy before and after. Default: label or labels, if there is one.")
    private @Nullable String labels;

    @Option(names = "--batch", defaultValue = "8", paramLabel = "N", description = "The number of examples of a run, "
            + "unless the model fixes it. Default: ${DEFAULT-VALUE}.")
    private int batch;

    @Option(names = "--examples", paramLabel = "N", description = "The number of examples to use. Default: all.")
    private @Nullable Long examples;

    @Option(names = "--threads", defaultValue = "1", paramLabel = "N", description = "The number of threads of a run. "
            + "Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(names = "--out", paramLabel = "FILE", description = "The file of the quantized model, a .pdmodel or "
            + "another format that can be written, such as an .onnx. Default: NAME_int8.pdmodel beside the model.")
    private @Nullable Path out;

    /** Created by the command line parser. */
    public QuantizeCommand() {
        // picocli sets the fields by reflection.
    }

    private ParameterException usage(String message, @Nullable Throwable cause) {
        return Usage.error(spec, message, cause);
    }

    @Override
    public Integer call() throws IOException {
        atLeastOne("--batch", batch);
        atLeastOne("--threads", threads);
        atLeastOne("--examples", examples == null ? 1 : examples);
        Path file = Objects.requireNonNull(model, "model");
        Path target = target(file);
        try (InputFiles.Watch _ = InputFiles.watch(); InferenceModel original = load(file)) {
            Outputs outputs = new Outputs(spec);
            for (Path each : InferenceModels.files(target)) {
                outputs.add("--out", each);
            }
            PostTrainingQuantization settings = settings(original, target);
            Examples data = examples(Objects.requireNonNull(calibrate, "calibrate"), original.feeds());
            String classes = labels(data, original.feeds());
            List<String> names = new ArrayList<>(original.feeds());
            if (classes != null) {
                names.add(classes);
            }
            long most = Math.min(data.count(), examples == null ? Long.MAX_VALUE : examples);
            long size = batch(original);
            boolean whole = isFixed(original);
            List<Map<String, Tensor>> batches = data.batches(size, most, whole, names);
            if (batches.isEmpty()) {
                throw usage("The model runs on batches of " + size + " examples, but there are not so many", null);
            }
            requireFits(original, batches.getFirst());
            long used = whole ? size * batches.size() : most;
            try (QuantizedModel quantized = quantized(settings, batches)) {
                report(original, quantized, batches, classes, used);
                quantized.save(target);
            }
        } catch (FileAlreadyExistsException e) {
            throw usage("--out: " + e.getMessage(), e);
        }
        PrintWriter printer = Objects.requireNonNull(spec, "spec").commandLine().getErr();
        printer.println(Printable.of("written " + target));
        printer.flush();
        return 0;
    }

    private void atLeastOne(String option, long value) {
        if (value < 1) {
            throw usage(option + " must be 1 or more, but is " + value, null);
        }
    }

    /** The file to write; its folder and format are checked before the model runs. */
    private Path target(Path file) {
        Path given = out;
        if (given == null) {
            Path whole = file.toAbsolutePath().normalize();
            String name = String.valueOf(whole.getFileName());
            int end = Files.isDirectory(file) ? -1 : name.lastIndexOf('.');
            return whole.resolveSibling((end <= 0 ? name : name.substring(0, end)) + "_int8.pdmodel");
        }
        Path folder = given.toAbsolutePath().getParent();
        if (given.getFileName() == null || folder == null || !Files.isDirectory(folder)) {
            throw usage("--out: there is no folder for the file " + given + ": make it first", null);
        }
        if (InferenceModels.formats().stream().noneMatch(format -> format.writes(given))) {
            throw usage("--out: no format can be written to " + given + ": give a name such as model.pdmodel", null);
        }
        return given;
    }

    private InferenceModel load(Path file) throws IOException {
        try {
            return InferenceModels.load(file);
        } catch (NoSuchFileException e) {
            throw usage("There is no file " + e.getFile(), e);
        } catch (FileFormatException | IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()), e);
        }
    }

    private Examples examples(Path data, List<String> feeds) throws IOException {
        try {
            return Examples.read(data, feeds);
        } catch (NoSuchFileException e) {
            throw usage("--calibrate: there is no file " + e.getFile(), e);
        } catch (FileFormatException e) {
            throw usage("--calibrate: " + e.getMessage(), e);
        }
    }

    private @Nullable String labels(Examples data, List<String> feeds) {
        if (labels == null) {
            return data.firstOf(LABELS.stream().filter(name -> !feeds.contains(name)).toList());
        }
        String found = data.firstOf(List.of(labels));
        if (found == null) {
            throw usage("--labels: the calibration data has no array '" + labels + "' with a row for each example",
                    null);
        }
        return found;
    }

    /** Checks a batch against the model's declaration before anything runs, as the command run does. */
    private void requireFits(InferenceModel original, Map<String, Tensor> batch) {
        for (String feed : original.feeds()) {
            String problem = FeedCheck.problem(original.program().global().get(feed),
                    Objects.requireNonNull(batch.get(feed)).spec(), calibrate + " has batches of");
            if (problem != null) {
                throw usage(problem, null);
            }
        }
        String problem = original.program().symbolicDims().problem(original.feeds(),
                feed -> Objects.requireNonNull(batch.get(feed)).shape());
        if (problem != null) {
            throw usage(problem, null);
        }
    }

    /** The number of examples of a run: that of the model, if it declares one. */
    private long batch(InferenceModel original) {
        return original.feeds().stream().mapToLong(feed -> first(original, feed)).filter(dim -> dim > 0).findFirst()
                .orElse(batch);
    }

    private static boolean isFixed(InferenceModel original) {
        return original.feeds().stream().anyMatch(feed -> first(original, feed) > 0);
    }

    private static long first(InferenceModel original, String feed) {
        VarDesc desc = original.program().global().get(feed);
        var type = desc.type().tensorType();
        return type == null || type.dims().isEmpty() ? -1 : type.dims().getFirst();
    }

    /** What cannot be written is refused before the calibration data is read. */
    private PostTrainingQuantization settings(InferenceModel original, Path target) {
        try {
            return PostTrainingQuantization.of(original).method(method.method).threads(threads)
                    .requireWritable(target);
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()), e);
        }
    }

    private QuantizedModel quantized(PostTrainingQuantization settings, List<Map<String, Tensor>> batches) {
        try {
            return settings.quantize(batches);
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()), e);
        }
    }

    private void report(InferenceModel original, QuantizedModel quantized, List<Map<String, Tensor>> batches,
            @Nullable String classes, long count) {
        PrintWriter printer = Objects.requireNonNull(spec, "spec").commandLine().getOut();
        print(printer, String.format(Locale.ROOT, "calibrated %d activations on %d examples (%s)",
                quantized.ranges().size(), count, method));
        int all = quantized.quantized() + quantized.leftOut().size();
        print(printer, String.format(Locale.ROOT, "quantized %d of %d products and convolutions",
                quantized.quantized(), all));
        quantized.leftOut().entrySet().stream().limit(MOST_REASONS)
                .forEach(each -> print(printer, "  not '" + each.getKey() + "': " + each.getValue()));
        if (quantized.leftOut().size() > MOST_REASONS) {
            print(printer, "  and " + (quantized.leftOut().size() - MOST_REASONS) + " others");
        }
        for (ModelComparison.Difference each : ModelComparison.of(original, quantized.model(), batches, classes,
                threads)) {
            print(printer, String.format(Locale.ROOT,
                    "output '%s': largest difference %.4g, mean %.4g, largest magnitude %.4g", each.output(),
                    each.largest(), each.mean(), each.magnitude()));
            if (each.rows() > 0) {
                print(printer, String.format(Locale.ROOT,
                        "  largest element at the same position in %d of %d rows (%.2f %%)", each.agreeing(),
                        each.rows(), 100.0 * each.agreeing() / each.rows()));
            }
            if (each.labelled() > 0) {
                print(printer, String.format(Locale.ROOT, "  accuracy: %.2f %% before, %.2f %% after (%s)",
                        100.0 * each.correctBefore() / each.labelled(),
                        100.0 * each.correctAfter() / each.labelled(), classes));
            }
        }
        printer.flush();
    }

    private static void print(PrintWriter printer, String line) {
        printer.println(Printable.of(line));
    }
}
