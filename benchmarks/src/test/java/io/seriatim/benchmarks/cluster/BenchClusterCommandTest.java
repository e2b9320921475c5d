package io.seriatim.benchmarks.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Two small ranks in processes of their own. */
class BenchClusterCommandTest {
    @TempDir
    private Path folder;

    @Test
    void measuresAndModels() throws Exception {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Path svg = folder.resolve("scale.svg");
        int code = new CommandLine(new BenchClusterCommand()).setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true))
                .execute("--quick", "--batch", "1", "--gbit", "4", "--delay", "0.1", "--scale", "--wires", "--svg",
                        svg.toString());
        assertEquals(0, code, err::toString);
        String text = out.toString();
        assertTrue(text.contains("names        2"), text);
        assertTrue(text.contains("Model: names, 4 Gbit/s, 100 µs"), text);
        assertTrue(text.contains("Model: names, 10 Gbit/s, 50 µs"), text);
        assertTrue(text.lines().anyMatch(line -> line.startsWith("1024 ")), text);
        // Rows for 64 KiB and 1 MiB: the rate of float32, and two rates with ratios.
        assertEquals(2, text.lines().filter(line -> line.matches("2 +(64|1024)( +[0-9]+)( +[0-9]+ +[0-9.]+){2}"))
                .count(), text);
        String drawn = Files.readString(svg);
        assertTrue(drawn.startsWith("<svg ") && drawn.endsWith("</svg>\n"), drawn);
        assertEquals(6, drawn.split("<polyline", -1).length - 1, drawn);
    }

    @Test
    void comparesWithPeersThatAreInstalled() {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        String python = folder.resolve("python").toString();
        int code = new CommandLine(new BenchClusterCommand()).setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true)).execute("--peers", "--quick", "--batch", "1", "--python", python);
        assertEquals(0, code, err::toString);
        assertTrue(err.toString().contains("Gloo: '" + python + "' cannot be started; not compared"), err::toString);
        String text = out.toString();
        // Rates of both wires, and nothing of Gloo.
        assertEquals(2, text.lines().filter(line -> line.matches("2 +(4|64) +[0-9]+ +[0-9]+ +– +– +– .*")).count(),
                text);
        assertTrue(text.lines().anyMatch(line -> line.matches("names +2 +[0-9.]+ +[0-9.]+ +[0-9.]+ +– +–.*")), text);
    }
}
