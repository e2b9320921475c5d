package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** No command replaces a file that it reads: each command, each of its inputs, each output, under each kind of name. */
@DisabledOnOs(OS.WINDOWS)
class OwnInputTest {
    /** The ways in which a name leads to a file of the folder {@code models}. */
    private enum Name {
        SAME, DOTS, FOLDER_LINK, SOFT_LINK, HARD_LINK
    }

    @TempDir
    private Path temp = Path.of("");
    private Path models = Path.of("");
    private int made;

    private static Tensor rows(int count, int width) {
        float[] values = new float[count * width];
        for (int i = 0; i < values.length; i++) {
            values[i] = i % 7 - 3;
        }
        return Tensor.of(values, count, width);
    }

    @BeforeEach
    void write() throws IOException {
        models = Files.createDirectory(temp.resolve("models"));
        Network network = Network.define(3, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 6);
            return Outputs.of("y", g.linear(g.linear(x, 5).relu(), 4));
        });
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            InferenceModel model = InferenceModels.of(network.main(), List.of("x"),
                    List.of(network.outputs().get("y").name()), executor.scope()::find);
            InferenceModels.save(models.resolve("a.pdmodel"), model);
            InferenceModels.save(models.resolve("b.json"), model);
            InferenceModels.save(models.resolve("c.onnx"), model);
            Npz.write(models.resolve("p.npz"), model.parameters());
            Files.write(models.resolve("d.onnx"),
                    external(Files.readAllBytes(models.resolve("c.onnx")), models.resolve("d.pdiparams")));
        }
        Npy.write(models.resolve("x.npy"), rows(20, 6));
        Npy.write(models.resolve("labels.npy"), rows(20, 4));
    }

    /** A model with one more initialiser, whose elements are in a file beside it. */
    private static byte[] external(byte[] model, Path data) throws IOException {
        Files.write(data, new byte[16]);
        String name = String.valueOf(data.getFileName());
        byte[] location = entry("location", name);
        byte[] tensor = joined(new byte[]{0x08, 4, 0x10, 1, 0x42, 4}, "more".getBytes(StandardCharsets.UTF_8),
                new byte[]{0x6a, (byte) location.length}, location, new byte[]{0x70, 1});
        byte[] field = joined(new byte[]{0x2a, (byte) tensor.length}, tensor);
        ByteBuffer in = ByteBuffer.wrap(model);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        while (in.hasRemaining()) {
            byte tag = in.get();
            out.write(tag);
            long number = varint(in);
            if ((tag & 7) != 2) { // A number.
                writeVarint(out, number);
                continue;
            }
            byte[] content = new byte[(int) number];
            in.get(content);
            byte[] written = tag == 0x3a ? joined(content, field) : content; // The graph gets one more initialiser.
            writeVarint(out, written.length);
            out.writeBytes(written);
        }
        return out.toByteArray();
    }

    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0;; shift += 7) {
            byte part = in.get();
            value |= (part & 0x7fL) << shift;
            if (part >= 0) {
                return value;
            }
        }
    }

    private static void writeVarint(ByteArrayOutputStream out, long number) {
        long left = number;
        while (left > 0x7f) {
            out.write((int) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        out.write((int) left);
    }

    private static byte[] entry(String key, String value) {
        byte[] k = key.getBytes(StandardCharsets.UTF_8);
        byte[] v = value.getBytes(StandardCharsets.UTF_8);
        return joined(new byte[]{0x0a, (byte) k.length}, k, new byte[]{0x12, (byte) v.length}, v);
    }

    private static byte[] joined(byte[]... parts) {
        byte[] all = new byte[Arrays.stream(parts).mapToInt(part -> part.length).sum()];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

    /** A name of its own for a place in the folder of the models, at which there may be a file. */
    private Path named(String file, Name name) throws IOException {
        Path other = temp.resolve("other" + made++);
        return switch (name) {
            case SAME -> models.resolve(file);
            case DOTS -> models.resolve("../models/./" + file);
            case FOLDER_LINK -> Files.createSymbolicLink(other, models).resolve(file);
            default -> linked(Files.createDirectory(other), file, name == Name.SOFT_LINK);
        };
    }

    /** All files that belong to the name are reached through links of one folder. */
    private Path linked(Path other, String file, boolean soft) throws IOException {
        String stem = file.replaceFirst("\\..*", "");
        try (Stream<Path> list = Files.list(models)) {
            for (Path each : list.filter(each -> each.getFileName().toString().startsWith(stem + ".")).toList()) {
                Path link = other.resolve(String.valueOf(each.getFileName()));
                if (soft) {
                    Files.createSymbolicLink(link, each);
                } else {
                    Files.createLink(link, each);
                }
            }
        }
        return other.resolve(file);
    }

    private Map<String, List<Byte>> contents() throws IOException {
        Map<String, List<Byte>> contents = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(temp)) {
            for (Path each : walk.filter(Files::isRegularFile).toList()) {
                List<Byte> bytes = new ArrayList<>();
                for (byte b : Files.readAllBytes(each)) {
                    bytes.add(b);
                }
                contents.put(temp.relativize(each).toString(), bytes);
            }
        }
        return contents;
    }

    /** What each command would replace; a file name with @ is one of the folder of the models, under some name. */
    private List<List<String>> lines() {
        List<List<String>> lines = new ArrayList<>();
        Map<String, List<String>> inputs = new LinkedHashMap<>();
        inputs.put("a.pdmodel", List.of("a.pdmodel"));
        inputs.put("b.json", List.of("b.json", "b.pdmodel"));
        inputs.put("c.onnx", List.of("c.onnx"));
        inputs.put("d.onnx", List.of("d.onnx", "d.pdmodel", "d.json"));
        inputs.forEach((model, targets) -> {
            for (String target : targets) {
                // A .pdmodel and a .json may share equal parameters, which convert leaves as they are.
                if (!(model.equals("b.json") && target.equals("b.pdmodel"))) {
                    lines.add(List.of("convert", model, "@" + target));
                }
                lines.add(List.of("quantize", model, "--calibrate", "x.npy", "--out", "@" + target));
            }
        });
        lines.add(List.of("quantize", "a.pdmodel", "--calibrate", "x.npy", "--out", "@a.json"));
        for (String model : List.of("a.pdmodel", "b.json", "c.onnx", "d.onnx")) {
            List<String> read = switch (model) {
                case "a.pdmodel" -> List.of("a.pdmodel", "a.pdiparams");
                case "b.json" -> List.of("b.json", "b.pdiparams");
                case "d.onnx" -> List.of("d.onnx", "d.pdiparams");
                default -> List.of("c.onnx");
            };
            for (String target : read) {
                for (String option : List.of("--trace", "--report")) {
                    lines.add(List.of("run", "--program", model, "--feed", "x=x.npy", "--out", "out", option,
                            "@" + target));
                }
                if (!target.equals("a.pdiparams")) { // Which show does not read.
                    lines.add(List.of("show", "--program", model, "--svg", "@" + target));
                    lines.add(List.of("show", "--program", model, "--dot", "@" + target));
                }
            }
            lines.add(List.of("run", "--program", model, "--feed", "x=x.npy", "--out", "out", "--trace", "@x.npy"));
        }
        lines.add(List.of("run", "--program", "a.pdmodel", "--params", "p.npz", "--feed", "x=x.npy", "--out", "out",
                "--trace", "@p.npz"));
        return lines;
    }

    private Path resolved(String name, Name kind) throws IOException {
        return name.startsWith("@") ? named(name.substring(1), kind) : models.resolve(name);
    }

    private List<Object> line(List<String> line, Name kind) throws IOException {
        List<Object> args = new ArrayList<>();
        for (String word : line) {
            boolean file = word.startsWith("@") || Files.exists(models.resolve(word));
            args.add(file
                    ? resolved(word, kind)
                    : word.equals("out") ? temp.resolve("out") : word.replace("x=x", "x=" + models + "/x"));
        }
        return args;
    }

    private static void assertRefused(CommandRun run, List<Object> line) {
        assertEquals(2, run.code(), () -> line + run.err());
        assertEquals(1, run.err().lines().count(), run::err);
        assertTrue(run.err().contains("input of the same command") || run.err().contains("written over itself"),
                () -> line + run.err());
    }

    @TestFactory
    Stream<DynamicTest> nothingThatIsReadIsReplaced() {
        return lines().stream().flatMap(words -> Stream.of(Name.values())
                .map(kind -> DynamicTest.dynamicTest(String.join(" ", words) + " " + kind, () -> {
                    List<Object> line = line(words, kind);
                    Map<String, List<Byte>> before = contents();
                    CommandRun run = CommandRun.of(line.toArray());
                    assertRefused(run, line);
                    assertEquals(before.keySet(), contents().keySet(), line::toString);
                    assertTrue(before.equals(contents()), line + " has changed a file");
                })));
    }

    /** The files of a run: each would replace the input of the same name. */
    @TestFactory
    Stream<DynamicTest> aTrainingDoesNotReplaceItsInput() {
        List<List<String>> cases = List.of(
                List.of("a.pdmodel", "model.pdmodel", "pdmodel"), List.of("a.pdiparams", "model.pdiparams", "pdmodel"),
                List.of("a.pdmodel", "model.json", "json"), List.of("a.pdiparams", "model.pdiparams", "json"),
                List.of("a.pdmodel", "model.onnx", "onnx"), List.of("a.pdmodel", "report.html", "onnx"),
                List.of("x.npy", "metrics.jsonl", "onnx"), List.of("labels.npy", "run.properties", "onnx"),
                List.of("labels.npy", "run.lock", "onnx"));
        return cases.stream().map(each -> DynamicTest.dynamicTest(each.toString(), () -> {
            Path run = Files.createDirectory(temp.resolve("run" + made++));
            Files.createLink(run.resolve(each.get(1)), models.resolve(each.get(0)));
            if (each.get(1).equals("run.properties")) {
                // It would be taken for a run.
                Files.delete(run.resolve(each.get(1)));
                Files.createLink(run.resolve("metrics.jsonl"), models.resolve(each.get(0)));
            }
            List<Object> line = List.of("train", models.resolve("a.pdmodel"), "--loss", "mse", "--feed",
                    "x=" + models.resolve("x.npy"), "--labels", models.resolve("labels.npy"), "--epochs", 1, "--save",
                    each.get(2), "--out", run);
            Map<String, List<Byte>> before = contents();
            assertRefused(CommandRun.of(line.toArray()), line);
            assertTrue(before.equals(contents()), line + " has changed a file");
        }));
    }

    /** Fetches are written by their names. */
    @Test
    void aFetchDoesNotReplaceAFeed() throws IOException {
        CommandRun first = CommandRun.of("run", "--program", models.resolve("c.onnx"), "--feed",
                "x=" + models.resolve("x.npy"), "--fetch", "x", "--out", models);
        assertRefused(first, List.of("run"));
    }

    @Test
    void twoOutputsDoNotShareAFile() throws IOException {
        Path file = temp.resolve("page");
        for (List<Object> line : List.of(
                List.<Object>of("show", "--program", models.resolve("c.onnx"), "--svg", file, "--dot",
                        temp.resolve("models/../page")),
                List.<Object>of("run", "--program", models.resolve("c.onnx"), "--feed", "x=" + models.resolve("x.npy"),
                        "--trace", file, "--report", file, "--out", temp))) {
            CommandRun run = CommandRun.of(line.toArray());
            assertEquals(2, run.code(), run::err);
            assertTrue(run.err().contains(" would both be written to "), run::err);
            assertTrue(Files.notExists(file));
        }
    }

    /** As before: what is not read may be replaced, also by a model that was converted before. */
    @Test
    void otherFilesAreReplaced() throws IOException {
        for (int i = 0; i < 2; i++) {
            for (String target : List.of("z.pdmodel", "z.json", "z.onnx")) {
                CommandRun run = CommandRun.of("convert", models.resolve("d.onnx"), models.resolve(target));
                assertEquals(0, run.code(), run::err);
            }
        }
        CommandRun shared = CommandRun.of("convert", models.resolve("b.json"), models.resolve("b.pdmodel"));
        assertEquals(0, shared.code(), shared::err);
    }
}
