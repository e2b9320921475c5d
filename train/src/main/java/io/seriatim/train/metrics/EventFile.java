package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import com.google.protobuf.CodedOutputStream;
import io.seriatim.train.TrainingListener;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes a TensorBoard event file with the scalars {@code train/loss}, {@code train/rate} and {@code train/} with the
 * name of each metric of a step, {@code throughput/} with the unit (units per second of the step),
 * {@code validation/loss} and {@code validation/} with the name of each metric. Scalars of steps are flushed at least
 * once a second while steps run, and at each evaluation, checkpoint and the end.
 * <p>
 * The format is TensorFlow's: records as in record_writer.h (length, CRC of the length, data, CRC of the data, all
 * little endian, each CRC-32C rotated by 15 and increased by 0xa282ead8), with messages {@code Event} of event.proto as
 * data, and scalars as {@code simple_value} of summary.proto. A resumed training writes a new file, which begins with a
 * session start that invalidates the later steps of other files in the folder.
 */
public final class EventFile implements TrainingListener, AutoCloseable {
    private static final int EVENT_WALL_TIME = 1;
    private static final int EVENT_STEP = 2;
    private static final int EVENT_FILE_VERSION = 3;
    private static final int EVENT_SUMMARY = 5;
    private static final int EVENT_SESSION_LOG = 7;
    private static final int SESSION_STATUS = 1;
    private static final int SESSION_START = 1;
    private static final int SUMMARY_VALUE = 1;
    private static final int VALUE_TAG = 1;
    private static final int VALUE_SIMPLE = 2;
    private static final int CRC_MASK = 0xa282ead8;
    private static final long FLUSH_MILLIS = 1000;

    private final Path folder;
    private final LongSupplier millis;
    private Path file;
    private @Nullable OutputStream out;
    private long flushed;
    private String speed = "throughput/units";

    /**
     * Creates a listener; the file {@code events.out.tfevents.<seconds since 1970>.seriatim} is created when the
     * training starts.
     *
     * @param folder
     *            the folder, which must exist when the training starts
     */
    public EventFile(Path folder) {
        this(folder, System::currentTimeMillis);
    }

    EventFile(Path folder, LongSupplier millis) {
        this.folder = folder;
        this.file = folder;
        this.millis = millis;
    }

    @Override
    public void started(Started started) throws IOException {
        close();
        out = new BufferedOutputStream(open(millis.getAsLong() / 1000), 1 << 16);
        speed = "throughput/" + started.unit();
        event(0, event -> event.writeString(EVENT_FILE_VERSION, "brain.Event:2"));
        if (started.firstStep() > 0) {
            byte[] start = message(session -> session.writeEnum(SESSION_STATUS, SESSION_START));
            event(started.firstStep() + 1, event -> event.writeByteArray(EVENT_SESSION_LOG, start));
        }
        flush();
    }

    /**
     * Creates a new file, even if another was created in the same second. TensorBoard reads the files in the order of
     * their names.
     */
    private OutputStream open(long second) throws IOException {
        String name = "events.out.tfevents." + second + ".seriatim";
        for (@Var
        int n = 1;; n++) {
            file = folder.resolve(n == 1 ? name : name + "." + n);
            try {
                return Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            } catch (FileAlreadyExistsException e) {
                if (n == 9) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void step(Step step) throws IOException {
        Map<String, Double> scalars = new LinkedHashMap<>();
        scalars.put("train/loss", step.loss());
        step.metrics().forEach((name, value) -> scalars.put("train/" + name, value));
        if (!Double.isNaN(step.rate())) {
            scalars.put("train/rate", step.rate());
        }
        scalars.put(speed, step.units() / step.seconds());
        scalars(step.step(), scalars);
        if (millis.getAsLong() - flushed >= FLUSH_MILLIS) {
            flush();
        }
    }

    @Override
    public void evaluated(Evaluation evaluation) throws IOException {
        Map<String, Double> scalars = new LinkedHashMap<>();
        scalars.put("validation/loss", evaluation.loss());
        evaluation.metrics().forEach((name, value) -> scalars.put("validation/" + name, value));
        scalars(evaluation.step(), scalars);
        flush();
    }

    @Override
    public void saved(long step, Path checkpoint) throws IOException {
        flush();
    }

    @Override
    public void ended(End end, long step) throws IOException {
        flush();
    }

    /** Flushes and closes the file. Later events throw until another training starts. */
    @Override
    public void close() throws IOException {
        OutputStream open = out;
        out = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                throw NotWritten.of(file, e);
            }
        }
    }

    private void flush() throws IOException {
        flushed = millis.getAsLong();
        OutputStream open = stream();
        try {
            open.flush();
        } catch (IOException e) {
            throw NotWritten.of(file, e);
        }
    }

    private OutputStream stream() {
        OutputStream open = out;
        if (open == null) {
            throw new IllegalStateException(
                    "A training must have started before its events are written to " + folder + ": call started first");
        }
        return open;
    }

    private void scalars(long step, Map<String, Double> scalars) throws IOException {
        byte[] summary = message(values -> {
            for (Map.Entry<String, Double> scalar : scalars.entrySet()) {
                values.writeByteArray(SUMMARY_VALUE, message(value -> {
                    value.writeString(VALUE_TAG, scalar.getKey());
                    value.writeFloat(VALUE_SIMPLE, scalar.getValue().floatValue());
                }));
            }
        });
        event(step, event -> event.writeByteArray(EVENT_SUMMARY, summary));
    }

    private void event(long step, Content content) throws IOException {
        record(message(event -> {
            event.writeDouble(EVENT_WALL_TIME, millis.getAsLong() / 1e3);
            event.writeInt64(EVENT_STEP, step);
            content.write(event);
        }));
    }

    private void record(byte[] data) throws IOException {
        ByteBuffer framed = ByteBuffer.allocate(data.length + 16).order(ByteOrder.LITTLE_ENDIAN);
        framed.putLong(data.length).putInt(maskedCrc(framed.array(), 8)).put(data).putInt(maskedCrc(data, data.length));
        OutputStream open = stream();
        try {
            open.write(framed.array());
        } catch (IOException e) {
            throw NotWritten.of(file, e);
        }
    }

    private static int maskedCrc(byte[] data, int length) {
        CRC32C crc = new CRC32C();
        crc.update(data, 0, length);
        return Integer.rotateRight((int) crc.getValue(), 15) + CRC_MASK;
    }

    /** Writes the fields of a message. */
    private interface Content {
        void write(CodedOutputStream out) throws IOException;
    }

    private static byte[] message(Content content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream coded = CodedOutputStream.newInstance(bytes, 256);
        content.write(coded);
        coded.flush();
        return bytes.toByteArray();
    }
}
