package io.seriatim.cluster.transport;

import io.seriatim.graph.parallel.CommunicationException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** One rank of a job: what it must have in common with its peers, and how long it waits for them. */
public final class Member {
    static final int MAC_BYTES = 32;

    private final String job;
    private final long jobHash;
    private final int generation;
    private final int rank;
    private final int ranks;
    private final byte[] secret;
    private final Duration silence;
    private final Duration stall;
    private final @Nullable SSLContext tls;

    /**
     * Describes a rank.
     *
     * @param job
     *            the job's name
     * @param generation
     *            which attempt of the job it is
     * @param rank
     *            its number
     * @param ranks
     *            how many there are
     * @param secret
     *            what the ranks of the job know and nobody else
     * @param silence
     *            how long a peer may be silent
     * @param stall
     *            how long a peer that is alive may keep a collective waiting
     * @param tls
     *            the certificates that connections are encrypted with; null for none
     */
    public Member(String job, int generation, int rank, int ranks, byte[] secret, Duration silence, Duration stall,
            @Nullable SSLContext tls) {
        this.job = job;
        this.generation = generation;
        this.rank = rank;
        this.ranks = ranks;
        this.secret = secret.clone();
        this.silence = silence;
        this.stall = stall;
        this.tls = tls;
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(job.getBytes(StandardCharsets.UTF_8));
            jobHash = ByteBuffer.wrap(digest).getLong();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    String job() {
        return job;
    }

    long jobHash() {
        return jobHash;
    }

    int generation() {
        return generation;
    }

    /**
     * The number of this rank.
     *
     * @return from 0
     */
    public int rank() {
        return rank;
    }

    /**
     * How many ranks there are.
     *
     * @return at least 1
     */
    public int ranks() {
        return ranks;
    }

    Duration silence() {
        return silence;
    }

    Duration stall() {
        return stall;
    }

    @Nullable
    SSLContext tls() {
        return tls;
    }

    /**
     * Computes the code that proves knowledge of the secret. It covers everything that the two sides must agree on, and
     * which side computes it, so that it cannot be sent back to its author or used for another connection.
     */
    byte[] mac(String side, int connector, int acceptor, int purpose, byte[] nonce, byte[] answer) {
        byte[] label = side.getBytes(StandardCharsets.US_ASCII);
        byte[] name = job.getBytes(StandardCharsets.UTF_8);
        ByteBuffer text = ByteBuffer.allocate(8 * Integer.BYTES + label.length + name.length + nonce.length
                + answer.length).order(ByteOrder.LITTLE_ENDIAN);
        text.putInt(Handshake.VERSION).putInt(label.length).put(label).putInt(name.length).put(name);
        text.putInt(generation).putInt(ranks).putInt(connector).putInt(acceptor).putInt(purpose);
        text.put(nonce).put(answer);
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            return mac.doFinal(text.array());
        } catch (GeneralSecurityException e) {
            throw new CommunicationException("the secret is no key for HMAC-SHA256", rank, e);
        }
    }
}
