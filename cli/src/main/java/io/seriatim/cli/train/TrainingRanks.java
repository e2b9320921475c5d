package io.seriatim.cli.train;

import io.seriatim.cluster.Cluster;
import io.seriatim.cluster.ClusterOptions;
import io.seriatim.cluster.Rendezvous;
import io.seriatim.cluster.Tls;
import io.seriatim.graph.parallel.CommunicationException;
import io.seriatim.graph.util.Printable;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The ranks of a training: this process, connected with the others, and those that it has started itself.
 *
 * <p>
 * The launcher is rank 0. It starts the other ranks with its own command line, tells them by an option where they meet,
 * a folder that only this user may enter, and gives them the secret in their environment, which other users cannot
 * read. A rank that ends before the training does is noticed twice: the transport fails on all ranks at their next
 * collective, and if this process does not come to one, it is ended.
 */
final class TrainingRanks implements AutoCloseable {
    /** The variable of the environment with the secret that all ranks share. */
    static final String SECRET = "SERIATIM_SECRET";

    /** The variable of the environment with the password of key stores. */
    static final String TLS_PASSWORD = "SERIATIM_TLS_PASSWORD";

    private static final Duration JOIN_LIMIT = Duration.ofMinutes(2);
    private static final long CHILD_SECONDS = 3;
    private static final long FAILED_SECONDS = 6;
    private static final int SECRET_BYTES = 32;
    /** Addresses of Unix-domain sockets have about 108 bytes. */
    private static final int MOST_FOLDER_BYTES = 70;

    private final int rank;
    private final int ranks;
    private final PrintWriter err;
    private final List<Process> children = new ArrayList<>();
    private @Nullable Path folder;
    private @Nullable Cluster cluster;
    /** The thread that joins, while it does. */
    private @Nullable Thread joining;
    private boolean ended;

    private TrainingRanks(int rank, int ranks, PrintWriter err) {
        this.rank = rank;
        this.ranks = ranks;
        this.err = err;
    }

    /** Returns this process alone. */
    static TrainingRanks alone(PrintWriter err) {
        return new TrainingRanks(0, 1, err);
    }

    /**
     * Starts the other ranks on this machine, and connects with them.
     *
     * @param arguments
     *            of the command, without those that say which rank a process is
     */
    static TrainingRanks launch(int ranks, List<String> arguments, PrintWriter err) throws IOException {
        TrainingRanks all = new TrainingRanks(0, ranks, err);
        boolean isJoined = false;
        try {
            all.start(arguments);
            isJoined = true;
            return all;
        } finally {
            if (!isJoined) {
                all.close();
            }
        }
    }

    /**
     * Connects this process, which was started as one rank, with the others.
     *
     * @param place
     *            {@code HOST:PORT} of rank 0, or a folder
     * @param tls
     *            encrypts the connections; null for not
     */
    static TrainingRanks join(int rank, int ranks, String place, @Nullable Tls tls, PrintWriter err)
            throws IOException {
        String secret = System.getenv(SECRET);
        if (secret == null || secret.getBytes(StandardCharsets.UTF_8).length < ClusterOptions.FEWEST_SECRET_BYTES) {
            throw new IllegalArgumentException("The ranks of a training recognise each other by a secret: set the "
                    + "environment variable " + SECRET + " to the same random text of at least "
                    + ClusterOptions.FEWEST_SECRET_BYTES + " bytes on all machines, such as that of 'openssl rand -hex "
                    + SECRET_BYTES + "'");
        }
        TrainingRanks all = new TrainingRanks(rank, ranks, err);
        all.join(secret, place, tls);
        return all;
    }

    /**
     * Reads certificates.
     *
     * @param key
     *            a file in PEM, as the others then are; null if all are stores
     */
    static Tls tls(Path certificate, @Nullable Path key, Path trusted) throws IOException {
        if (key != null) {
            return Tls.files(certificate, key, trusted);
        }
        String password = System.getenv(TLS_PASSWORD);
        if (password == null) {
            throw new IllegalArgumentException("The key store " + certificate + " has a password: set the environment "
                    + "variable " + TLS_PASSWORD + " to it, or name a --tls-key if the certificate is in PEM");
        }
        return Tls.stores(certificate, trusted, password.toCharArray());
    }

    /** Whether a place to meet is a folder rather than an address. */
    static boolean isFolder(String place) {
        return place.contains("/") || place.contains("\\");
    }

    private void start(List<String> arguments) throws IOException {
        Path meeting = Files.createTempDirectory("seriatim-ranks");
        folder = meeting;
        byte[] random = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(random);
        String secret = HexFormat.of().formatHex(random);
        synchronized (this) {
            joining = Thread.currentThread();
        }
        for (int other = 1; other < ranks; other++) {
            List<String> line = java();
            line.addAll(arguments);
            line.addAll(List.of("--ranks", Integer.toString(ranks), "--rank", Integer.toString(other), "--rendezvous",
                    meeting.toString()));
            ProcessBuilder builder = new ProcessBuilder(line).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(errors(other).toFile()).redirectInput(ProcessBuilder.Redirect.PIPE);
            builder.environment().put(SECRET, secret);
            Process child = builder.start();
            children.add(child);
            CompletableFuture<Void> _ = child.onExit().thenAccept(this::childEnded);
        }
        join(secret, meeting.toString(), null);
    }

    private Path errors(int child) {
        return Objects.requireNonNull(folder).resolve("rank-" + child + ".err");
    }

