package io.seriatim.onnx;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.format.ModelFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The format of ONNX, found as a service. */
public final class OnnxFormat implements ModelFormat {
    /** Created by the service loader. */
    public OnnxFormat() {
        // There is nothing to set.
    }

    @Override
    public String name() {
        return "ONNX";
    }

    @Override
    public boolean reads(Path path) {
        return path.toString().endsWith(".onnx");
    }

    @Override
    public InferenceModel load(Path path) throws IOException {
        return OnnxModels.load(path);
    }

    @Override
    public InferenceModel load(Path path, LoadOptions options) throws IOException {
        return OnnxModels.load(path, options);
    }

    @Override
    public boolean writes(Path path) {
        return path.toString().endsWith(".onnx");
    }

    @Override
    public List<Path> files(Path path) {
        return List.of(path, path.resolveSibling(path.getFileName() + ".data"));
    }

    @Override
    public void save(Path path, InferenceModel model) throws IOException {
        OnnxModels.save(path, model);
    }

    @Override
    public void save(Path path, InferenceModel model, int version) throws IOException {
        OnnxModels.save(path, model, version);
    }

    @Override
    public void requireExpressible(Path path, InferenceModel model) {
        OnnxModels.requireExpressible(model);
    }
}
