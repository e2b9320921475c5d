package io.seriatim.cluster;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * What a rank must know to join: immutable, each method returns a changed copy.
 *
 * <pre>{@code
 * ClusterOptions.of(rank, ranks, secret).job("digits").generation(attempt)
 * }</pre>
 */
public final class ClusterOptions {
    /** The fewest bytes that a secret has. */
    public static final int FEWEST_SECRET_BYTES = 16;

    private static final int MOST_RANKS = 4096;
    private static final Duration JOIN = Duration.ofSeconds(60);
    private static final Duration HANDSHAKE = Duration.ofSeconds(5);
    private static final Duration SILENCE = Duration.ofSeconds(5);
    private static final Duration STALL = Duration.ofMinutes(30);
    private static final Duration LEAST = Duration.ofMillis(50);

    private final int rank;
    private final int ranks;
    private final byte[] secret;
    private String job = "seriatim";
    private int generation;
    private String host = "127.0.0.1";
    private Optional<Path> folder = Optional.empty();
    private boolean isSharing = true;
    private Optional<Tls> tls = Optional.empty();
    private Duration joinLimit = JOIN;
    private Duration handshakeLimit = HANDSHAKE;
    private Duration silenceLimit = SILENCE;
    private Duration stallLimit = STALL;

    private ClusterOptions(int rank, int ranks, byte[] secret) {
        this.rank = rank;
        this.ranks = ranks;
        this.secret = secret;
    }

    private ClusterOptions copy() {
        ClusterOptions copy = new ClusterOptions(rank, ranks, secret);
        copy.job = job;
        copy.generation = generation;
        copy.host = host;
        copy.folder = folder;
        copy.isSharing = isSharing;
        copy.tls = tls;
        copy.joinLimit = joinLimit;
        copy.handshakeLimit = handshakeLimit;
        copy.silenceLimit = silenceLimit;
        copy.stallLimit = stallLimit;
        return copy;
    }

    /**
     * Options with the defaults: sockets of TCP on the loopback interface.
     *
     * @param rank
     *            the number of this process, from 0
     * @param ranks
     *            how many processes there are, at most 4096
     * @param secret
     *            what the launcher gave to all processes of the job and to nobody else, at least 16 bytes, in a way
     *            that others cannot see: not on a command line
     * @return the options
     * @throws IllegalArgumentException
     *             if there is no such rank, or the secret is short
     */
    public static ClusterOptions of(int rank, int ranks, byte[] secret) {
        if (ranks < 1 || ranks > MOST_RANKS || rank < 0 || rank >= ranks) {
            throw new IllegalArgumentException(
                    "rank " + rank + " of " + ranks + ": ranks are numbered from 0, and there "
                            + "are 1 to " + MOST_RANKS);
        }
        if (secret.length < FEWEST_SECRET_BYTES) {
            throw new IllegalArgumentException("the secret has " + secret.length + " bytes: random bytes, at least "
                    + FEWEST_SECRET_BYTES + ", keep others from writing into the job's sums");
        }
        return new ClusterOptions(rank, ranks, secret.clone());
    }

    /**
     * The name of the job: ranks of different jobs refuse each other.
     *
     * @param name
     *            at most 200 bytes of UTF-8, "seriatim" by default
     * @return a copy
     */
    public ClusterOptions job(String name) {
        if (name.getBytes(StandardCharsets.UTF_8).length > 200) {
            throw new IllegalArgumentException("the name of a job has at most 200 bytes: '" + name + "'");
        }
        ClusterOptions copy = copy();
        copy.job = name;
        return copy;
    }

    /**
     * Which attempt of the job this is: ranks of different generations refuse each other.
     *
     * @param number
     *            0 by default; a launcher that starts the ranks again counts up
     * @return a copy
     */
    public ClusterOptions generation(int number) {
        ClusterOptions copy = copy();
        copy.generation = number;
        return copy;
    }

    /**
     * The interface on which this rank listens with TCP, by a name or number under which the other ranks reach it.
     *
     * @param name
     *            127.0.0.1 by default: only processes of this machine reach it
     * @return a copy
     */
    public ClusterOptions host(String name) {
        ClusterOptions copy = copy();
        copy.host = name;
        return copy;
    }