    /** The command line of this JVM. */
    private static List<String> java() {
        List<String> line = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                // A debugger's port is taken, and a cache that this JVM writes is its own.
                .filter(each -> !each.startsWith("-agentlib:jdwp") && !each.startsWith("-Xrunjdwp")
                        && !each.startsWith("-XX:AOTCacheOutput"))
                .forEach(line::add);
        String module = System.getProperty("jdk.module.main");
        if (module == null) {
            line.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.seriatim.cli.Main"));
        } else {
            line.addAll(List.of("-m", module + "/io.seriatim.cli.Main"));
        }
        return line;
    }

    private void join(String secret, String place, @Nullable Tls tls) throws IOException {
        ClusterOptions options = ClusterOptions.of(rank, ranks, secret.getBytes(StandardCharsets.UTF_8))
                .joinLimit(JOIN_LIMIT).job("seriatim train");
        Rendezvous rendezvous;
        if (isFolder(place)) {
            Path meeting = Path.of(place).toAbsolutePath();
            rendezvous = Rendezvous.folder(meeting);
            if (meeting.toString().getBytes(StandardCharsets.UTF_8).length <= MOST_FOLDER_BYTES) {
                options = options.unixSockets(meeting);
            }
        } else {
            rendezvous = Rendezvous.at(place);
            options = options.host(localAddress(place));
            options = tls == null ? options : options.tls(tls);
        }
        try {
            cluster = Cluster.join(options, rendezvous);
        } catch (CommunicationException e) {
            // Set by the end of a child.
            Thread.interrupted();
            int lost = lost();
            throw lost < 0
                    ? e
                    : new CommunicationException("rank " + lost + " has ended before the training began"
                            + said(lost), lost, e);
        } finally {
            synchronized (this) {
                joining = null;
            }
        }
    }

    /** The address of this machine by which the others reach it: where packets to rank 0 leave from. */
    private String localAddress(String place) throws IOException {
        URI address = URI.create("rank://" + place);
        if (address.getHost() == null || address.getPort() < 0) {
            throw new IllegalArgumentException("--rendezvous must be HOST:PORT or a folder, but is '" + place + "'");
        }
        String host = address.getHost().replaceAll("[\\[\\]]", "");
        if (rank == 0) {
            return host;
        }
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(InetAddress.getByName(host), address.getPort()));
            return socket.getLocalAddress().getHostAddress();
        }
    }

    /** The first child that has ended, or −1. */
    private int lost() {
        for (int i = 0; i < children.size(); i++) {
            if (!children.get(i).isAlive() && !hasFinished(children.get(i))) {
                return i + 1;
            }
        }
        return -1;
    }

    private synchronized void childEnded(Process child) {
        Thread waiting = joining;
        if (waiting != null) {
            waiting.interrupt();
        } else if (!ended && !hasFinished(child)) {
            // A rank that has trained to the end leaves rank 0 to save the model, which may take long.
            Thread.ofPlatform().daemon().name("lost rank").start(this::endWithoutChild);
        }
    }

    /** Ends this process if it has not noticed the end of a rank itself, as while it evaluates. */
    private void endWithoutChild() {
        try {
            TimeUnit.SECONDS.sleep(FAILED_SECONDS);
        } catch (InterruptedException e) {
            return;
        }
        synchronized (this) {
            if (ended) {
                return;
            }
        }
        int lost = lost();
        err.println("seriatim: rank " + lost + " has ended before the training did" + said(lost));
        err.flush();
        // Files are replaced when they are whole.
        Runtime.getRuntime().halt(1);
    }

    private static boolean hasFinished(Process child) {
        return !child.isAlive() && (child.exitValue() == 0 || child.exitValue() == Interrupts.INTERRUPTED);
    }

    /** What a child has said about its end. */
    private String said(int child) {
        Process process = children.get(child - 1);
        String code = process.isAlive() ? "" : ", with exit code " + process.exitValue();
        try (Stream<String> lines = Files.lines(InputFiles.requireRegular(errors(child)))) {
            return lines.filter(line -> line.startsWith("seriatim: ")).reduce((_, last) -> last)
                    .map(line -> code + ": " + Printable.of(line.substring("seriatim: ".length()))).orElse(code);
        } catch (IOException | UncheckedIOException e) {
            return code;
        }
    }

    int rank() {
        return rank;
    }

    int size() {
        return ranks;
    }

    /** Returns the connected ranks; null if this process is alone. */
    @Nullable
    Cluster communicator() {
        return cluster;
    }

    /** Leaves the others, and waits for the ranks that this process has started. */
    @Override
    public void close() {
        synchronized (this) {
            ended = true;
        }
        Cluster joined = cluster;
        if (joined != null) {
            joined.close();
        }
        boolean isInterrupted = Thread.interrupted();
        for (int i = 0; i < children.size(); i++) {
            Process child = children.get(i);
            try {
                if (!child.waitFor(CHILD_SECONDS, TimeUnit.SECONDS)) {
                    child.destroyForcibly().waitFor(CHILD_SECONDS, TimeUnit.SECONDS);
                }
            } catch (InterruptedException e) {
                child.destroyForcibly();
                isInterrupted = true;
            }
            String said = child.isAlive() || hasFinished(child)
                    ? ""
                    : said(i + 1);
            // Most ranks say that another one has left them.
            if (!said.isEmpty() && !said.contains("has left")) {
                err.println(String.format(Locale.ROOT, "seriatim: rank %d ended%s", i + 1, said));
                err.flush();
            }
        }
        if (folder != null) {
            delete(folder);
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void delete(Path meeting) {
        try (Stream<Path> files = Files.list(meeting)) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(meeting);
        } catch (IOException e) {
            // Some files stay in the folder for temporary files, which the system clears.
            meeting.toFile().deleteOnExit();
        }
    }
}
