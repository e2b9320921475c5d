package io.seriatim.cli.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.CommandRun;
import io.seriatim.graph.Network;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.ParameterFiles;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainCommandTest {
    @TempDir
    private Path temp = Path.of("");

    private RunFolder train(String name, Object... args) throws IOException {
        RunFolder run = new RunFolder(temp.resolve(name));
        List<Object> all = new ArrayList<>(List.of("train", "--threads", 2, "--out", run.path()));
        all.addAll(List.of(args));
        CommandRun ended = CommandRun.of(all.toArray());
        assertEquals("", ended.err());
        assertEquals(0, ended.code(), ended::out);
        run.assertWhole();
        return run;
    }

    /** Lists the event file, whose name contains a time, under a fixed name. */
    private static Set<String> named(RunFolder run) throws IOException {
        Set<String> names = new TreeSet<>();
        run.files().forEach(name -> names.add(name.replaceAll("tfevents\\.\\d+\\.seriatim", "tfevents")));
        return names;
    }

    @Test
    void namesLeavesAllOfItsFiles() throws IOException {
        Path text = TinyData.text(temp.resolve("text.txt"));
        RunFolder run = train("names", "names", "--data", text, "--batch", 8, "--epochs", 9, "--steps", 5);
        long last = run.checkpoints().getLast();
        assertEquals(5, last);
        Set<String> expected = new TreeSet<>(
                Set.of("run.lock", "run.properties", "metrics.jsonl", "events.out.tfevents", "model.pdmodel",
                        "model.pdiparams", "report.html"));
        run.checkpoints().forEach(step -> expected
                .addAll(List.of("checkpoints/" + step + "/state.properties",
                        "checkpoints/" + step + "/variables.pdiparams")));
        assertEquals(expected, named(run));
        String report = Files.readString(run.path().resolve("report.html"));
        assertTrue(report.contains("Invented") && report.contains("</html>"), "a report with invented text and an end");
    }

    @Test
    void mlpLearnsFromArraysAndFromTables() throws IOException {
        RunFolder arrays = train("arrays", "mlp", "--data", TinyData.arrays(temp.resolve("data")), "--batch", 9,
                "--epochs", 10);
        assertTrue(arrays.loss(60) < arrays.loss(1) / 2, arrays.losses()::toString);
        StringBuilder table = new StringBuilder("a,b,label\n");
        for (int row = 0; row < 40; row++) {
            table.append(row % 2).append(',').append(row % 3).append(".5,").append(row % 2).append('\n');
        }
        RunFolder csv = train("csv", "mlp", "--data", Files.writeString(temp.resolve("table.csv"), table), "--batch", 6,
                "--epochs", 10);
        assertTrue(csv.loss(60) < csv.loss(1) / 2, csv.losses()::toString);
    }

    @Test
    void lenetLearnsFromImages() throws IOException {
        RunFolder run = train("images", "lenet", "--data", TinyData.images(temp.resolve("data"), 80), "--batch", 8,
                "--epochs", 2);
        assertEquals(18, run.checkpoints().getLast());
        assertTrue(run.loss(18) < run.loss(1), run.losses()::toString);
    }

    @Test
    void aProgramOfFilesIsTrainedAndServed() throws IOException {
        Network network = TinyData.line(-1);
        List<Object> args = new ArrayList<>(TinyData.program(temp, network, 40));
        args.addAll(List.of("--loss", network.outputs().get("loss").name(), "--batch", 4, "--epochs", 8));
        RunFolder run = train("program", args.toArray());
        assertTrue(run.loss(72) < run.loss(1) / 100, run.losses()::toString);
        assertSameOutput(run, temp.resolve("x.npy"), Npy.read(temp.resolve("x.npy")).toFloatArray());
    }

    @Test
    void aProgramMayFixItsBatch() throws IOException {
        List<Object> args = new ArrayList<>(TinyData.program(temp, TinyData.line(5), 64));
        args.addAll(List.of("--epochs", 3));
        RunFolder run = train("program", args.toArray());
        // The last 6 rows are for validation; the program's batch size of 5 uses 5 of them.
        assertEquals(33, run.checkpoints().getLast());
    }

    /** Compares the result of {@code seriatim run} on the saved model with that of the trained variables. */
    private void assertSameOutput(RunFolder run, Path input, float... x) throws IOException {
        Path results = temp.resolve("results");
        Program program;
        String fetched;
        try (InferenceModels.InferenceModel saved = InferenceModels.load(run.path().resolve("model"))) {
            assertEquals(List.of("x"), saved.feeds());
            program = saved.program();
            fetched = saved.fetches().getFirst();
        }
        CommandRun ended = CommandRun.of("run", "--program", run.path().resolve("model.pdmodel"), "--params",
                run.path().resolve("model.pdiparams"), "--feed", "x=" + input, "--out", results);
        assertEquals(0, ended.code(), ended::err);
        Map<String, Tensor> trained = ParameterFiles.readCombined(run.path().resolve("model.pdiparams"), program);
        float[] w = trained.values().stream().filter(tensor -> tensor.shape().size() == 2).findFirst().orElseThrow()
                .toFloatArray();
        float[] b = trained.values().stream().filter(tensor -> tensor.shape().size() == 1).findFirst().orElseThrow()
                .toFloatArray();
        float[] expected = new float[x.length / 2];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = x[2 * i] * w[0] + x[2 * i + 1] * w[1] + b[0];
        }
        assertArrayEquals(expected, Npy.read(results.resolve(fetched.replace('/', '_') + ".npy")).toFloatArray(),
                1e-5f);
    }

    @Test
    void severalPlacesLearnAsOne() throws IOException {
        Path data = TinyData.arrays(temp.resolve("data"));
        RunFolder one = train("one", "mlp", "--data", data, "--batch", 8, "--epochs", 3);
        RunFolder two = train("two", "mlp", "--data", data, "--batch", 8, "--epochs", 3, "--place", "sim:0,sim:1");
        for (int step = 1; step <= 18; step++) {
            assertEquals(one.loss(step), two.loss(step), 1e-5, "loss of step " + step);
        }
    }

    @Test
    void aResumedRunIsAnUninterruptedOne() throws IOException {
        Path data = TinyData.images(temp.resolve("data"), 60);
        RunFolder whole = train("whole", "lenet", "--data", data, "--batch", 8, "--epochs", 2, "--checkpoint-every", 1,
                "--seed", 3);
        RunFolder copy = new RunFolder(temp.resolve("copy"));
        try (Stream<Path> walk = Files.walk(whole.path())) {
            for (Path file : walk.toList()) {
                Files.copy(file, copy.path().resolve(whole.path().relativize(file).toString()));
            }
        }
        List<Long> checkpoints = copy.checkpoints();
        Path newest = copy.path().resolve("checkpoints").resolve(Long.toString(checkpoints.getLast()));
        for (String name : List.of("checkpoints/" + checkpoints.getLast() + "/state.properties",
                "checkpoints/" + checkpoints.getLast() + "/variables.pdiparams", "model.pdmodel", "model.pdiparams",
                "report.html")) {
            Files.delete(copy.path().resolve(name));
        }
        Files.delete(newest);
        CommandRun resumed = CommandRun.of("train", "--resume", copy.path(), "--threads", 1);
        assertEquals("", resumed.err());
        assertEquals(0, resumed.code());
        copy.assertWhole();
        copy.assertSameAs(whole);
        assertEquals(whole.checkpoints(), copy.checkpoints());
        assertTrue(Files.exists(copy.path().resolve("report.html")), "a report");
        // Nothing is left to do, which is not an error.
        assertEquals(0, CommandRun.of("train", "--resume", copy.path()).code());
        copy.assertSameAs(whole);
    }
}
