package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.text.PrintableWriter;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever command prints them, names and messages from files cannot control a terminal, forge lines or break pages.
 */
class HostileTextTest {
    /**
     * Terminals execute ESC, CR and C1 controls; bidirectional controls reorder text; line ends forge lines; NUL and
     * markup break files.
     */
    private static final String HOSTILE = "\u001b[2J\r\nFORGED "
            + "loss=0.0\n\u202e\u009b31m\u0000\u2028<script>\"]]>'&\u200b";
    private static final String SHOWN = "\\u001b[2J";

    @TempDir
    private Path folder = Path.of("");

    private Path main = Path.of("");
    private Path startup = Path.of("");
    private String input = "x" + HOSTILE.replace("=", "-").replace("\"", "");
    private String loss = "";

    @BeforeEach
    void write() throws IOException {
        Network network = Network.define(g -> {
            Value x = g.data(input, DType.FLOAT32, -1, 2);
            Value mean = g.linear(x, 1).mean();
            g.minimize(mean, Sgd.of(0.1));
            return Outputs.of("loss", mean);
        });
        String name = network.outputs().get("loss").name();
        loss = "loss" + HOSTILE;
        Program program = network.main();
        program.global().put(VarDesc.of(loss, VarType.dense(DType.FLOAT32)));
        program.global().add(OpDesc.of("print").in("In", name).out("Out", loss).attr("first_n", -1).attr("summarize", 1)
                .attr("message", HOSTILE).build());
        main = folder.resolve("main.pdmodel");
        startup = folder.resolve("startup.pdmodel");
        ProgramFiles.write(main, program);
        ProgramFiles.write(startup, network.startup());
        Npy.write(folder.resolve("x.npy"), Tensor.of(new float[]{1, 2, 3, 4}, 2, 2));
    }

    private CommandRun run(int code, Object... args) {
        CommandRun run = CommandRun.of(args);
        assertEquals(code, run.code(), run::err);
        requirePrintable(run.out());
        requirePrintable(run.err());
        return run;
    }

    private static void requirePrintable(String text) {
        assertEquals(Printable.lines(text), text.replace(System.lineSeparator(), "\n"));
        assertFalse(text.lines().anyMatch(line -> line.strip().startsWith("FORGED")), text);
    }

