package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A pipe or a device in the place of each file that a command reads: it is refused, and not opened. */
@DisabledOnOs(OS.WINDOWS)
class SpecialFilesTest {
    /** What is in the place of a file. */
    private enum Special {
        /** It would be waited for. */
        PIPE,
        /** It would be read for ever. */
        DEVICE
    }

    @TempDir
    private Path root = Path.of("");
    /** The folder of a case. */
    private Path temp = Path.of("");
    private final List<Path> specials = new ArrayList<>();
    private int made;

    private void write() throws IOException {
        temp = Files.createDirectory(root.resolve("case" + made++));
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 6);
            return Outputs.of("y", g.linear(x, 4));
        });
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            InferenceModel model = InferenceModels.of(network.main(), List.of("x"),
                    List.of(network.outputs().get("y").name()), executor.scope()::find);
            InferenceModels.save(temp.resolve("a.pdmodel"), model);
            InferenceModels.save(temp.resolve("b.json"), model);
        }
        Npy.write(temp.resolve("x.npy"), Tensor.of(new float[120], 20, 6));
    }

    private Path special(Path file, Special kind) throws IOException, InterruptedException {
        Files.deleteIfExists(file);
        specials.add(file);
        if (kind == Special.DEVICE) {
            assumeTrue(Files.exists(Path.of("/dev/zero")), "there is no /dev/zero on this machine");
            return Files.createSymbolicLink(file, Path.of("/dev/zero"));
        }
        Process process = new ProcessBuilder("mkfifo", file.toString()).start();
        assumeTrue(process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0, "there is no mkfifo");
        return file;
    }

    /** Command lines with @NAME for a special file, and where the special file is if the line does not name it. */
    private static List<List<String>> lines() {
        List<List<String>> lines = new ArrayList<>();
        for (String model : List.of("@m.pdmodel", "@m.json", "@m.onnx", "@m-symbol.json", "@m-0000.params",
                "@__model__",
                "@m.other")) {
            lines.add(List.of("convert", model, "out.onnx"));
            lines.add(List.of("quantize", model, "--calibrate", "x.npy", "--out", "out.pdmodel"));
            lines.add(List.of("run", "--program", model, "--feed", "x=x.npy", "--out", "."));
            lines.add(List.of("show", "--program", model));
            lines.add(List.of("train", model, "--loss", "mse", "--data", ".", "--out", "run"));
        }
        for (String model : List.of("a.pdmodel", "b.json")) {
            String parameters = model.replaceFirst("\\..*", ".pdiparams");
            lines.add(List.of("convert", model, "out.onnx", "+" + parameters));
            lines.add(List.of("run", "--program", model, "--feed", "x=x.npy", "--out", ".", "+" + parameters));
            lines.add(List.of("run", "--program", model, "--feed", "x=@f.npy", "--out", "."));
            lines.add(List.of("run", "--program", model, "--feed", "x=x.npy", "--out", ".", "+x.lod.npy"));
            for (String data : List.of("@d.npy", "@d.npz")) {
                lines.add(List.of("quantize", model, "--calibrate", data, "--out", "out.pdmodel"));
            }
            lines.add(List.of("train", model, "--loss", "mse", "--feed", "x=@f.npy", "--labels", "x.npy", "--out",
                    "run"));
            lines.add(List.of("train", model, "--loss", "mse", "--feed", "x=x.npy", "--labels", "@l.npy", "--out",
                    "run"));
        }
        for (String parameters : List.of("@p.pdiparams", "@p.npz")) {
            lines.add(List.of("run", "--program", "a.pdmodel", "--params", parameters, "--feed", "x=x.npy", "--out",
                    "."));
        }
        lines.add(
                List.of("run", "--program", "a.pdmodel", "--startup", "@s.pdmodel", "--feed", "x=x.npy", "--out", "."));
        lines.add(List.of("train", "a.pdmodel", "--startup", "@s.pdmodel", "--feed", "x=x.npy", "--out", "run"));
        for (String data : List.of("@t.txt", "@t.csv", "@t.npz", "@t.npy", "@t.idx", "@train-images-idx3-ubyte.gz")) {
            lines.add(List.of("train", "mlp", "--data", data, "--out", "run"));
            lines.add(List.of("train", "names", "--data", data, "--out", "run"));
        }
        lines.add(List.of("train", "--resume", ".", "+run.properties"));
        return lines;
    }

    private List<Object> line(List<String> words, Special kind) throws IOException, InterruptedException {
        List<Object> line = new ArrayList<>();
        Path folder = Files.createDirectory(temp.resolve("special"));
        for (String word : words) {
            int at = word.indexOf('@');
            if (word.startsWith("+")) {
                special(temp.resolve(word.substring(1)), kind);
            } else if (at >= 0) {
                line.add(word.substring(0, at) + special(folder.resolve(word.substring(at + 1)), kind));
            } else if (word.equals(".")) {
                line.add(temp);
            } else if (word.matches("(x=)?[\\w.]+\\.\\w+|run") && !line.isEmpty()) {
                line.add(word.startsWith("x=") ? "x=" + temp.resolve(word.substring(2)) : temp.resolve(word));
            } else {
                line.add(word);
            }
        }
        return line;
    }

    @TestFactory
    Stream<DynamicTest> onlyRegularFilesAreRead() {
        return Stream.of(Special.values()).flatMap(kind -> lines().stream().map(words -> DynamicTest
                .dynamicTest(kind + " " + String.join(" ", words), () -> {
                    write();
                    List<Object> line = line(words, kind);
                    CommandRun run = limited(line);
                    for (Path each : specials) {
                        Files.delete(each);
                    }
                    specials.clear();
                    assertEquals(2, run.code(), () -> line + run.out() + run.err());
                    assertEquals(1, run.err().lines().count(), run::err);
                    assertTrue(run.err().contains("only regular files are read")
                            // A folder in which no regular file is what the command needs.
                            || run.err().contains("holds no run to resume"), () -> line + run.err());
                })));
    }

    /** A command that is given up after a time, because a read from a pipe cannot be interrupted. */
    private static CommandRun limited(List<Object> line) throws Exception {
        FutureTask<CommandRun> task = new FutureTask<>(() -> CommandRun.of(line.toArray()));
        Thread.ofPlatform().daemon().name("limited").start(task);
        try {
            return task.get(60, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("hangs: " + line, e);
        }
    }
}
