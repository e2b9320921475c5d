package io.seriatim.onnx;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.LoadOptions;
import io.seriatim.graph.program.HeapMemory;
import io.seriatim.onnx.proto.ModelReader;
import io.seriatim.onnx.proto.TensorData;
import io.seriatim.onnx.read.ModelTranslator;
import io.seriatim.onnx.write.ProgramWriter;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Models in the format of ONNX. */
public final class OnnxModels {
    private static final int OLDEST_WRITTEN = 17;
    private static final int NEWEST_WRITTEN = 20;

    private OnnxModels() {
    }

    /**
     * Reads a model into a program of this run-time. Its inputs, outputs and initialisers keep their names.
     *
     * @param path
     *            a file {@code .onnx}; its external data lie in its folder
     * @return the model, which belongs to the caller
     * @throws FileFormatException
     *             if the file is not a model of ONNX; the message gives the byte offset
     * @throws IllegalArgumentException
     *             if operators are not known or cannot be translated; the message names them
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    public static InferenceModel load(Path path) throws IOException {
        return load(path, LoadOptions.defaults());
    }

    /**
     * Reads a model with options.
     *
     * @param path
     *            a file {@code .onnx}; its external data lie in its folder
     * @param options
     *            open dimensions of inputs, and whether operators in training mode are read for inference
     * @return the model, which belongs to the caller
     * @throws FileFormatException
     *             if the file is not a model of ONNX; the message gives the byte offset
     * @throws IllegalArgumentException
     *             if operators are not known or cannot be translated; the message names them. Or if a shape of the
     *             options is that of no input, or contradicts the file
     * @throws IllegalStateException
     *             if memory is exhausted; the cause is the {@link OutOfMemoryError}
     * @throws IOException
     *             if a file is missing or cannot be read
     */
    public static InferenceModel load(Path path, LoadOptions options) throws IOException {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(InputFiles.regular(path), StandardOpenOption.READ)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            String source = path.toString();
            Path folder = path.toAbsolutePath().getParent();
            return ModelTranslator.translate(source, ModelReader.read(source, memory),
                    new TensorData(source, folder, arena), options);
        } catch (OutOfMemoryError e) {
            throw new IllegalStateException(path + " cannot be read: " + HeapMemory.advice(e), e);
        }
    }

    /**
     * Writes a model with version 17 of ONNX's operators, which ONNX Runtime reads from 1.13 on.
     *
     * @param path
     *            a file {@code .onnx}; parameters of more than 1 GiB go to a file {@code .onnx.data} beside it
     * @param model
     *            the model; feeds and fetches keep their names
     * @throws IllegalArgumentException
     *             if operations have no counterpart in ONNX; the message names all
     * @throws IOException
     *             if a file cannot be written
     */
    public static void save(Path path, InferenceModel model) throws IOException {
        save(path, model, OLDEST_WRITTEN);
    }

    /**
     * Writes a model.
     *
     * @param path
     *            a file {@code .onnx}; parameters of more than 1 GiB go to a file {@code .onnx.data} beside it
     * @param model
     *            the model; feeds and fetches keep their names
     * @param opset
     *            the version of ONNX's operators, from 17 to 20
     * @throws IllegalArgumentException
     *             if the version is another, or operations have no counterpart in ONNX; the message names all
     * @throws IOException
     *             if a file cannot be written
     */
    public static void save(Path path, InferenceModel model, int opset) throws IOException {
        if (opset < OLDEST_WRITTEN || opset > NEWEST_WRITTEN) {
            throw new IllegalArgumentException("Versions " + OLDEST_WRITTEN + " to " + NEWEST_WRITTEN
                    + " of ONNX's operators are written, but " + opset + " is wanted");
        }
        ProgramWriter.write(path, model, opset);
    }

    static void requireExpressible(InferenceModel model) {
        ProgramWriter.requireExpressible(model, OLDEST_WRITTEN);
    }
}