    /**
     * Uses Unix-domain sockets, which are faster, where all ranks run on one machine; on Linux, the bytes of
     * collectives go through memory that the ranks share: see {@link #sharedMemory}.
     *
     * @param path
     *            an existing folder that only this user may enter, with a path of at most about 80 bytes; the rank
     *            makes a socket in it, and removes it when all ranks have joined
     * @return a copy
     */
    public ClusterOptions unixSockets(Path path) {
        ClusterOptions copy = copy();
        copy.folder = Optional.of(path);
        return copy;
    }

    /**
     * Whether ranks that use {@link #unixSockets} share memory, about 1 MiB a pair in {@code /dev/shm}. A pair whose
     * ranks do not both want it, or that finds no space or not the same files there, sends through its sockets.
     *
     * @param isUsed
     *            true by default
     * @return a copy
     */
    public ClusterOptions sharedMemory(boolean isUsed) {
        ClusterOptions copy = copy();
        copy.isSharing = isUsed;
        return copy;
    }

    /**
     * Encrypts all connections with TLS 1.3; by default they are authenticated, but can be read on their way. All ranks
     * use it, or none. It is for TCP: Unix-domain sockets do not leave the machine.
     *
     * @param certificates
     *            of this rank, and of those whom it trusts. The certificate names the {@link #host} of this rank, or
     *            its address at a {@link Rendezvous}, as subjectAltName
     * @return a copy
     */
    public ClusterOptions tls(Tls certificates) {
        ClusterOptions copy = copy();
        copy.tls = Optional.of(certificates);
        return copy;
    }

    /**
     * How long {@link Cluster#join} waits for the other ranks.
     *
     * @param limit
     *            60 s by default
     * @return a copy
     */
    public ClusterOptions joinLimit(Duration limit) {
        ClusterOptions copy = copy();
        copy.joinLimit = positive(limit);
        return copy;
    }

    /**
     * How long a new connection may take to prove that it knows the secret.
     *
     * @param limit
     *            5 s by default
     * @return a copy
     */
    public ClusterOptions handshakeLimit(Duration limit) {
        ClusterOptions copy = copy();
        copy.handshakeLimit = positive(limit);
        return copy;
    }

    /**
     * How long a peer may be silent, that is, send no heartbeat, before it counts as dead. A peer whose process ended
     * is noticed at once.
     *
     * @param limit
     *            5 s by default; heartbeats are sent five times as often. Set it above the longest pause of the garbage
     *            collector
     * @return a copy
     */
    public ClusterOptions silenceLimit(Duration limit) {
        ClusterOptions copy = copy();
        copy.silenceLimit = positive(limit);
        return copy;
    }

    /**
     * How long a collective may wait for a peer that is alive but does not call it.
     *
     * @param limit
     *            30 minutes by default
     * @return a copy
     */
    public ClusterOptions stallLimit(Duration limit) {
        ClusterOptions copy = copy();
        copy.stallLimit = positive(limit);
        return copy;
    }

    private static Duration positive(Duration limit) {
        if (limit.compareTo(LEAST) < 0) {
            throw new IllegalArgumentException(
                    "a limit of " + limit + " is below " + LEAST.toMillis() + " ms, the least");
        }
        return limit;
    }

    /**
     * The number of this process.
     *
     * @return from 0
     */
    public int rank() {
        return rank;
    }

    /**
     * How many processes there are.
     *
     * @return at least 1
     */
    public int ranks() {
        return ranks;
    }

    /**
     * The name of the job.
     *
     * @return as it was given
     */
    public String job() {
        return job;
    }

    /**
     * Which attempt of the job this is.
     *
     * @return as it was given
     */
    public int generation() {
        return generation;
    }

    /**
     * How long joining may take.
     *
     * @return as it was given
     */
    public Duration joinLimit() {
        return joinLimit;
    }

    byte[] secret() {
        return secret;
    }

    String host() {
        return host;
    }

    Optional<Path> folder() {
        return folder;
    }

    boolean isSharing() {
        return isSharing;
    }

    Optional<Tls> tls() {
        return tls;
    }

    Duration handshakeLimit() {
        return handshakeLimit;
    }

    Duration silenceLimit() {
        return silenceLimit;
    }

    Duration stallLimit() {
        return stallLimit;
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return "rank " + rank + " of " + ranks + ", generation " + generation + " of job '" + job + "'";
    }
}
