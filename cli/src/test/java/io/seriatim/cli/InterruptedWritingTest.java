package io.seriatim.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands whose process ends while they write a model: the old model is there or the new one, and nothing else. */
@EnabledOnOs(OS.LINUX) // Elsewhere Java notices new files only after seconds.
class InterruptedWritingTest {
    private static final int ROWS = 2048;
    private static final int COLUMNS = 4096;

    @TempDir
    private Path temp = Path.of("");
    private Path target = Path.of("");

    private static void save(Path prefix, int rows, int columns) throws IOException {
        Program program = new Program();
        Block block = program.global();
        block.put(VarDesc.of("w", VarType.dense(DType.FLOAT32, rows, columns)).persistent());
        block.put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, rows)));
        block.put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, columns)));
        block.add(OpDesc.of("matmul_v2").in("X", "x").in("Y", "w").out("Out", "y").build());
        InferenceModels.save(prefix, program, List.of("x"), List.of("y"),
                _ -> Tensor.of(values(rows * columns), rows, columns));
    }

    private static float[] values(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = i % 17 - 8;
        }
        return values;
    }

    @BeforeEach
    void write() throws IOException {
        save(temp.resolve("large"), ROWS, COLUMNS);
        Npy.write(temp.resolve("x.npy"), Tensor.of(values(ROWS), 1, ROWS));
        target = Files.createDirectory(temp.resolve("target"));
        for (String name : List.of("m.pdmodel", "m.json", "m.pdiparams", "m.onnx")) {
            Files.writeString(target.resolve(name), "old");
        }
    }

    /** The sizes of files by name; of a hidden one its name is enough. */
    private Map<String, Long> files() throws IOException {
        Map<String, Long> files = new TreeMap<>();
        try (Stream<Path> list = Files.list(target)) {
            for (Path each : list.toList()) {
                files.put(String.valueOf(each.getFileName()), Files.isDirectory(each) ? -1 : Files.size(each));
            }
        }
        return files;
    }

    private ChildProcess start(String command, String name) throws IOException {
        List<String> line = ChildProcess.java("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED");
        line.addAll(List.of("io.seriatim.cli.Main", command, temp.resolve("large.pdmodel").toString()));
        line.addAll(command.equals("convert")
                ? List.of(target.resolve(name).toString())
                : List.of("--calibrate", temp.resolve("x.npy").toString(), "--out", target.resolve(name).toString()));
        return ChildProcess.start(new ProcessBuilder(new ArrayList<>(line))
                .redirectError(temp.resolve("err.txt").toFile()));
    }

    /** Sends a signal as soon as something is written; returns the exit code. */
    private int ended(ChildProcess process, String signal, WatchService watch) throws Exception {
        for (boolean seen = false; !seen && process.isAlive();) {
            WatchKey key = watch.poll(100, TimeUnit.MILLISECONDS);
            for (WatchEvent<?> event : key == null ? List.<WatchEvent<?>>of() : key.pollEvents()) {
                seen |= String.valueOf(event.context()).startsWith(".");
            }
            if (key != null) {
                key.reset();
            }
        }
        process.signal(signal);
        return process.end();
    }

    @ParameterizedTest
    @CsvSource({"convert,m.pdmodel,INT", "convert,m.pdmodel,TERM", "convert,m.json,TERM", "convert,m.onnx,INT",
            "quantize,m.pdmodel,INT", "quantize,m.pdmodel,TERM", "quantize,m.json,INT"})
    void aSignalLeavesAllOrNothing(String command, String name, String signal) throws Exception {
        Map<String, Long> before = files();
        try (WatchService watch = target.getFileSystem().newWatchService();
                ChildProcess process = start(command, name)) {
            target.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            int code = ended(process, signal, watch);
            Map<String, Long> after = files();
            String told = Files.readString(temp.resolve("err.txt"));
            assertEquals(before.keySet(), after.keySet(), "files after " + code + ": " + told);
            Set<String> changed = new TreeSet<>(after.keySet());
            changed.removeIf(each -> Objects.equals(after.get(each), before.get(each)));
            // The signal may come after the publication.
            Set<String> all = new TreeSet<>(name.equals("m.onnx") ? Set.of(name) : Set.of(name, "m.pdiparams"));
            assertTrue(changed.isEmpty() || changed.equals(all), () -> "changed: " + changed);
            assertTrue(code == (signal.equals("INT") ? 130 : 143) || (code == 0 && changed.equals(all)),
                    () -> "ended with " + code + ": " + told);
        }
    }

    @Test
    void whatAKilledCommandLeftIsDeletedByTheNext() throws Exception {
        Map<String, Long> before = files();
        try (WatchService watch = target.getFileSystem().newWatchService();
                ChildProcess process = start("convert", "m.pdmodel")) {
            target.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            assertEquals(137, ended(process, "KILL", watch));
        }
        Map<String, Long> left = files();
        assertEquals(before.size() + 1, left.size(), left::toString);
        save(temp.resolve("small"), 2, 3);
        CommandRun run = CommandRun.of("convert", temp.resolve("small.pdmodel"), target.resolve("n.onnx"));
        assertEquals(0, run.code(), run::err);
        Map<String, Long> after = files();
        after.remove("n.onnx");
        assertEquals(before, after);
    }
}
