package io.seriatim.cli.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.CommandRun;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Field;
import io.seriatim.train.data.TableEncoding;
import io.seriatim.train.data.TableEncoding.CategoryColumn;
import io.seriatim.train.model.CharacterTransformer;
import io.seriatim.train.model.LeNet;
import io.seriatim.train.model.Mlp;
import io.seriatim.train.model.Recipe;
import io.seriatim.train.model.ResNet18;
import io.seriatim.train.model.TableMlp;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Invalid input gives a one-line error, before anything is written. */
class TrainInputTest {
    @TempDir
    private Path temp = Path.of("");

    private void assertRefused(String message, Object... args) throws IOException {
        Path out = temp.resolve("run");
        List<Object> all = new ArrayList<>(List.of("train", "--out", out));
        all.addAll(List.of(args));
        assertOneLine(2, message, CommandRun.of(all.toArray()));
        assertEquals(Set.of(), new RunFolder(out).files(), "written all the same");
        assertFalse(Files.exists(out), "a folder was made all the same");
    }

    private static void assertOneLine(int code, String message, CommandRun ended) {
        assertEquals(1, ended.err().lines().count(), ended::err);
        assertTrue(ended.err().startsWith("seriatim: ") && ended.err().contains(message), ended::err);
        assertEquals(code, ended.code(), ended::err);
    }

    private Path folder(String name) throws IOException {
        return Files.createDirectories(temp.resolve(name));
    }

    /** The help states the values of the recipes. */
    @Test
    void theHelpGivesTheDefaults() throws IOException {
        String help = CommandRun.of("train", "--help").out().replaceAll("\\s+", " ");
        Field image = new Field("image", DType.FLOAT32, Shape.of(3, 28, 28));
        Field label = new Field("label", DType.INT64, Shape.of(1));
        Recipe names = CharacterTransformer.forNames(10).recipe();
        Recipe lenet = new LeNet(image, label, 10).recipe();
        Recipe mlp = new Mlp(image, label, 10).recipe();
        Recipe resnet = new ResNet18(image, label, 10).recipe();
        Recipe table = new TableMlp(new TableEncoding(List.of(new CategoryColumn("city", List.of("A"))), "class",
                List.of("x", "y"), Set.of())).recipe();
        assertTrue(help.contains(
                "names " + names.epochs() + ", lenet " + lenet.epochs() + ", mlp " + mlp.epochs() + ", resnet18 "
                        + resnet.epochs() + ", a table " + table.epochs() + ","),
                help);
        assertEquals(lenet.batch(), mlp.batch());
        assertTrue(
                help.contains("names " + names.batch() + ", lenet and mlp " + lenet.batch() + ", resnet18 "
                        + resnet.batch() + ", a table " + table.batch() + ","),
                help);
        assertTrue(help
                .contains("names " + names.rate() + ", lenet " + lenet.rate() + ", mlp " + mlp.rate() + ", resnet18 "
                        + resnet.rate() + ", a table " + table.rate() + ","),
                help);
    }

    @Test
    void noData() throws IOException {
        assertRefused("'lenet' needs --data", "lenet");
        assertRefused("'mlp' needs --data", "mlp");
        assertRefused("there is no such file or folder", "mlp", "--data", temp.resolve("missing"));
        assertRefused("the folder has no data", "mlp", "--data", folder("empty"));
        assertRefused("There is no network and no file 'lennet': did you mean 'lenet'?", "lennet");
        assertRefused("There is no network and no file 'transformer': train one of [names, lenet", "transformer");
    }

    @Test
    void dataOfAnotherKind() throws IOException {
        Path text = TinyData.text(temp.resolve("text.txt"));
        Path images = TinyData.images(temp.resolve("images"), 20);
        Path arrays = TinyData.arrays(temp.resolve("arrays"));
        assertRefused("is text: train names on it", "mlp", "--data", text);
        assertRefused("holds examples with labels", "names", "--data", images);
        assertRefused("name the folder that holds both", "lenet", "--data", images.resolve("train-images-idx3-ubyte"));
        assertRefused("a single array is not enough", "mlp", "--data", arrays.resolve("x.npy"));
        assertRefused("images of lenet must be [channels, height, width]", "lenet", "--data", arrays);
        assertRefused("resnet18", "resnet18", "--data", arrays);
        byte[] random = new byte[400];
        Arrays.fill(random, (byte) 0xfe);
        assertRefused("UTF-8", "names", "--data", Files.write(temp.resolve("random.bin"), random));
        assertRefused("empty.txt", "names", "--data", Files.writeString(temp.resolve("empty.txt"), ""));
        assertRefused("short.txt", "names", "--data", Files.writeString(temp.resolve("short.txt"), "Short\n"));
    }

