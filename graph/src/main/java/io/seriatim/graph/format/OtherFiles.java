package io.seriatim.graph.format;

import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Recognises files that people give as models but that are none, by their first bytes, to say what they are. */
final class OtherFiles {
    private static final int BEGINNING = 512;
    /** The least length of a text, so that a short damaged model is not called one. */
    private static final int SHORTEST_TEXT = 16;

    /**
     * A kind of file.
     *
     * @param at
     *            the offset of its mark
     * @param mark
     *            the bytes, one a character
     * @param is
     *            what it is, and what to do
     */
    private record Kind(int at, String mark, String is) {
        boolean matches(String beginning) {
            return beginning.startsWith(mark, at);
        }
    }

    private static final String SAVED_MODEL = "saved_model.pb";
    private static final String EXPORT = ": export the model as ONNX with torch.onnx.export";
    private static final List<Kind> KINDS = List.of(
            new Kind(0, "GGUF", "a GGUF file, weights of a language model for llama.cpp without a program: export the "
                    + "model as ONNX"),
            new Kind(0, "ggml", "a GGML file, weights for llama.cpp without a program: export the model as ONNX"),
            new Kind(0, "\u0089HDF\r\n", "an HDF5 file, as Keras writes it: convert the model to ONNX with tf2onnx"),
            new Kind(4, "TFL3", "a model of TensorFlow Lite: convert it to ONNX with tf2onnx"),
            new Kind(0, "\u0093NUMPY", "an array of NumPy (.npy): give it as a feed, not as a model"),
            new Kind(0, "\u001f\u008b", "a file that gzip compressed: unpack it first"),
            new Kind(0, "PAR1", "a table of Parquet: data, not a model"),
            new Kind(0, "BZh", "a file that bzip2 compressed: unpack it first"),
            new Kind(0, "\u00fd7zXZ", "a file that xz compressed: unpack it first"),
            new Kind(0, "7z\u00bc\u00af", "a 7z archive: unpack it first"),
            new Kind(257, "ustar", "a tar archive: unpack it first, and name the model in it"),
            new Kind(0, "%PDF", "a PDF document"),
            new Kind(0, "\u0089PNG", "a PNG picture"),
            new Kind(0, "\u00ff\u00d8\u00ff", "a JPEG picture"));

    private OtherFiles() {
    }

    /** Returns what a file is if it is certainly no model, or null. */
    static @Nullable String describe(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            return Files.exists(path.resolve(SAVED_MODEL))
                    ? "a SavedModel of TensorFlow: convert it to ONNX with tf2onnx"
                    : null;
        }
        if (path.endsWith(SAVED_MODEL)) {
            return "a part of a SavedModel of TensorFlow: convert the folder to ONNX with tf2onnx";
        }
        if (!Files.isRegularFile(path)) {
            return null;
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(InputFiles.regular(path))) {
            bytes = in.readNBytes(BEGINNING);
        }
        String beginning = new String(bytes, StandardCharsets.ISO_8859_1);
        for (Kind kind : KINDS) {
            if (kind.matches(beginning)) {
                return kind.is;
            }
        }
        if (beginning.startsWith("PK\u0003\u0004")) {
            return zip(beginning);
        }
        if (isPickle(bytes)) {
            return "a pickle of Python, such as weights of PyTorch or PaddlePaddle without a program" + EXPORT
                    + ", or with paddle.jit.save";
        }
        if (isSafeTensors(bytes, Files.size(path))) {
            return "a safetensors file, weights without a program" + EXPORT;
        }
        return path.toString().endsWith(".json") || !isText(bytes) ? null : text(beginning);
    }

    private static String zip(String beginning) {
        if (beginning.contains("data.pkl") || beginning.contains(".data/serialization_id")) {
            return "a file of PyTorch (torch.save or torch.jit.save)" + EXPORT;
        }
        if (beginning.contains(".npy")) {
            return "a .npz archive of NumPy: give its arrays as feeds or parameters, not as a model";
        }
        return beginning.contains("config.json") || beginning.contains("model.weights.h5")
                ? "a model of Keras: convert it to ONNX with tf2onnx"
                : "a zip archive: unpack it first, and name the model in it";
    }

    /** Protocols 2 to 5 begin with their number; a frame, a container or a global follows. */
    private static boolean isPickle(byte[] bytes) {
        return bytes.length > 2 && (bytes[0] & 0xff) == 0x80 && bytes[1] >= 2 && bytes[1] <= 5
                && "\u0095}](c\u008a".indexOf(bytes[2] & 0xff) >= 0;
    }

    /** The length of the header, of 64 bits, and the header, which is JSON. */
    private static boolean isSafeTensors(byte[] bytes, long size) {
        if (bytes.length < Long.BYTES + 2) {
            return false;
        }
        long header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
        return header >= 2 && header <= size - Long.BYTES && bytes[Long.BYTES] == '{'
                && (bytes[Long.BYTES + 1] == '"' || bytes[Long.BYTES + 1] == '}');
    }

    private static boolean isText(byte[] bytes) {
        for (byte each : bytes) {
            int code = each & 0xff;
            if (code < ' ' && code != '\n' && code != '\r' && code != '\t') {
                return false;
            }
        }
        return bytes.length >= SHORTEST_TEXT;
    }

    private static String text(String beginning) {
        if (beginning.startsWith("version https://git-lfs")) {
            return "a pointer of Git LFS, in place of the file: fetch the file itself with git lfs pull";
        }
        String start = beginning.stripLeading();
        if (start.startsWith("<")) {
            return beginning.contains("<net ")
                    ? "a model of OpenVINO: take the model that it was converted from"
                    : "a page of HTML or XML; perhaps a download has failed";
        }
        if (start.startsWith("{") || start.startsWith("[")) {
            return "JSON, but its name does not end in .json";
        }
        String line = beginning.lines().findFirst().orElse("");
        return line.contains(",") || line.contains(";") || line.contains("\t")
                ? "text, such as a CSV file: data, not a model"
                : "text";
    }
}
