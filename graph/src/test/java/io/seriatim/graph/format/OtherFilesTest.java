package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of other kinds, given as models, are named as what they are. */
class OtherFilesTest {
    @TempDir
    Path folder = Path.of("");

    private Path file(String name, String content) throws IOException {
        return Files.write(folder.resolve(name), content.getBytes(StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"GGUF\\3\\0\\0\\0 and more|GGUF|ONNX",
            "PK\\3\\4\\0\\0\\0\\0\\0archive/data.pkl|PyTorch|torch.onnx.export",
            "PK\\3\\4\\0\\0\\0\\0\\0x.npy|NumPy|feeds", "PK\\3\\4\\0\\0\\0\\0\\0report.docx|zip|unpack",
            "PK\\3\\4\\0\\0\\0\\0\\0metadata.json config.json|Keras|tf2onnx",
            "\\200\\2}q\\0(X\\5\\0|pickle|torch.onnx.export", "\\4\\0\\0\\0\\0\\0\\0\\0{\"a\": 1}|safetensors|ONNX",
            "\\211HDF\\r\\n\\32\\n|HDF5|tf2onnx", "\\34\\0\\0\\0TFL3\\0\\0|TensorFlow Lite|tf2onnx",
            "\\223NUMPY\\1\\0|.npy|feed", "PAR1\\25\\4|Parquet|not a model", "\\37\\213\\10\\0|gzip|unpack",
            "age,city,label\\n17,Bern,1\\n|CSV|not a model", "<!DOCTYPE html><html></html>|HTML|download",
            "version https://git-lfs.github.com/spec/v1\\n|Git LFS|git lfs pull",
            "<?xml version=\"1.0\"?><net name=\"m\">|OpenVINO|converted"})
    void filesAreNamedAsWhatTheyAre(String escaped, String is, String advice) throws IOException {
        String content = unescaped(escaped);
        for (String name : List.of("m.onnx", "m.pdmodel", "m", "m.bin")) {
            Path path = file(name, content);
            String message = String.valueOf(
                    assertThrows(FileFormatException.class, () -> InferenceModels.load(path)).getMessage());
            assertTrue(message.contains(path.toString()) && message.contains(is) && message.contains(advice), message);
            // The command reads programs without parameters so.
            String program = String.valueOf(
                    assertThrows(FileFormatException.class, () -> ProgramFiles.read(path)).getMessage());
            assertTrue(program.contains(path + ": ") && program.contains(is) && program.contains(advice), program);
            Files.delete(path);
        }
    }

    /** Replaces octal numbers after a backslash, and the backslash with n or r. */
    private static String unescaped(String text) {
        StringBuilder out = new StringBuilder();
        Matcher escapes = Pattern.compile("\\\\([0-7]{1,3}|n|r)").matcher(text);
        while (escapes.find()) {
            String code = escapes.group(1);
            char one = switch (code) {
                case "n" -> '\n';
                case "r" -> '\r';
                default -> (char) Integer.parseInt(code, 8);
            };
            escapes.appendReplacement(out, Matcher.quoteReplacement(String.valueOf(one)));
        }
        escapes.appendTail(out);
        return out.toString();
    }

    @Test
    void foldersOfTensorFlowAreNamed() throws IOException {
        file("saved_model.pb", "x");
        Files.createFile(folder.resolve("__model__"));
        assertTrue(String.valueOf(OtherFiles.describe(folder)).contains("SavedModel"));
        Files.delete(folder.resolve("__model__"));
        for (String name : List.of("__model__", "saved_model.pb")) {
            String message = String.valueOf(assertThrows(FileFormatException.class,
                    () -> ProgramFiles.read(folder.resolve(name))).getMessage());
            assertTrue(message.contains("SavedModel") && message.contains("tf2onnx"), message);
        }
    }

    @Test
    void modelsAndDamagedModelsAreNotTakenForOthers() throws IOException {
        Program program = new Program();
        VarType type = VarType.dense(DType.FLOAT32, -1);
        program.global().put(VarDesc.of("x", type)).put(VarDesc.of("y", type))
                .add(OpDesc.of("relu").in("X", "x").out("Out", "y").build());
        InferenceModels.save(folder.resolve("m"), program, List.of("x"), List.of("y"), _ -> null);
        assertNull(OtherFiles.describe(folder.resolve("m.pdmodel")));
        assertNull(OtherFiles.describe(file("empty.onnx", "")));
        assertNull(OtherFiles.describe(file("a.json", "{\"base_code\": {\"magic\": \"pir\"}}")));
        Random random = new Random(1);
        for (int i = 0; i < 200; i++) {
            byte[] noise = new byte[100];
            random.nextBytes(noise);
            noise[0] = (byte) (random.nextBoolean() ? 8 : 10);
            Files.write(folder.resolve("noise.onnx"), noise);
            assertEquals(null, OtherFiles.describe(folder.resolve("noise.onnx")));
        }
    }
}
