package io.seriatim.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes operations to a timeline in the Trace Event Format, which Perfetto and Chrome's tracing page can open. Each
 * lane is a process and each thread a track. The arguments of a slice say how long, in microseconds, the operation
 * waited for other operations and for a worker. Created by {@link Recorder#trace}.
 *
 * <p>
 * Events are written to a temporary file in the same folder; {@link #close} completes that file and moves it to the
 * given path.
 */
public final class TraceFile implements Recorder, AutoCloseable {
    private final Path file;
    private final Path partial;
    @GuardedBy("this")
    private final Map<String, Integer> processes = new HashMap<>();
    @GuardedBy("this")
    private final Map<String, Integer> tracks = new HashMap<>();
    private final long origin = System.nanoTime();
    @GuardedBy("this")
    private @Nullable Writer writer;
    @GuardedBy("this")
    private boolean closed;

    TraceFile(Path file) {
        this.file = Objects.requireNonNull(file, "file").toAbsolutePath();
        partial = this.file.resolveSibling(this.file.getFileName() + ".partial");
    }

    @Override
    public synchronized void ended(OpRecord op) {
        if (closed) {
            return;
        }
        try {
            int process = idOf(processes, op.lane().toString(), "process_name", 0);
            int track = idOf(tracks, op.thread(), "thread_name", process);
            event(String.format(Locale.ROOT,
                    "{\"name\":%s,\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"outcome\":\"%s\",\"dependency_wait_us\":%.3f,\"queue_wait_us\":%.3f}}",
                    quoted(op.name()), op.kind(), process, track, micros(op.started() - origin),
                    micros(op.ended() - op.started()),
                    op.outcome(),
                    micros(op.ready() - op.pushed()), micros(op.started() - op.ready())));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the trace " + partial, e);
        }
    }

    @GuardedBy("this")
    private int idOf(Map<String, Integer> ids, String name, String kind, int process) throws IOException {
        Integer known = ids.get(process + " " + name);
        if (known != null) {
            return known;
        }
        int id = ids.size() + 1;
        ids.put(process + " " + name, id);
        boolean isProcess = process == 0;
        event(String.format(Locale.ROOT, "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":%s}}",
                kind,
                isProcess ? id : process,
                isProcess ? 0 : id, quoted(name)));
        return id;
    }

    @GuardedBy("this")
    private void event(String json) throws IOException {
        Writer w = writer;
        if (w == null) {
            w = Files.newBufferedWriter(partial, StandardCharsets.UTF_8);
            writer = w;
            w.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        } else {
            w.write(",\n");
        }
        w.write(json);
    }

    private static double micros(long nanos) {
        return nanos / 1e3;
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                json.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    /**
     * Completes the temporary file and moves it to the given path. Operations that end later are ignored; a second call
     * has no effect.
     *
     * @throws IOException
     *             if the file cannot be written
     */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        Writer w = writer;
        if (w == null) {
            Files.writeString(partial, "{\"traceEvents\":[");
        }
        try (Writer last = w == null
                ? Files.newBufferedWriter(partial, StandardCharsets.UTF_8, StandardOpenOption.APPEND)
                : w) {
            last.write("\n]}\n");
        }
        Files.move(partial, file, StandardCopyOption.REPLACE_EXISTING);
    }
}
