package io.seriatim.mxnet;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.format.ModelFormat;
import io.seriatim.mxnet.read.ArrayFile;
import io.seriatim.mxnet.read.SymbolGraph;
import io.seriatim.mxnet.read.SymbolNode;
import io.seriatim.mxnet.read.SymbolReader;
import io.seriatim.mxnet.translate.SymbolPrograms;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Models of Apache MXNet: {@code NAME-symbol.json} beside {@code NAME-NNNN.params}, as {@code HybridBlock.export} and
 * {@code Module.save_checkpoint} write them. They are read, but not written.
 *
 * <p>
 * Either file names the model: with the symbol, the parameters are those of the highest number. Variables without a
 * value that the outputs need are the feeds; labels are none, for losses become predictions. The fetches are the
 * symbol's outputs with MXNet's names, such as {@code softmax_output}.
 */
public final class MxnetFormat implements ModelFormat {
    private static final String SYMBOL = "-symbol.json";
    private static final Pattern PARAMETERS = Pattern.compile("(.*)-(\\d{4,9})\\.params", Pattern.DOTALL);
    private static final Pattern KEY = Pattern.compile("\"(nodes|arg_nodes)\"\\s*:");
    /** So many bytes of a .json are looked at. */
    private static final int BEGINNING = 4096;

    /** Creates the format, for {@link java.util.ServiceLoader}. */
    public MxnetFormat() {
    }

    @Override
    public String name() {
        return "MXNet";
    }

    @Override
    public boolean reads(Path path) throws IOException {
        String name = String.valueOf(path.getFileName());
        if (!Files.isRegularFile(path)) {
            return false;
        }
        if (name.endsWith(SYMBOL) || PARAMETERS.matcher(name).matches()) {
            return true;
        }
        if (!name.endsWith(".json")) {
            return false;
        }
        try (InputStream in = Files.newInputStream(path)) {
            return KEY.matcher(new String(in.readNBytes(BEGINNING), StandardCharsets.UTF_8)).find();
        }
    }

    @Override
    public InferenceModel load(Path path) throws IOException {
        return load(path, LoadOptions.defaults());
    }

    @Override
    public InferenceModel load(Path path, LoadOptions options) throws IOException {
        Matcher numbered = PARAMETERS.matcher(String.valueOf(path.getFileName()));
        Path symbol = numbered.matches() ? path.resolveSibling(numbered.group(1) + SYMBOL) : path;
        if (!Files.exists(symbol)) {
            throw new NoSuchFileException(symbol.toString(), null,
                    "the symbol, which describes the network of the parameters in " + path + ", should be there");
        }
        SymbolGraph graph = SymbolReader.read(symbol);
        Path parameters = numbered.matches() ? path : parametersBeside(symbol);
        Map<String, Tensor> values = parameters == null ? new LinkedHashMap<>() : ArrayFile.read(parameters);
        boolean whole = false;
        try {
            InferenceModel model = SymbolPrograms.of(graph, values, options);
            whole = true;
            return model;
        } finally {
            if (!whole) {
                values.values().forEach(Tensor::close);
            }
        }
    }

    /** The file of the highest number; null if there is none. */
    private static @Nullable Path parametersBeside(Path symbol) throws IOException {
        String name = String.valueOf(symbol.getFileName());
        String model = name.endsWith(SYMBOL) ? name.substring(0, name.length() - SYMBOL.length()) : stem(name);
        Path folder = symbol.toAbsolutePath().getParent();
        Path best = null;
        int highest = -1;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Matcher numbered = PARAMETERS.matcher(String.valueOf(file.getFileName()));
                if (numbered.matches() && numbered.group(1).equals(model)
                        && Integer.parseInt(numbered.group(2)) > highest) {
                    highest = Integer.parseInt(numbered.group(2));
                    best = file;
                }
            }
        }
        if (best == null) {
            throw new NoSuchFileException(model + "-0000.params", null,
                    "the parameters of " + symbol + " should be beside it, in a file with four digits in its name");
        }
        return best;
    }

    private static String stem(String name) {
        return name.substring(0, name.length() - ".json".length());
    }

    @Override
    public String listing(Path path) throws IOException {
        Matcher numbered = PARAMETERS.matcher(String.valueOf(path.getFileName()));
        Path symbol = numbered.matches() ? path.resolveSibling(numbered.group(1) + SYMBOL) : path;
        Map<String, Integer> counts = new TreeMap<>();
        for (SymbolNode node : SymbolReader.read(symbol).nodes()) {
            if (!node.isVariable()) {
                counts.merge(node.operator(), 1, Integer::sum);
            }
        }
        StringBuilder lines = new StringBuilder();
        counts.forEach((operator, count) -> lines.append(count).append(" × ").append(operator).append('\n'));
        return lines.toString();
    }

    @Override
    public boolean writes(Path path) {
        return false;
    }

    @Override
    public void save(Path path, InferenceModel model) throws IOException {
        throw new FileFormatException(path.toString(),
                "models of MXNet are read, but not written: save as .pdmodel, .json of PaddlePaddle or .onnx");
    }
}
