package io.seriatim.train.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.TrainingListener.Step;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads the files with an independent reader, which verifies the checksums. */
final class EventFileTest {
    @TempDir
    Path folder;
    private long now = 1_753_776_000_250L;

    private EventFile events() {
        return new EventFile(folder, () -> now);
    }

    private Path file(String suffix) {
        return folder.resolve("events.out.tfevents.1753776000.seriatim" + suffix);
    }

    @Test
    void aTrainingAsTensorBoardReadsIt() throws IOException {
        try (EventFile events = events()) {
            events.started(Runs.started(0, 2));
            now += 500;
            events.step(new Step(1, 1, 2.5, Map.of("accuracy", 0.25), 1e-3, 0.5, 64));
            events.step(new Step(300, 1, Double.NaN, Map.of(), Double.NaN, 0.25, 64));
            events.evaluated(new Evaluation(300, 1, 1.5, Map.of("accuracy", 0.75), true, 1));
            events.ended(End.DONE, 300);
        }
        assertEquals(List.of(
                "1.75377600025E9 step 0 version brain.Event:2",
                "1.75377600075E9 step 1 train/loss 2.5 train/accuracy 0.25 train/rate 0.001 throughput/images 128.0",
                "1.75377600075E9 step 300 train/loss NaN throughput/images 256.0",
                "1.75377600075E9 step 300 validation/loss 1.5 validation/accuracy 0.75"), read(file("")));
    }

    @Test
    void aContinuedTrainingVoidsTheStepsToCome() throws IOException {
        try (EventFile events = events()) {
            events.started(Runs.started(0, 9));
            events.step(Runs.step(1));
            events.started(Runs.started(7, 9));
            events.started(Runs.started(7, 9));
        }
        assertEquals(2, read(file("")).size());
        assertEquals(List.of("1.75377600025E9 step 0 version brain.Event:2", "1.75377600025E9 step 8 start"),
                read(file(".2")));
        assertEquals(read(file(".2")), read(file(".3")));
    }

    @Test
    void whatIsWrittenIsThereWithinASecondOfSteps() throws IOException {
        try (EventFile events = events()) {
            events.started(Runs.started(0, 9));
            assertEquals(1, read(file("")).size());
            now += 999;
            events.step(Runs.step(1));
            assertEquals(1, read(file("")).size());
            now += 1;
            events.step(Runs.step(2));
            assertEquals(3, read(file("")).size());
            events.step(Runs.step(3));
            events.saved(3, folder);
            assertEquals(4, read(file("")).size());
        }
    }

    @Test
    void nothingIsWrittenBeforeTheBeginning() throws IOException {
        try (EventFile events = events()) {
            assertThrows(IllegalStateException.class, () -> events.step(Runs.step(1)));
        }
    }

    @Test
    void theChecksumOfThisTestIsTheOneOfTheStandard() {
        assertEquals(0xe3069283, crc("123456789".getBytes(StandardCharsets.US_ASCII)));
    }

    private static List<String> read(Path file) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        List<String> events = new ArrayList<>();
        while (in.hasRemaining()) {
            byte[] length = taken(in, 8);
            assertEquals(masked(crc(length)), in.getInt(), "of the length");
            byte[] data = taken(in, (int) ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).getLong());
            assertEquals(masked(crc(data)), in.getInt(), "of the data");
            events.add(event(ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN)));
        }
        return events;
    }

    private static String event(ByteBuffer in) {
        StringBuilder out = new StringBuilder();
        while (in.hasRemaining()) {
            int tag = (int) varint(in);
            switch (tag) {
                case 1 << 3 | 1 -> out.append(in.getDouble());
                case 2 << 3 -> out.append(" step ").append(varint(in));
                case 3 << 3 | 2 -> out.append(" version ").append(text(in));
                case 5 << 3 | 2 -> out.append(summary(part(in)));
                case 7 << 3 | 2 -> {
                    ByteBuffer session = part(in);
                    assertEquals(1 << 3, varint(session));
                    assertEquals(1, varint(session));
                    out.append(" start");
                }
                default -> throw new AssertionError("Unexpected tag " + tag);
            }
        }
        return out.toString();
    }

    private static String summary(ByteBuffer in) {
        StringBuilder out = new StringBuilder();
        while (in.hasRemaining()) {
            assertEquals(1 << 3 | 2, varint(in));
            ByteBuffer value = part(in);
            assertEquals(1 << 3 | 2, varint(value));
            out.append(' ').append(text(value));
            assertEquals(2 << 3 | 5, varint(value));
            out.append(' ').append(value.getFloat());
            assertTrue(!value.hasRemaining(), "a value has two fields");
        }
        return out.toString();
    }

    private static ByteBuffer part(ByteBuffer in) {
        return ByteBuffer.wrap(taken(in, (int) varint(in))).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static String text(ByteBuffer in) {
        return new String(taken(in, (int) varint(in)), StandardCharsets.UTF_8);
    }

    private static byte[] taken(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0;; shift += 7) {
            byte b = in.get();
            value |= (b & 0x7fL) << shift;
            if (b >= 0) {
                return value;
            }
        }
    }

    private static int masked(int crc) {
        return (int) ((((crc & 0xffffffffL) >> 15) | ((long) crc << 17)) + 0xa282ead8L);
    }

    /** CRC-32C, bit by bit, with the reversed Castagnoli polynomial. */
    private static int crc(byte[] data) {
        int crc = -1;
        for (byte b : data) {
            crc ^= b & 0xff;
            for (int i = 0; i < 8; i++) {
                crc = (crc >>> 1) ^ ((crc & 1) == 0 ? 0 : 0x82f63b78);
            }
        }
        return ~crc;
    }
}