    @Test
    void damagedImages() throws IOException {
        Path data = TinyData.images(temp.resolve("images"), 20);
        Path images = data.resolve("train-images-idx3-ubyte");
        Path labels = data.resolve("train-labels-idx1-ubyte");
        byte[] pixels = Files.readAllBytes(images);
        Files.write(images, Arrays.copyOf(pixels, pixels.length - 100));
        assertRefused("train-images-idx3-ubyte", "lenet", "--data", data);
        Files.write(images, pixels);
        Files.write(labels, TinyData.idx(new byte[19], 19));
        assertRefused("19", "lenet", "--data", data);
        byte[] beyond = new byte[20];
        beyond[7] = 10;
        Files.write(labels, TinyData.idx(beyond, 20));
        assertRefused("10", "lenet", "--data", data);
        Files.delete(labels);
        assertRefused("images and labels belong together", "lenet", "--data", data);
        Files.write(labels, TinyData.idx(new byte[20], 20));
        Files.delete(images);
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(compressed)) {
            out.write(pixels);
        }
        Files.write(data.resolve("train-images-idx3-ubyte.gz"),
                Arrays.copyOf(compressed.toByteArray(), compressed.size() / 2));
        assertRefused("train-images-idx3-ubyte.gz", "lenet", "--data", data);
    }

    @Test
    void damagedArrays() throws IOException {
        Path data = TinyData.arrays(temp.resolve("arrays"));
        Path x = data.resolve("x.npy");
        byte[] bytes = Files.readAllBytes(x);
        Files.write(x, Arrays.copyOf(bytes, bytes.length - 8));
        assertRefused("x.npy", "mlp", "--data", data);
        Npy.write(x, Tensor.of(new float[59 * 4], 59, 4));
        assertRefused("there must be a label for each of the 59 examples", "mlp", "--data", data);
        float[] values = new float[60 * 4];
        values[4 * 12 + 1] = Float.NaN;
        Npy.write(x, Tensor.of(values, 60, 4));
        assertRefused("value 1 of example 12 is NaN", "mlp", "--data", data);
        Files.write(x, bytes);
        double[] labels = new double[60];
        labels[3] = -1;
        Npy.write(data.resolve("y.npy"), Tensor.of(DType.INT64, labels, 60));
        assertRefused("that of example 3 is -1", "mlp", "--data", data);
        assertRefused("t.csv:3:3: there must be a number", "mlp", "--data",
                Files.writeString(temp.resolve("t.csv"), "a,b\n1,2\n1,x\n"));
    }

    @Test
    void wrongOptions() throws IOException {
        Path data = TinyData.arrays(temp.resolve("arrays"));
        assertRefused("from 1 to the number of examples, 54, but is 64: take smaller batches", "mlp", "--data", data,
                "--batch",
                64);
        assertRefused("cannot be split evenly among 3 places", "mlp", "--data", data, "--batch", 8, "--place",
                "sim:0,sim:1,sim:2");
        assertRefused("gpu", "mlp", "--data", data, "--batch", 8, "--place", "gpu:7");
        assertRefused("mars", "mlp", "--data", data, "--batch", 8, "--place", "mars");
        assertRefused("--precision must be f32 or bf16", "mlp", "--data", data, "--precision", "f16");
        assertRefused("--epochs", "mlp", "--data", data, "--epochs", -1);
        assertRefused("--epochs", "mlp", "--data", data, "--epochs", "many");
        assertRefused("--rate must be", "mlp", "--data", data, "--rate", "NaN");
        assertRefused("--threads", "mlp", "--data", data, "--threads", -2);
        assertRefused("are for programs", "mlp", "--data", data, "--loss", "mean");
        assertRefused("Unknown option", "mlp", "--data", data, "--dta", "x");
    }

    @Test
    void foldersThatCannotBeTheRuns() throws IOException {
        Path data = TinyData.arrays(temp.resolve("arrays"));
        Path file = Files.writeString(temp.resolve("file"), "not a folder");
        for (Path out : List.of(file, file.resolve("run"))) {
            assertOneLine(2, "file", CommandRun.of("train", "mlp", "--data", data, "--batch", 8, "--out", out));
        }
        assertEquals("not a folder", Files.readString(file));
        Path run = temp.resolve("there");
        assertEquals(0, CommandRun.of("train", "mlp", "--data", data, "--batch", 8, "--steps", 2, "--out", run).code());
        Set<String> files = new RunFolder(run).files();
        assertOneLine(2, "already holds a run: resume it with --resume " + run,
                CommandRun.of("train", "mlp", "--data", data, "--batch", 8, "--out", run));
        assertEquals(files, new RunFolder(run).files());
    }

    @Test
    void nothingToResume() throws IOException {
        Path empty = folder("empty");
        assertOneLine(2, "the folder holds no run to resume", CommandRun.of("train", "--resume", empty));
        assertOneLine(2, "the folder holds no run to resume",
                CommandRun.of("train", "--resume", temp.resolve("missing")));
        assertOneLine(2, "leave out 'mlp'", CommandRun.of("train", "mlp", "--resume", empty));
        assertOneLine(2, "leave out --seed", CommandRun.of("train", "--resume", empty, "--seed", 7));
        assertEquals(Set.of(""), new RunFolder(empty).files());
    }

    @Test
    void whatCannotBeResumed() throws IOException {
        Path data = TinyData.arrays(temp.resolve("arrays"));
        Path run = temp.resolve("run");
        assertEquals(0, CommandRun
                .of("train", "mlp", "--data", data, "--batch", 8, "--epochs", 4, "--steps", 2, "--out", run).code());
        Path properties = run.resolve(Settings.FILE);
        String settings = Files.readString(properties);
        assertNotResumed("'epochs' must be a number, but is 'four'", properties,
                settings.replace("epochs=4", "epochs=four"));
        assertNotResumed("epochs", properties, settings.replace("epochs=4", "epochs=-4"));
        assertNotResumed("the line 'seed=…' is missing", properties, settings.replace("seed=0", ""));
        assertNotResumed("run.properties", properties, "\u0000\uffff");
        assertNotResumed("a checkpoint of another model", properties,
                settings.replace("precision=f32", "precision=bf16"));
        assertNotResumed("and batches of 8, not with seed 0 and batches of 9: resume with the same", properties,
                settings.replace("batch=8", "batch=9"));
        assertNotResumed("arrays2", properties, settings.replace(data.toString(), data + "2"));
        Path x = data.resolve("x.npy");
        byte[] values = Files.readAllBytes(x);
        values[values.length - 1] ^= 1;
        byte[] kept = Files.readAllBytes(x);
        Files.write(x, values);
        assertOneLine(2, "is of a training on other data of the same size (fingerprint ",
                CommandRun.of("train", "--resume", run));
        Files.write(x, kept);
        assertTrue(settings.matches("(?s).*\ndata-fingerprint=[0-9a-f]{32}\n.*"), settings);
        Path metrics = run.resolve("metrics.jsonl");
        String lines = Files.readString(metrics);
        assertNotResumed("metrics.jsonl", metrics, lines.replaceFirst("\"loss\":", "\"los"));
        Path state = run.resolve("checkpoints/2/state.properties");
        assertNotResumed("state.properties", state, "");
        Path variables = run.resolve("checkpoints/2/variables.pdiparams");
        byte[] bytes = Files.readAllBytes(variables);
        Files.write(variables, Arrays.copyOf(bytes, bytes.length / 2));
        assertOneLine(2, "variables.pdiparams", CommandRun.of("train", "--resume", run));
        Files.write(variables, bytes);
        assertEquals(lines, Files.readString(metrics), "the metrics are as they were");
        assertEquals(0, CommandRun.of("train", "--resume", run).code());
    }

    private void assertNotResumed(String message, Path file, String content) throws IOException {
        byte[] good = Files.readAllBytes(file);
        Files.writeString(file, content, content.contains("\uffff") ? StandardCharsets.UTF_16 : StandardCharsets.UTF_8);
        Path run = temp.resolve("run");
        Set<String> files = new RunFolder(run).files();
        assertOneLine(2, message, CommandRun.of("train", "--resume", run));
        assertEquals(files, new RunFolder(run).files());
        Files.write(file, good);
    }

    @Test
    void programsThatDoNotFit() throws IOException {
        TinyData.program(temp, TinyData.line(-1), 20);
        Path main = temp.resolve("main.pdmodel");
        Path startup = temp.resolve("startup.pdmodel");
        Npy.write(temp.resolve("wide.npy"), Tensor.of(new float[60], 20, 3));
        Npy.write(temp.resolve("few.npy"), Tensor.of(new float[38], 19, 2));
        Npy.write(temp.resolve("whole.npy"), Tensor.of(DType.INT64, new double[40], 20, 2));
        String x = "x=" + temp.resolve("x.npy");
        String y = "y=" + temp.resolve("y.npy");
        assertRefused("A program needs --startup", main, "--feed", x, "--feed", y);
        assertRefused("A program needs data", main, "--startup", startup);
        assertRefused("'loss_x'", main, "--startup", startup, "--feed", x, "--feed", y, "--loss", "loss_x");
        assertRefused("'nothing'", main, "--startup", startup, "--feed", x, "--feed", y, "--loss", "nothing");
        assertRefused("The loss must have one element, but 'x'", main, "--startup", startup, "--feed", x, "--feed", y,
                "--loss", "x");
        assertRefused("--feed x=… is given twice", main, "--startup", startup, "--feed", x, "--feed", y, "--feed", x);
        assertRefused("'z'", main, "--startup", startup, "--feed", x, "--feed", "z=" + temp.resolve("y.npy"));
        assertRefused("'y'", main, "--startup", startup, "--feed", x);
        assertRefused("'x'", main, "--startup", startup, "--feed", "x=" + temp.resolve("wide.npy"), "--feed", y,
                "--batch", 5);
        assertRefused("'x'", main, "--startup", startup, "--feed", "x=" + temp.resolve("whole.npy"), "--feed", y,
                "--batch", 5);
        assertRefused("must have a row for each", main, "--startup", startup, "--feed", "x=" + temp.resolve("few.npy"),
                "--feed", y);
        assertRefused("missing.npy", main, "--startup", startup, "--feed", "x=" + temp.resolve("missing.npy"), "--feed",
                y);
        assertRefused("must have an optimizer's operations, but this has 3 operations and none of these", startup,
                "--startup", startup,
                "--feed", x, "--feed", y);
        assertRefused("text.pdmodel", Files.writeString(temp.resolve("text.pdmodel"), "no program"), "--startup",
                startup);
        assertRefused("A program needs examples with labels", main, "--startup", startup, "--data",
                TinyData.text(temp.resolve("text.txt")));
    }

    @Test
    void programsWriteOnlyWhereTheCallerAllows() throws IOException {
        TinyData.program(temp, TinyData.line(-1), 20);
        Path main = temp.resolve("main.pdmodel");
        Path startup = temp.resolve("startup.pdmodel");
        Path elsewhere = temp.resolve("elsewhere");
        Path allowed = Files.createDirectory(temp.resolve("allowed"));
        Program started = ProgramFiles.read(startup);
        String parameter = started.persistables().getFirst().name();
        Program good = started.copy();
        started.global().add(OpDesc.of("save").in("X", parameter).attr("file_path", elsewhere.toString()).build());
        ProgramFiles.write(startup, started);
        String x = "x=" + temp.resolve("x.npy");
        String y = "y=" + temp.resolve("y.npy");
        assertRefused("(save): the file '" + elsewhere + "'", main, "--startup", startup, "--feed", x, "--feed", y);
        assertRefused("the path is absolute", main, "--startup", startup, "--feed", x, "--feed", y, "--allow-files",
                allowed);
        assertFalse(Files.exists(elsewhere));
        good.global().add(OpDesc.of("save").in("X", parameter).attr("file_path", "started").build());
        ProgramFiles.write(startup, good);
        CommandRun trained = CommandRun.of("train", main, "--startup", startup, "--feed", x, "--feed", y,
                "--allow-files", allowed,
                "--steps",
                1, "--out", temp.resolve("run"));
        assertEquals(0, trained.code(), trained::err);
        assertTrue(Files.exists(allowed.resolve("started")));
    }

    @Test
    void aLossThatIsNoNumber() throws IOException {
        Path data = TinyData.arrays(temp.resolve("arrays"));
        RunFolder run = new RunFolder(temp.resolve("run"));
        CommandRun ended = CommandRun.of("train", "mlp", "--data", data, "--batch", 8, "--epochs", 40, "--rate", 1e37,
                "--out", run.path());
        assertOneLine(1, "The loss of step ", ended);
        assertTrue(ended.err().contains("The first such value came in step ") && ended.err().contains(": Operation "),
                ended::err);
        run.assertWhole();
        String report = Files.readString(run.path().resolve("report.html"));
        assertTrue(report.contains("The loss of step ") && report.contains("</html>"), "the report says why");
        assertFalse(Files.exists(run.path().resolve("model.pdmodel")), "no model of a failed training");
    }
}
