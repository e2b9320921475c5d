package io.seriatim.onnx;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.onnx.proto.ModelReader;
import io.seriatim.onnx.proto.TensorData;
import io.seriatim.onnx.read.ModelTranslator;
import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Models in the format of ONNX. */
public final class OnnxModels {
    private OnnxModels() {
    }

    /**
     * Reads a model into a program of this run-time's operations. Its inputs, outputs and initialisers keep their names.
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
        try (Arena arena = Arena.ofConfined(); FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            String source = path.toString();
            Path folder = path.toAbsolutePath().getParent();
            return ModelTranslator.translate(source, ModelReader.read(source, memory),
                    new TensorData(source, folder, arena));
        }
    }
}
