package io.seriatim.graph.format.pir;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.ModelFormat;
import io.seriatim.graph.format.ParameterFiles;
import io.seriatim.graph.format.TensorStreams;
import io.seriatim.graph.json.JsonReader;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.StagedFiles;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The models of PaddlePaddle 3: {@code NAME.json} and {@code NAME.pdiparams}. */
public final class PirFormat implements ModelFormat {
    private static final String PROGRAM = ".json";
    private static final String PARAMETERS = ".pdiparams";
    private static final int BEGINNING = 4096;
    private static final Pattern MARK = Pattern.compile("\"(base_code|magic)\"\\s*:");

    /** Creates it, for the service loader. */
    public PirFormat() {
        // Nothing to prepare.
    }

    @Override
    public String name() {
        return "PaddlePaddle 3";
    }

    @Override
    public boolean reads(Path path) throws IOException {
        if (!path.toString().endsWith(PROGRAM) || !Files.isRegularFile(path)) {
            return false;
        }
        try (InputStream in = Files.newInputStream(path)) {
            return MARK.matcher(new String(in.readNBytes(BEGINNING), StandardCharsets.ISO_8859_1)).find();
        }
    }

    @Override
    public boolean writes(Path path) {
        return path.toString().endsWith(PROGRAM) && !path.toString().endsWith("-symbol.json");
    }

    @Override
    public List<Path> files(Path path) {
        return List.of(path, parameters(path));
    }

    private static Path parameters(Path program) {
        String name = String.valueOf(program.getFileName());
        return program.resolveSibling(name.substring(0, name.length() - PROGRAM.length()) + PARAMETERS);
    }

    @Override
    public InferenceModel load(Path path) throws IOException {
        PirReader.Loaded loaded;
        try {
            loaded = PirReader.read(JsonReader.read(path));
            Operations.system().requireRunnable(loaded.program());
        } catch (FileFormatException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(path + ": " + e.getMessage(), e);
        }
        return new InferenceModel(loaded.program(), loaded.feeds(), loaded.fetches(),
                ParameterFiles.readCombined(parameters(path), loaded.program()));
    }

    @Override
    public void save(Path path, InferenceModel model) throws IOException {
        PirWriter.Written written = PirWriter.write(model);
        List<TensorStreams.LodTensor> tensors = new ArrayList<>();
        try (Tensor none = Tensor.of(new float[1], 1); StagedFiles staged = StagedFiles.beside(path)) {
            for (PirOp.Parameter parameter : written.parameters()) {
                Tensor value = model.parameters().getOrDefault(parameter.name(),
                        parameter.name().equals(PirWriter.NO_PARAMETERS) ? none : null);
                if (value == null) {
                    throw new IllegalArgumentException("Parameter '" + parameter.name() + "' has no value");
                }
                tensors.add(new TensorStreams.LodTensor(value));
            }
            staged.write(String.valueOf(parameters(path).getFileName()), out -> {
                for (TensorStreams.LodTensor tensor : tensors) {
                    TensorStreams.write(out, tensor);
                }
            });
            staged.writeText(String.valueOf(path.getFileName()),
                    out -> PirDocument.write(out, written.parameters(), written.ops()));
            staged.publish();
        }
    }

    @Override
    public void requireExpressible(Path path, InferenceModel model) {
        PirWriter.write(model);
    }
}
