package io.seriatim.graph.format;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The formats of models: that of {@code .pdmodel}, and those that are found as services.
 *
 * @param formats
 *            in the order in which they are asked
 * @param broken
 *            the errors of services that could not be made, which are reported if no other format is found
 */
record ModelFormats(List<ModelFormat> formats, List<ServiceConfigurationError> broken) {
    private static final String JSON = ".json";
    private static final String KNOWN = "NAME.pdmodel or NAME.json (PaddlePaddle, beside NAME.pdiparams), NAME.onnx";
    private static final List<String> ENDS = List.of(PaddleFormat.PROGRAM, JSON, ".onnx");
    /** So many bytes of a .json are looked at. */
    private static final int BEGINNING = 4096;
    private static final Pattern KEY_OF_SYMBOL = Pattern.compile("\"(nodes|arg_nodes)\"\\s*:");
    /** A folder of services that cannot be listed fails again each time. */
    private static final int MOST_BROKEN = 100;

    ModelFormats {
        formats = List.copyOf(formats);
        broken = List.copyOf(broken);
    }

    /** The formats in artifacts of their own. */
    private enum Separate {
        ONNX("ONNX", "io.seriatim:seriatim-onnx"), MXNET("MXNet", "io.seriatim:seriatim-mxnet");

        private final String format;
        private final String artifact;

        Separate(String format, String artifact) {
            this.format = format;
            this.artifact = artifact;
        }
    }

    private static final class OfProcess {
        static final ModelFormats FORMATS = find();

        private OfProcess() {
        }

        private static ModelFormats find() {
            List<ServiceLoader<ModelFormat>> services = new ArrayList<>();
            services.add(ServiceLoader.load(ModelFormat.class, ModelFormat.class.getClassLoader()));
            services.add(ServiceLoader.load(ModelFormat.class));
            return of(services);
        }
    }

    /** Those of the process. */
    static ModelFormats system() {
        return OfProcess.FORMATS;
    }

    /** The format of {@code .pdmodel} and those of services, each class once. */
    static ModelFormats of(List<ServiceLoader<ModelFormat>> services) {
        List<ModelFormat> formats = new ArrayList<>();
        formats.add(new PaddleFormat());
        List<ServiceConfigurationError> broken = new ArrayList<>();
        Set<Class<?>> found = new HashSet<>();
        for (ServiceLoader<ModelFormat> loader : services) {
            Iterator<ServiceLoader.Provider<ModelFormat>> providers = loader.stream().iterator();
            boolean more = true;
            while (more && broken.size() < MOST_BROKEN) {
                try {
                    more = providers.hasNext();
                    if (more) {
                        ServiceLoader.Provider<ModelFormat> provider = providers.next();
                        if (found.add(provider.type())) {
                            formats.add(provider.get());
                        }
                    }
                } catch (ServiceConfigurationError e) {
                    // The iterator goes on with the next one.
                    broken.add(e);
                }
            }
        }
        return new ModelFormats(formats, broken);
    }

    /**
     * The only format that reads a file or folder.
     *
     * @param path
     *            one that {@link #located} returned
     */
    ModelFormat reader(Path path) throws IOException {
        String other = OtherFiles.describe(path);
        if (other != null) {
            throw new FileFormatException(path.toString(), othersAre(other));
        }
        List<ModelFormat> readers = new ArrayList<>();
        for (ModelFormat format : formats) {
            if (format.reads(path)) {
                readers.add(format);
            }
        }
        if (readers.isEmpty()) {
            Separate separate = separate(path, isSymbol(path));
            throw missing(separate == null
                    ? "No format that is known reads " + path + ": models are " + KNOWN
                            + ", NAME-symbol.json (MXNet, beside NAME-0000.params), or a folder with "
                            + PaddleFormat.OLD_PROGRAM
                    : without(path, separate));
        }
        return only(readers, path, "read");
    }

    /** The words about a file that is no model. */
    static String othersAre(String other) {
        return "models are " + KNOWN + ", but this is " + other;
    }

    /** The only format in which a file of a name is written. */
    ModelFormat writer(Path path) {
        List<ModelFormat> writers = formats.stream().filter(format -> format.writes(path)).toList();
        if (writers.isEmpty()) {
            Separate separate = separate(path, false);
            throw missing(separate == null
                    ? "No format that is written has the end of " + path + ": models are " + KNOWN
                    : without(path, separate));
        }
        return only(writers, path, "written");
    }

    private static ModelFormat only(List<ModelFormat> candidates, Path path, String done) {
        if (candidates.size() > 1) {
            throw new IllegalArgumentException(path + " would be " + done + " by several formats, "
                    + candidates.stream().map(each -> each.name() + " (" + each.getClass().getName() + ")").toList()
                    + ": leave only one of them on the class or module path");
        }
        return candidates.getFirst();
    }

    private IllegalArgumentException missing(String message) {
        if (broken.isEmpty()) {
            return new IllegalArgumentException(message);
        }
        IllegalArgumentException failure = new IllegalArgumentException(
                message + ". Besides, a format that was found as a service could not be made: "
                        + broken.getFirst().getMessage(),
                broken.getFirst());
        broken.subList(1, broken.size()).forEach(failure::addSuppressed);
        return failure;
    }

    private static String without(Path path, Separate separate) {
        return path + " is a model of " + separate.format + ", whose format is not on the class or module path: add "
                + separate.artifact;
    }

    private @Nullable Separate separate(Path path, boolean symbol) {
        Separate separate = path.toString().endsWith(".onnx") ? Separate.ONNX : symbol ? Separate.MXNET : null;
        return separate == null || formats.stream().anyMatch(each -> each.name().equals(separate.format))
                ? null
                : separate;
    }

    /** Whether a file looks like a symbol of MXNet. */
    private static boolean isSymbol(Path path) throws IOException {
        if (!path.toString().endsWith(JSON) || !Files.isRegularFile(path)) {
            return false;
        }
        try (InputStream in = Files.newInputStream(path)) {
            String beginning = new String(in.readNBytes(BEGINNING), StandardCharsets.ISO_8859_1);
            return KEY_OF_SYMBOL.matcher(beginning).find();
        }
    }

    /** The file or folder that a name of a model means, which is there. */
    static Path located(Path path) throws IOException {
        Path name = path.getFileName();
        if (PaddleFormat.isFolder(path)) {
            return path;
        }
        if (Files.exists(path) && !Files.isDirectory(path)) {
            InputFiles.requireRegular(path);
            Path folder = path.toAbsolutePath().getParent();
            return PaddleFormat.OLD_PROGRAM.equals(String.valueOf(name)) && folder != null ? folder : path;
        }
        for (String end : List.of(PaddleFormat.PROGRAM, JSON)) {
            Path file = path.resolveSibling(name + end);
            if (Files.exists(file)) {
                return file;
            }
        }
        throw Files.isDirectory(path)
                ? new NoSuchFileException(path.resolve(PaddleFormat.OLD_PROGRAM).toString(), null,
                        "a folder is a model if it has this file; for another model, name its file")
                : new NoSuchFileException(path.toString(), null, ENDS.stream().anyMatch(path.toString()::endsWith)
                        ? null
                        : "nor are there " + name + PaddleFormat.PROGRAM + " and " + name + JSON);
    }
}
