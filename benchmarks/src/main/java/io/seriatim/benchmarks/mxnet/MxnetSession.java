package io.seriatim.benchmarks.mxnet;

import io.seriatim.benchmarks.common.PeerFolder;
import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.engine.EnginePeer;
import io.seriatim.benchmarks.engine.ResultCheck;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The library in a separate JVM, because its number of workers is set by the environment before it is loaded, and one
 * benchmark compares two numbers. Each run has one input line, {@code WORKLOAD OPS}, and one output line,
 * {@code ran NANOS OPERATIONS}; other output is ignored.
 */
final class MxnetSession implements EnginePeer.Session {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final Pattern RAN = Pattern.compile("ran (?<nanos>\\d+) (?<operations>\\d+)");
    private static final String GONE = "gone";

    private final Process process;
    private final PrintWriter in;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private MxnetSession(Process process) {
        this.process = process;
        in = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("mxnet-output").start(() -> forward(out, lines));
    }

    static MxnetSession start(Path library, int workers) throws PeerUnavailableException, InterruptedException {
        Path folder = Objects.requireNonNull(library.getParent(), "folder");
        String classPath = PeerFolder.classPathOf(MxnetChild.class).toString();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder = new ProcessBuilder(
                List.of(java, "--enable-native-access=ALL-UNNAMED", "-cp", classPath, MxnetChild.class.getName(),
                        library.toString()));
        builder.environment().put("OMP_NUM_THREADS", "1");
        builder.environment().put("MXNET_CPU_WORKER_NTHREADS", Integer.toString(workers));
        builder.environment().put("LD_LIBRARY_PATH", folder.toString());
        builder.directory(folder.toFile()).redirectError(folder.resolveSibling("mxnet-" + workers + ".log").toFile());
        try {
            MxnetSession session = new MxnetSession(builder.start());
            try {
                session.await("ready");
                return session;
            } catch (PeerUnavailableException | InterruptedException e) {
                session.close();
                throw e;
            }
        } catch (IOException e) {
            throw new PeerUnavailableException("a JVM for it did not start: " + e.getMessage(), e);
        }
    }

    @Override
    public EnginePeer.Timing run(String workload, int ops, int spin)
            throws PeerUnavailableException, InterruptedException {
        if (spin > 0) {
            throw new PeerUnavailableException(
                    "its operations have an empty body, so it cannot take part with --spin " + spin);
        }
        in.println(workload + " " + ops);
        Matcher ran = RAN.matcher(await("ran "));
        if (!ran.matches()) {
            throw new PeerUnavailableException("its JVM answered with a malformed line");
        }
        return new EnginePeer.Timing(Long.parseLong(ran.group("nanos")), Long.parseLong(ran.group("operations")),
                ResultCheck.EMPTY_BODY);
    }

    /** Skips lines until one has the expected prefix. */
    private String await(String beginning) throws PeerUnavailableException, InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new PeerUnavailableException("its JVM did not answer within " + LIMIT.toMinutes() + " minutes");
            }
            if (line.equals(GONE)) {
                throw new PeerUnavailableException("its JVM has ended: see the mxnet logs in benchmarks/target/peers");
            }
            if (line.startsWith(beginning)) {
                return line;
            }
        }
    }

    private static void forward(BufferedReader from, BlockingQueue<String> to) {
        try (from) {
            from.lines().forEach(to::add);
        } catch (IOException | UncheckedIOException e) {
            // The process ended while it wrote.
        } finally {
            to.add(GONE);
        }
    }

    /** The end of the input stops the child; this does not wait for a library that hangs at exit. */
    @Override
    public void close() {
        in.close();
        try {
            process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }
}