    private void requireFiles() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.filter(each -> each.toString().matches(".*\\.(svg|html|dot|json|jsonl|properties)"))
                    .toList()) {
                String text = Files.readString(file);
                assertEquals(Printable.lines(text), text, file::toString);
                assertFalse(text.contains("<script>\"]]"), file::toString);
            }
        }
    }

    @Test
    void show() throws IOException {
        assertTrue(run(0, "show", "--program", main, "--dot", folder.resolve("a.dot"), "--svg", folder.resolve("a.svg"))
                .out()
                .contains(SHOWN));
        run(0, "show", "--program", main, "--summary");
        assertTrue(run(0, "show", "--program", main, "--plan", "--fetch", loss, "--svg", folder.resolve("b.svg")).out()
                .contains(SHOWN));
        Program unknown = ProgramFiles.read(main);
        unknown.global().add(
                OpDesc.of("type" + HOSTILE).in("X" + HOSTILE, input).out("Out", "y").attr(HOSTILE, HOSTILE).build());
        ProgramFiles.write(main, unknown);
        CommandRun shown = run(0, "show", "--program", main, "--plan", "--svg", folder.resolve("c.svg"));
        assertTrue(shown.out().contains("? Out=y = type" + SHOWN) && shown.err().contains("type" + SHOWN), shown.out());
        requireFiles();
    }

    @Test
    void run() throws IOException {
        Object[] args = {"run", "--program", main, "--startup", startup, "--feed",
                input + "=" + folder.resolve("x.npy"), "--fetch", loss,
                "--out", folder, "--trace", folder.resolve("t.json"), "--report", folder.resolve("t.html")};
        CommandRun run = run(0, args);
        List<String> steps = run.out().lines().filter(line -> line.startsWith("step=1 ")).toList();
        assertEquals(1, steps.size(), run::out);
        assertTrue(steps.getFirst().matches("step=1 loss\\\\u001b\\S*=-?[0-9.E]+"), steps::toString);
        requireFiles();
        // Failures: a missing value, a failed condition, an unknown operation, a forbidden file.
        run(2, "run", "--program", main, "--fetch", loss, "--out", folder, "--debug");
        Program failing = ProgramFiles.read(main);
        failing.global().put(VarDesc.of(HOSTILE, VarType.dense(DType.BOOL, 1)));
        failing.global().add(
                OpDesc.of("fill_constant").out("Out", HOSTILE).attr("shape", new long[]{1}).attr("dtype", 0)
                        .attr("value", 0f).build());
        failing.global().add(OpDesc.of("assert").in("Cond", HOSTILE).in("Data", input)
                .attr("op_callstack", new String[]{HOSTILE}).build());
        ProgramFiles.write(main, failing);
        assertTrue(run(1, Stream.concat(Stream.of(args), Stream.of("--debug")).toArray()).err().contains(SHOWN));
        failing.global().add(OpDesc.of("save").in("X", input).attr("file_path", HOSTILE).build());
        ProgramFiles.write(main, failing);
        assertTrue(run(2, args).err().contains(SHOWN));
        failing.global().add(OpDesc.of("type" + HOSTILE).in("X", input).build());
        ProgramFiles.write(main, failing);
        Files.writeString(folder.resolve("bad" + "\u001b[2J" + ".pdmodel"), "no program");
        run(2, "run", "--program", folder.resolve("bad" + "\u001b[2J" + ".pdmodel"));
        run(2, "run", "--program", main, "--fetch", HOSTILE + "2");
        run(2, "dance" + HOSTILE);
        run(2, "run", "--" + HOSTILE);
    }

    @Test
    void train() throws IOException {
        Path out = folder.resolve("run");
        Object[] args = {"train", main, "--startup", startup, "--feed", input + "=" + folder.resolve("x.npy"), "--out",
                out, "--batch", 1,
                "--epochs", 2, "--steps", 2};
        run(0, args);
        requireFiles();
        Path settings = out.resolve("run.properties");
        assertFalse(Files.readString(settings).lines().anyMatch(line -> line.startsWith("FORGED")),
                "a name adds no settings");
        Files.writeString(settings, Files.readString(settings).replace("steps=2", "steps=3"));
        run(0, "train", "--resume", out);
        run(2, "train", main, "--startup", startup, "--feed", input + "=" + folder.resolve("x.npy"), "--loss",
                loss + "2", "--out",
                folder.resolve("other"));
    }

    @Test
    void doctor() {
        run(0, "doctor");
    }

    /** Surrogate pairs may arrive in two halves; line ends are the only control characters. */
    @Test
    void theWriterOfCommandsPassesNothingElse() {
        StringWriter text = new StringWriter();
        PrintWriter writer = new PrintableWriter(new PrintWriter(text));
        writer.write("\ud83d");
        writer.write("\ude00\u001b\t\ud83d");
        writer.flush();
        writer.println("\r|");
        writer.flush();
        assertEquals("\ud83d\ude00\\u001b\t\\ud83d\\u000d|" + System.lineSeparator(), text.toString());
        PrintableWriter.raw(writer).print("\r");
        PrintableWriter.raw(writer).flush();
        assertTrue(text.toString().endsWith("\r"));
    }

    /** Characters may arrive byte by byte. */
    @Test
    void theStandardErrorPassesNothingElse() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream stream = PrintableStream.of(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        String text = "ö変\ud83d\ude00\u001b\r|\u202e\n" + "é".repeat(2_000);
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            stream.write(each);
        }
        stream.println(text);
        stream.flush();
        String shown = "ö変\ud83d\ude00\\u001b\\u000d|\\u202e\n" + "é".repeat(2_000);
        assertEquals(shown + shown + "\n",
                bytes.toString(StandardCharsets.UTF_8).replace(System.lineSeparator(), "\n"));
    }

    /**
     * All output goes through the writers of commands, except for that of measuring child processes and of training
     * progress, which escapes its text itself.
     */
    @Test
    void nothingElseInTheCommandsPrints() throws IOException {
        Path sources = Path.of("src/main/java");
        List<String> known = List.of("bench/kernels/WarmUp.java", "bench/executor/Building.java",
                "bench/train/WorkProcess.java",
                "train/Session.java", "cli/Main.java", "cli/StandardOutput.java");
        try (Stream<Path> all = Files.walk(sources)) {
            for (Path file : all.filter(each -> each.toString().endsWith(".java")).toList()) {
                boolean prints = Files.readString(file)
                        .matches("(?s).*System\\.(out|err).*|(?s).*\\.printStackTrace\\(.*");
                assertFalse(prints && known.stream().noneMatch(file::endsWith), file::toString);
            }
        }
    }
}
