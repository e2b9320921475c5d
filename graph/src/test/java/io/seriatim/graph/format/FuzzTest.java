package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.graph.util.ByteSource;
import io.seriatim.tensor.Tensor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** 120,000 damaged files. */
class FuzzTest {
    private static final long SEED = 20261121;
    private static final int PROGRAMS = 60_000;
    private static final int STREAMS = 20_000;

    /** Small programs, and one with all that a program can have. */
    private static List<byte[]> programs() {
        Map<String, Tensor> exports = GoldenFiles.entries("exports");
        List<byte[]> programs = new ArrayList<>();
        for (String name : List.of("targets/main", "cut/main", "without_parameters/inference", "in_place/main")) {
            programs.add(GoldenFiles.bytes(exports, name));
        }
        byte[] everything = ProgramFiles.toBytes(ProgramFilesTest.everything());
        programs.addAll(List.of(everything, everything, everything, everything));
        return programs;
    }

    private static List<byte[]> streams() {
        Map<String, Tensor> exports = GoldenFiles.entries("exports");
        return List.of("float32", "bool", "scalar", "empty", "lod").stream()
                .map(name -> GoldenFiles.bytes(exports, "stream/" + name))
                .toList();
    }

    private static void assertAllWell(int count, List<byte[]> good, Fuzzing.Reader reader) {
        Fuzzing.Outcome outcome = Fuzzing.run(SEED, count, good, reader);
        assertEquals(List.of(), outcome.wrong());
        assertTrue(outcome.refused() > count / 5 && outcome.refused() < count,
                "of " + count + " with seed " + SEED + " refused: " + outcome.refused());
    }

    /**
     * A program that is read from damaged bytes is valid: it can be written and read, and then gives the same bytes
     * again.
     */
    @Test
    void programsAreReadOrRefused() {
        assertAllWell(PROGRAMS, programs(), bytes -> {
            Program program = ProgramFiles.parse("fuzz", bytes);
            byte[] written = ProgramFiles.toBytes(program);
            assertArrayEquals(written, ProgramFiles.toBytes(ProgramFiles.parse("written", written)));
        });
    }

    @Test
    void streamsAreReadOrRefused() {
        assertAllWell(STREAMS, streams(),
                bytes -> readStream(
                        new ByteSource("fuzz", Channels.newChannel(new ByteArrayInputStream(bytes)), bytes.length)));
    }

    private static void readStream(ByteSource source) throws IOException {
        for (TensorStreams.LodTensor each : new TensorReader(source).readAll(List.of("x"))) {
            each.tensor().close();
        }
    }

    @Test
    void combinedStreamsAreReadOrRefused() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] stream : streams()) {
            all.write(stream);
        }
        int count = streams().size();
        assertAllWell(STREAMS, List.of(all.toByteArray()), bytes -> {
            for (TensorStreams.LodTensor each : TensorStreams.readAll("fuzz", new ByteArrayInputStream(bytes),
                    bytes.length, count)) {
                each.tensor().close();
            }
        });
    }

    @Test
    void rowsAreReadOrRefused() {
        byte[] rows = GoldenFiles.bytes(GoldenFiles.entries("exports"), "stream/rows");
        assertAllWell(STREAMS, List.of(rows), bytes -> {
            SelectedRows read = TensorStreams.readRows("fuzz", new ByteArrayInputStream(bytes), bytes.length);
            read.rows().close();
            read.values().close();
        });
    }

    /**
     * A planted fault: a reader that believes sizes. It does refuse the bytes, but only after it has taken memory for
     * what they promise.
     */
    @Test
    void findsAReaderThatBelievesSizes() {
        long promised = 64L << 20;
        Fuzzing.Outcome outcome = Fuzzing.run(SEED, STREAMS, streams(),
                bytes -> readStream(new ByteSource("fuzz", Channels.newChannel(new ByteArrayInputStream(bytes)),
                        bytes.length + promised)));
        assertTrue(outcome.wrong().stream().anyMatch(each -> each.contains("bytes of memory for")),
                "the fault is found: " + outcome.wrong());
    }

    /** Another: a reader that forgets what it has read when the rest is wrong. */
    @Test
    void findsAReaderThatLosesMemory() {
        List<Tensor> lost = new ArrayList<>();
        Fuzzing.Outcome outcome = Fuzzing.run(SEED, STREAMS, streams(), bytes -> {
            lost.add(Tensor.of(new float[1000]));
            readStream(new ByteSource("fuzz", Channels.newChannel(new ByteArrayInputStream(bytes)), bytes.length));
        });
        lost.forEach(Tensor::close);
        assertTrue(outcome.wrong().getFirst().contains("bytes of memory allocated"),
                "the fault is found: " + outcome.wrong());
    }
}
