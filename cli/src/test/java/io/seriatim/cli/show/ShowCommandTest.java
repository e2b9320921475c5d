package io.seriatim.cli.show;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ShowCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder = Path.of("");

    private int show(Object... args) {
        String[] texts = new String[args.length];
        for (int i = 0; i < args.length; i++) {
            texts[i] = args[i].toString();
        }
        return new CommandLine(ShowCommand.class).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
                .execute(texts);
    }

    private Path model() throws IOException {
        Network network = Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 4);
            Value loss = g.linear(x, 3).relu().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        Path file = folder.resolve("model.pdmodel");
        network.main().global().add(OpDesc.of("from_elsewhere").in("X", "x").out("Out", "z").build());
        ProgramFiles.write(file, network.main());
        return file;
    }

    @Test
    void printsAndSummarisesAndMarksWhatIsNotKnown() throws IOException {
        assertEquals(0, show("--program", model(), "--batch", 8), err::toString);
        String text = out.toString();
        assertTrue(text.contains("var x : float32[-1, 4]"), text);
        assertTrue(text.contains("Out=linear_1.tmp_0 = matmul_v2(X=x, Y=linear_0.w_0)"), text);
        assertTrue(text.lines().anyMatch(line -> line.startsWith("? Out=z = from_elsewhere(")), text);
        assertTrue(text.contains("parameters   2 with 15 elements"), text);
        assertTrue(text.lines().anyMatch(line -> line.contains("1 from_elsewhere  ? not known")), text);
        assertTrue(text.lines().anyMatch(line -> line.strip().equals("2 sgd")), text);
    }

    @Test
    void leavesOutWhatEveryOperationHas() throws IOException {
        Network network = Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 4);
            return Outputs.of("y", g.linear(x, 3).softmax(1));
        });
        Program exported = InferenceModels.export(network.main(), List.of("x"),
                List.of(network.outputs().get("y").name()));
        OpDesc last = exported.global().ops().getLast();
        exported.global().set(exported.global().ops().size() - 1,
                last.with("op_callstack", new String[]{"a line of Python"}));
        Path file = folder.resolve("inference.pdmodel");
        ProgramFiles.write(file, exported);
        assertEquals(0, show("--program", file, "--batch", Long.MAX_VALUE), err::toString);
        String text = out.toString();
        assertTrue(text.lines().anyMatch(line -> line.endsWith("= softmax(X=linear_1.tmp_1) {axis=1}")), text);
        assertFalse(text.contains("Python") || text.contains("op_device"), text);
        assertTrue(text.contains("parameters   2 with 15 elements"), text);
        assertFalse(text.contains(" -9"), text);
    }

    /** The name of a model is enough, also if the model cannot be run or its parameters are missing. */
    @Test
    void showsAModelByItsName() throws IOException {
        model();
        assertEquals(0, show("--program", folder.resolve("model")), err::toString);
        assertTrue(out.toString().startsWith("runs: no"), out.toString());
        assertTrue(out.toString().contains("unknown  'from_elsewhere'"), out.toString());
        assertTrue(out.toString().contains("var x : float32[-1, 4]"), out.toString());
    }

    private List<String> verdict(Program program) throws IOException {
        Path file = folder.resolve("verdict.pdmodel");
        ProgramFiles.write(file, program);
        out.getBuffer().setLength(0);
        assertEquals(0, show("--program", file, "--summary"), err::toString);
        return out.toString().lines().takeWhile(line -> !line.isEmpty()).toList();
    }

    @Test
    void saysThatAProgramRuns() throws IOException {
        Network network = Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 4);
            Value loss = g.linear(x, 3).relu().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        assertEquals(List.of("runs: yes"), verdict(network.main()));
        assertEquals(List.of("runs: yes"), verdict(network.startup()));
    }

    @Test
    void saysAllThatKeepsAProgramFromRunning() throws IOException {
        Network network = Network
                .define(g -> Outputs.of("y", g.linear(g.data("x", DType.FLOAT32, -1, 4), 3)));
        Program program = network.main();
        program.global().put(VarDesc.of("z", VarType.dense(DType.FLOAT32, -1)))
                .add(OpDesc.of("second").in("X", "x").out("Out", "z").build())
                .add(OpDesc.of("first\u001b[2J").in("X", "x").out("Out", "z").build())
                .add(OpDesc.of("second").in("X", "x").out("Out", "z").build())
                .add(OpDesc.of("unique").in("X", "x").out("Out", "z").attr("is_sorted", false).build())
                .add(OpDesc.of("softmax").in("X", "x").out("Out", "z").attr("axis", "last").build())
                .add(OpDesc.of("softmax").in("X", "x").out("Out", "z").attr("axis", 7).build())
                .add(OpDesc.of("concat").in("X", "x", "z").out("Out", "z").build())
                .add(OpDesc.of("relu").in("X", "x").out("Out", "z").attr("op_device", "sim:9999").build())
                .add(OpDesc.of("tanh").in("X", "x").out("Out", "z").attr("op_device", "gpu:1").build());
        Block inner = program.addBlock(0, null);
        inner.add(OpDesc.of("hidden").in("X", "x").out("Out", "z").build());
        List<String> lines = verdict(program);
        int first = program.global().ops().size() - 9;
        assertEquals("runs: no", lines.getFirst());
        assertEquals("  unknown  'second' (operation " + first + " of block 0, 2 in all)", lines.get(1));
        assertTrue(lines.get(2).startsWith("  unknown  'first"), lines.get(2));
        assertFalse(out.toString().contains("\u001b"), out.toString());
        assertEquals("  unknown  'hidden' (operation 0 of block 1)", lines.get(3));
        assertTrue(lines.get(4).startsWith("  refused  'unique' (operation " + (first + 3)
                + " of block 0): only the sorted elements"), lines.get(4));
        assertTrue(lines.get(5).startsWith("  misfit   'softmax' (operation " + (first + 4)
                + " of block 0, 2 in all): ") && lines.get(5).contains("'axis'") && lines.get(5).contains("last"),
                lines.get(5));
        assertTrue(lines.get(6).startsWith("  misfit   'concat' (operation " + (first + 6) + " of block 0): "),
                lines.get(6));
        assertTrue(lines.get(7).startsWith("  place    'relu' (operation " + (first + 7)
                + " of block 0): it asks for the place 'sim:9999', but there are [cpu, sim:0"), lines.get(7));
        assertEquals(8, lines.size(), lines::toString);
    }

    @Test
    void draws() throws IOException {
        Path dot = folder.resolve("deep/er/model.dot");
        Path svg = folder.resolve("model.svg");
        assertEquals(0, show("--program", model(), "--summary", "--dot", dot, "--svg", svg), err::toString);
        assertTrue(Files.readString(dot).startsWith("digraph program {"), "a graph");
        String picture = Files.readString(svg);
        assertTrue(picture.startsWith("<svg ") && picture.contains(">matmul_v2</text>")
                && picture.contains("? from_elsewhere"), picture);
    }

    @Test
    void printsAndDrawsThePlan() throws IOException {
        Network network = Network
                .define(g -> Outputs.of("y", g.linear(g.data("x", DType.FLOAT32, -1, 4), 3).tanh().softmax(1)));
        Path file = folder.resolve("inference.pdmodel");
        ProgramFiles.write(file,
                InferenceModels.export(network.main(), List.of("x"), List.of(network.outputs().get("y").name())));
        Path svg = folder.resolve("plan.svg");
        assertEquals(0, show("--program", file, "--plan", "--place", "sim:0", "--batch", 5, "--svg", svg),
                err::toString);
        String text = out.toString();
        assertTrue(text.startsWith("plan of ") && text.contains(", on sim:0 with 1 thread"), text);
        assertTrue(text.contains("matmul_v2+elementwise_add+tanh  sim:0  matmul (") && text.contains("float32 [5, 4]"),
                text);
        assertTrue(text.contains("memcpy_d2h") && text.contains("\n6 memory: "), text);
        assertFalse(text.contains("computation  "), text);
        String picture = Files.readString(svg);
        assertTrue(picture.startsWith("<svg ") && picture.contains("Arena of sim:0"), picture);
    }

    @Test
    void whatIsNotKnownHasNoPlanButIsPrinted() throws IOException {
        assertEquals(0, show("--program", model(), "--plan"));
        assertTrue(out.toString().lines().anyMatch(line -> line.startsWith("? Out=z = from_elsewhere(")),
                out.toString());
        assertEquals("There is no plan, since operation types are not known: from_elsewhere", err.toString().strip());
    }

    @Test
    void saysWhatIsWrongWithAPlan() throws IOException {
        Network network = Network.define(g -> Outputs.of("y", g.linear(g.data("x", DType.FLOAT32, -1, 4), 3)));
        Path file = folder.resolve("linear.pdmodel");
        ProgramFiles.write(file, network.main());
        for (List<Object> wrong : List.<List<Object>>of(List.of("--fetch", "nothing"), List.of("--place", "sim:x"),
                List.of("--place", "nowhere"), List.of("--threads", 0))) {
            assertEquals(2, show("--program", file, "--plan", wrong.getFirst(), wrong.getLast()), wrong::toString);
            assertTrue(err.toString().contains(wrong.getLast().toString()), err.toString());
            err.getBuffer().setLength(0);
        }
    }

    @Test
    void saysWhatIsWrongWithAFile() throws IOException {
        Path file = folder.resolve("cut.pdmodel");
        byte[] bytes = Files.readAllBytes(model());
        Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
        assertEquals(2, show("--program", file));
        assertTrue(err.toString().contains("cut.pdmodel, byte "), err.toString());
        assertEquals(2, show("--program", folder.resolve("none.pdmodel")));
        assertTrue(err.toString().contains("There is no file"), err.toString());
    }
}
