package io.seriatim.cli.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.CommandRun;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.format.ParameterFiles;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class RunCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private String loss = "";
    private String prediction = "";

    @TempDir
    private Path folder = Path.of("");

    private int run(Object... args) {
        String[] texts = new String[args.length];
        for (int i = 0; i < args.length; i++) {
            texts[i] = args[i].toString();
        }
        return new CommandLine(RunCommand.class).setCaseInsensitiveEnumValuesAllowed(true).setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err)).execute(texts);
    }

    /** w·x against y = 3: the loss of one step is (3 − w·x)², the gradient −2·x·(3 − w·x). */
    @BeforeEach
    void writeFiles() throws IOException {
        Network network = Network.define(7, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 2);
            Value y = g.data("y", DType.FLOAT32, -1, 1);
            Value w = g.linear(x, 1);
            Value mean = g.meanSquaredError(w, y);
            g.minimize(mean, Sgd.of(0.1));
            return Outputs.of("loss", mean, "prediction", w);
        });
        loss = network.outputs().get("loss").name();
        prediction = network.outputs().get("prediction").name();
        ProgramFiles.write(folder.resolve("main.pdmodel"), network.main());
        ProgramFiles.write(folder.resolve("startup.pdmodel"), network.startup());
        Npy.write(folder.resolve("x.npy"), Tensor.of(new float[]{1, 2, 1, 2}, 2, 2));
        Npy.write(folder.resolve("y.npy"), Tensor.of(new float[]{3, 3}, 2, 1));
        Npz.write(folder.resolve("params.npz"), Map.of("linear_0.w_0", Tensor.of(new float[]{1, 0.5f}, 2, 1)));
    }

    @Test
    void trainsStepByStep() throws IOException {
        Path results = folder.resolve("deep/results");
        assertEquals(0,
                run("--program", folder.resolve("main.pdmodel"), "--startup", folder.resolve("startup.pdmodel"),
                        "--params",
                        folder.resolve("params.npz"), "--feed", "x=" + folder.resolve("x.npy"), "--feed",
                        "y=" + folder.resolve("y.npy"), "--fetch",
                        loss, "--fetch", prediction, "--steps", 2, "--out", results),
                err::toString);
        List<String> lines = out.toString().lines().toList();
        assertEquals("step=1 " + loss + "=1.0", lines.get(0));
        assertTrue(err.toString().contains("written " + results.resolve(prediction + ".npy")), err.toString());
        // After a step w·x + b is 2 + 0.2·(1 + 4 + 1) = 3.2.
        assertTrue(lines.get(1).startsWith("step=2 " + loss + "=0.0") && lines.size() == 2, out.toString());
        assertArrayEquals(new float[]{3.2f, 3.2f}, Npy.read(results.resolve(prediction + ".npy")).toFloatArray(),
                1e-5f);
    }

    /** They keep the names of feeds and fetches. */
    @ParameterizedTest
    @ValueSource(strings = {"onnx", "json"})
    void runsModelsOfOtherFormats(String end) throws IOException {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 2)))
                .put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 2)).persistent())
                .put(VarDesc.of("y:0", VarType.dense(DType.FLOAT32, -1, 2)))
                .add(OpDesc.of("elementwise_mul").in("X", "x").in("Y", "w").out("Out", "y:0").attr("axis", -1).build());
        Path file = folder.resolve("scaled." + end);
        try (InferenceModel model = new InferenceModel(program, List.of("x"), List.of("y:0"),
                Map.of("w", Tensor.of(new float[]{5, 7}, 2)))) {
            InferenceModels.save(file, model);
        }
        Path results = folder.resolve("results");
        assertEquals(0, run("--program", file, "--feed", "x=" + folder.resolve("x.npy"), "--out", results),
                err::toString);
        assertArrayEquals(new float[]{5, 14, 5, 14}, Npy.read(results.resolve("y_0.npy")).toFloatArray());
        out.getBuffer().setLength(0);
        assertRefused("no variable 'z' to feed", "--program", file, "--feed", "z=" + folder.resolve("x.npy"));
    }

    /** A model for inference brings its parameters, with or without the end of its name. */
    @Test
    void findsTheParametersOfAModel() throws IOException {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 2)))
                .put(VarDesc.of("w", VarType.dense(DType.FLOAT32, 2)).persistent())
                .put(VarDesc.of("y:0", VarType.dense(DType.FLOAT32, -1, 2)))
                .add(OpDesc.of("elementwise_mul").in("X", "x").in("Y", "w").out("Out", "y:0").attr("axis", -1).build());
        try (InferenceModel model = new InferenceModel(program, List.of("x"), List.of("y:0"),
                Map.of("w", Tensor.of(new float[]{5, 7}, 2)))) {
            InferenceModels.save(folder.resolve("scaled.pdmodel"), model);
        }
        for (String name : List.of("scaled", "scaled.pdmodel")) {
            Path results = folder.resolve("of " + name);
            assertEquals(0, run("--program", folder.resolve(name), "--feed", "x=" + folder.resolve("x.npy"), "--out",
                    results), err::toString);
            assertArrayEquals(new float[]{5, 14, 5, 14}, Npy.read(results.resolve("y_0.npy")).toFloatArray());
        }
        assertEquals(2, run("--program", folder.resolve("scaled"), "--feed", "z=" + folder.resolve("x.npy")));
        assertTrue(err.toString().contains("no variable 'z' to feed; its feeds are [x]"), err.toString());
    }

    @Test
    void namesTheFilesThatAreMissing() {
        assertEquals(2, run("--program", folder.resolve("absent")));
        assertTrue(err.toString().contains("There is no file " + folder.resolve("absent")
                + ": nor are there absent.pdmodel and absent.json"), err.toString());
        assertEquals(2, run("--program", folder));
        assertTrue(err.toString().contains("There is no file " + folder.resolve("__model__")), err.toString());
    }

    @Test
    void offsetsStandBesideTheirFiles() throws IOException {
        Network sequences = Network.define(g -> {
            Value words = g.data("words", DType.FLOAT32, -1, 1);
            Value sum = g.op("sequence_pool").in("X", words).attr("pooltype", "SUM").all("Out", "MaxIndex").getFirst();
            return Outputs.of("sum", sum, "twice", words.times(2));
        });
        String sum = sequences.outputs().get("sum").name();
        String twice = sequences.outputs().get("twice").name();
        Path program = folder.resolve("sequences.pdmodel");
        Path words = folder.resolve("words.npy");
        Path offsets = folder.resolve("words.lod.npy");
        ProgramFiles.write(program, sequences.main());
        Npy.write(words, Tensor.of(new float[]{1, 2, 4, 8}, 4, 1));
        Npy.write(offsets, Tensor.of(new long[]{0, 1, 4}));
        Object[] args = {"--program", program, "--feed", "words=" + words, "--fetch", sum, "--fetch", twice, "--out",
                folder};
        assertEquals(0, run(args), err::toString);
        assertArrayEquals(new float[]{1, 14}, Npy.read(folder.resolve(sum + ".npy")).toFloatArray());
        assertArrayEquals(new long[]{0, 1, 4}, Npy.read(folder.resolve(twice + ".lod.npy")).toLongArray());
        assertFalse(Files.exists(folder.resolve(sum + ".lod.npy")));
        Npy.write(offsets, Tensor.of(new long[]{0, 1, 3}));
        assertEquals(2, run(args));
        assertTrue(err.toString().contains("words.lod.npy do not divide the rows of"), err.toString());
        Files.delete(offsets);
        assertEquals(1, run(args));
        assertTrue(err.toString().contains("X must be divided into sequences"), err.toString());
    }

    @Test
    void paddlesRandomNumbersAreTheSameEachTime() throws IOException {
        for (int i = 0; i < 2; i++) {
            assertEquals(0,
                    run("--program", folder.resolve("startup.pdmodel"), "--random", "paddle", "--fetch", "linear_0.w_0",
                            "--out",
                            folder.resolve("r" + i)),
                    err::toString);
        }
        assertEquals("step=1", out.toString().lines().findFirst().orElse(""));
        float[] first = Npy.read(folder.resolve("r0/linear_0.w_0.npy")).toFloatArray();
        assertArrayEquals(first, Npy.read(folder.resolve("r1/linear_0.w_0.npy")).toFloatArray());
        // Xavier's bound: √(6 / (2 + 1)).
        for (float value : first) {
            assertTrue(Math.abs(value) <= Math.sqrt(2), "within the bounds: " + value);
        }
    }

    @Test
    void parametersMayBeFilesInAFolder() throws IOException {
        Path parts = Files.createDirectory(folder.resolve("parts"));
        Program main = ProgramFiles.read(folder.resolve("main.pdmodel"));
        Map<String, Tensor> values = Map.of("linear_0.w_0", Tensor.of(new float[]{1, 0.5f}, 2, 1), "linear_0.b_0",
                Tensor.of(new float[]{0}, 1), "learning_rate_0", Tensor.of(new float[]{0.1f}));
        ParameterFiles.writeSeparate(parts, main, values::get);
        assertEquals(0,
                run("--program", folder.resolve("main.pdmodel"), "--params", parts, "--feed",
                        "x=" + folder.resolve("x.npy"), "--feed",
                        "y=" + folder.resolve("y.npy"), "--fetch", loss, "--out", folder),
                err::toString);
        assertEquals("step=1 " + loss + "=1.0", out.toString().strip());
    }

    /** All of them are reported, from any program and block, before anything is computed. */
    @Test
    void operationTypesThatAreNotKnownAreNamedAtOnce() throws IOException {
        Path main = folder.resolve("main.pdmodel");
        Path startup = folder.resolve("startup.pdmodel");
        Program program = ProgramFiles.read(main);
        program.addBlock(0, null).add(OpDesc.of("hidden").in("X", "x").out("Out", "x").build());
        program.global().add(OpDesc.of("first").in("X", "x").out("Out", "x").build())
                .add(OpDesc.of("second").in("X", "x").out("Out", "x").build());
        ProgramFiles.write(main, program);
        assertEquals(2,
                run("--program", main, "--startup", startup, "--feed", "x=" + folder.resolve("x.npy"), "--fetch", loss,
                        "--out", folder));
        assertTrue(
                err.toString().contains(main
                        + ": The program cannot be run, since 3 operation types are not known: 'first' (operation "),
                err.toString());
        assertTrue(
                err.toString().contains("'second' (operation ")
                        && err.toString().contains("'hidden' (operation 0 of block 1)"),
                err.toString());
        assertEquals("", out.toString());
    }

    @Test
    void wrongInputIsTwo() throws IOException {
        Path main = folder.resolve("main.pdmodel");
        assertEquals(2, run("--program", main, "--fetch", "nothing"));
        assertTrue(err.toString().contains("no variable 'nothing' to fetch"), err.toString());
        assertEquals(2, run("--program", main, "--feed", "z=" + folder.resolve("x.npy"), "--fetch", loss));
        assertTrue(err.toString().contains("no variable 'z' to feed"), err.toString());
        assertEquals(2, run("--program", folder.resolve("x.npy")));
        assertTrue(err.toString().contains("x.npy") && err.toString().contains("NumPy"), err.toString());
        assertEquals(2, run("--program", main, "--steps", 0));
        Npz.write(folder.resolve("others.npz"), Map.of("w", Tensor.of(new float[]{1}, 1)));
        assertEquals(2, run("--program", main, "--params", folder.resolve("others.npz")));
        assertTrue(err.toString().contains("none of its arrays has the name of a parameter"), err.toString());
        assertEquals(2, run("--program", main, "--out", main.resolve("below")));
        assertTrue(err.toString().contains("There is no folder " + main.resolve("below")), err.toString());
    }

    /** A program that writes files is rejected before its startup program runs. */
    @Test
    void filesOfProgramsNeedAFolderThatTheCallerAllows() throws IOException {
        Path allowed = Files.createDirectory(folder.resolve("allowed"));
        Path elsewhere = folder.resolve("elsewhere");
        Program startup = new Program();
        startup.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 1)).persistent());
        startup.global()
                .add(OpDesc.of("fill_constant").out("Out", "x").attr("shape", new long[]{1}).attr("dtype", 5)
                        .attr("value", 1.5f).build());
        Program main = startup.copy();
        startup.global().add(OpDesc.of("save").in("X", "x").attr("file_path", "started").build());
        main.global().setOps(List.of(OpDesc.of("save").in("X", "x").attr("file_path", elsewhere.toString()).build()));
        ProgramFiles.write(folder.resolve("s.pdmodel"), startup);
        ProgramFiles.write(folder.resolve("m.pdmodel"), main);
        Object[] args = {"--program", folder.resolve("m.pdmodel"), "--startup", folder.resolve("s.pdmodel"), "--fetch",
                "x", "--out",
                folder.resolve("out")};
        assertEquals(2, run(args));
        assertTrue(err.toString().contains("operation 0 (save): the file '" + elsewhere + "'"), err.toString());
        Object[] withFolder = Stream.concat(Stream.of(args), Stream.of("--allow-files", allowed)).toArray();
        assertEquals(2, run(withFolder));
        assertFalse(Files.exists(elsewhere) || Files.exists(allowed.resolve("started")));
        main.global().setOps(List.of(OpDesc.of("save").in("X", "x").attr("file_path", "deep/ended").build()));
        ProgramFiles.write(folder.resolve("m.pdmodel"), main);
        assertEquals(0, run(withFolder), err::toString);
        assertEquals("step=1 x=1.5", out.toString().strip());
        assertTrue(Files.exists(allowed.resolve("started")) && Files.exists(allowed.resolve("deep/ended")));
        assertEquals(2, run("--program", folder.resolve("m.pdmodel"), "--allow-files", elsewhere));
        assertTrue(err.toString().contains("--allow-files: "), err.toString());
    }

    /** A program that fills its outputs with ones: one element for names that end in '1', else two. */
    private Path ones(String... names) throws IOException {
        Program program = new Program();
        for (String name : names) {
            long count = name.endsWith("1") ? 1 : 2;
            program.global().put(VarDesc.of(name, VarType.dense(DType.FLOAT32, count)));
            program.global()
                    .add(OpDesc.of("fill_constant").out("Out", name).attr("shape", new long[]{count}).attr("dtype", 5)
                            .attr("value", 1f).build());
        }
        Path file = folder.resolve("ones.pdmodel");
        ProgramFiles.write(file, program);
        return file;
    }

    private void assertRefused(String message, Object... args) {
        err.getBuffer().setLength(0);
        assertEquals(2, run(args), err::toString);
        assertTrue(err.toString().contains(message), err::toString);
        assertEquals("", out.toString(), "refused before the run");
    }

    @Test
    void fetchesThatWouldShareAFileAreRefused() throws IOException {
        Path program = ones("a/b", "a_b", "a:b", "c/1", "c_1");
        assertRefused("The fetches 'a/b' and 'a_b' would share the file a_b.npy", "--program", program, "--fetch",
                "a/b", "--fetch", "a_b");
        assertRefused("The fetches 'a_b' and 'a:b' would share the file a_b.npy", "--program", program, "--fetch",
                "a_b", "--fetch", "a:b");
        assertEquals(0, run("--program", program, "--fetch", "a:b", "--fetch", "a:b", "--out", folder), err::toString);
        assertArrayEquals(new float[]{1, 1}, Npy.read(folder.resolve("a_b.npy")).toFloatArray());
        out.getBuffer().setLength(0);
        assertEquals(0, run("--program", program, "--fetch", "c/1", "--fetch", "c_1", "--out", folder), err::toString);
        assertEquals("step=1 c/1=1.0 c_1=1.0", out.toString().strip(), "one element needs no file");
    }

    @Test
    void fetchesThatCanHaveNoFileAreRefused() throws IOException {
        String longest = "l".repeat(255 - ".npy".length());
        Path program = ones(longest, longest + "l", "nul\0nul", "é".repeat(126));
        assertRefused("cannot be written to a file", "--program", program, "--fetch", longest + "l");
        assertRefused("cannot be written to a file", "--program", program, "--fetch", "nul\0nul");
        assertRefused("cannot be written to a file", "--program", program, "--fetch", "é".repeat(126));
        assertEquals(0, run("--program", program, "--fetch", longest, "--out", folder), err::toString);
        assertTrue(Files.exists(folder.resolve(longest + ".npy")));
    }

    @Test
    void aFeedOfAnotherTypeIsNamed() throws IOException {
        Path main = folder.resolve("main.pdmodel");
        Npy.write(folder.resolve("doubles.npy"), Tensor.of(DType.FLOAT64, new double[]{1, 2, 1, 2}, 2, 2));
        Npy.write(folder.resolve("wide.npy"), Tensor.of(new float[6], 2, 3));
        String y = "y=" + folder.resolve("y.npy");
        String startup = folder.resolve("startup.pdmodel").toString();
        for (String file : List.of("doubles.npy", "wide.npy")) {
            assertRefused("Feed 'x' must be float32[-1, 2] (-1 matches any), but " + folder.resolve(file) + " holds ",
                    "--program", main,
                    "--startup", startup, "--feed", "x=" + folder.resolve(file), "--feed", y, "--fetch", loss);
        }
        assertRefused("--feed x=… is given twice", "--program", main, "--feed", "x=" + folder.resolve("x.npy"),
                "--feed", y, "--feed",
                "x=" + folder.resolve("x.npy"));
    }

    /** Of a variable without need_check_feed, the element type is checked before anything runs. */
    @Test
    void aFeedOfAnotherTypeIsNamedThoughTheProgramAsksForNoCheck() throws IOException {
        Program program = ProgramFiles.read(folder.resolve("main.pdmodel"));
        VarDesc x = program.global().get("x");
        program.global().put(VarDesc.of("x", x.type()));
        Path file = folder.resolve("unchecked.pdmodel");
        ProgramFiles.write(file, program);
        Npy.write(folder.resolve("bools.npy"), Tensor.of(DType.BOOL, new double[]{1, 0, 1, 0}, 2, 2));
        assertRefused(
                "Feed 'x' must be of the element type float32, but " + folder.resolve("bools.npy") + " holds bool",
                "--program", file, "--startup", folder.resolve("startup.pdmodel"), "--feed",
                "x=" + folder.resolve("bools.npy"), "--feed", "y=" + folder.resolve("y.npy"), "--fetch", loss);
    }

    /** The place where an operation was built takes one line; the rest of Python's call stack appears on request. */
    @Test
    void theCallStackIsShownForDebugging() throws IOException {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, 3)));
        program.global().add(OpDesc.of("reshape2").in("X", "x").out("Out", "y").attr("shape", new int[]{-1, 3})
                .attr("op_callstack",
                        new String[]{"  File \"a.py\", line 1, in <module>", "    net(x)",
                                "  File \"net.py\", line 7, in net",
                                "    x.reshape([-1, 3])", "  File \"/lib/paddle/tensor.py\", line 501, in reshape",
                                "    helper.append_op("})
                .build());
        Path file = folder.resolve("reshape.pdmodel");
        ProgramFiles.write(file, program);
        Npy.write(folder.resolve("four.npy"), Tensor.of(new float[4], 4));
        Object[] args = {"run", "--program", file, "--feed", "x=" + folder.resolve("four.npy"), "--fetch", "y"};
        CommandRun ended = CommandRun.of(args);
        assertEquals(1, ended.code(), ended::err);
        assertTrue(ended.err().endsWith("; built at File \"net.py\", line 7, in net\n"), ended::err);
        assertEquals(1, ended.err().lines().count(), ended::err);
        CommandRun debug = CommandRun.of("run", "--debug", "--program", file, "--feed",
                "x=" + folder.resolve("four.npy"), "--fetch", "y");
        assertTrue(debug.err().contains("The operation was built at:\n  File \"a.py\", line 1, in <module>\n"),
                debug::err);
    }
}
