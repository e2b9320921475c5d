package io.seriatim.cluster.transport;

import io.seriatim.graph.parallel.CommunicationException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.SecureRandom;

/**
 * Both sides of a new connection prove that they know the secret of the job, before either acts on what the other says.
 *
 * <pre>
 * connector → acceptor   hello    magic, version, job, generation, ranks, own rank, other's rank, purpose, nonce
 * acceptor → connector   answer   magic, status, generation, nonce, code of the acceptor
 * connector → acceptor   proof    code of the connector
 * acceptor → connector   welcome  status, code that confirms it
 * </pre>
 *
 * All messages have a fixed size: no length is read from the wire. A code is an HMAC-SHA256 over both nonces, the job,
 * generation, ranks, both numbers, the purpose and the side (see {@link Member#mac}); codes are compared in constant
 * time. A connection that fails is dropped. A refusal of the hello is not authenticated and only explains an error.
 */
public final class Handshake {
    /** Heartbeats and failures. */
    static final int CONTROL = 1;
    /** The bytes of collectives. */
    static final int DATA = 2;
    /** Collects addresses before there are other connections. */
    public static final int RENDEZVOUS = 3;

    static final int VERSION = 2;
    static final int MAGIC = 0x4c524553; // "SERL"

    /** The first bytes of records of TLS; see RFC 8446, 5.1. */
    private static final int TLS_ALERT = 21;
    private static final int TLS_HANDSHAKE = 22;
    private static final int TLS_MAJOR = 3;

    private static final int NONCE_BYTES = 32;
    private static final int HELLO_BYTES = 40 + NONCE_BYTES;
    private static final int ANSWER_BYTES = 12 + NONCE_BYTES + Member.MAC_BYTES;
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Why an acceptor refuses a hello. */
    private enum Status {
        WELCOME(0, "accepts it"), OTHER_JOB(1, "belongs to another job"), OTHER_GENERATION(2,
                "is of another generation"), OTHER_SIZE(3,
                        "has another number of ranks"), OTHER_RANK(4, "is another rank"), JOINED(5, "has it already");

        private final int code;
        private final String text;

        Status(int code, String text) {
            this.code = code;
            this.text = text;
        }
    }

    /** What an acceptor learns about a connection. */
    record Peer(int rank, int purpose) {
    }

    /** Decides whether a rank whose proof is right may join. */
    interface Admission {
        boolean admit(Peer peer);
    }

    private Handshake() {
    }

    /** The connecting side; throws {@link CommunicationException} for what trying again would not change. */
    static void connect(TimedChannel channel, Member self, int other, int purpose, long deadline) throws IOException {
        byte[] nonce = nonce();
        ByteBuffer hello = buffer(HELLO_BYTES).putInt(MAGIC).putInt(VERSION).putLong(self.jobHash());
        hello.putInt(self.generation()).putInt(self.ranks()).putInt(self.rank()).putInt(other).putInt(purpose);
        channel.write(hello.putInt(0).put(nonce).flip(), deadline);

        int magic = channel.read(Integer.BYTES, deadline).getInt();
        if (isTls(magic, TLS_ALERT)) {
            throw new CommunicationException("rank " + other + " uses TLS, but rank " + self.rank()
                    + " does not: start all ranks with TLS, or none", other, null);
        }
        ByteBuffer answer = channel.read(ANSWER_BYTES - Integer.BYTES, deadline);
        if (magic != MAGIC) {
            throw new CommunicationException("what answers at the address of rank " + other + " is no rank", other,
                    null);
        }
        Status status = status(answer.getInt());
        int generation = answer.getInt();
        if (status != Status.WELCOME) {
            String message = "the process at the address of rank " + other + " " + status.text + ": this rank is "
                    + describe(self) + (status == Status.OTHER_GENERATION ? ", that one is of " + generation : "");
            if (status == Status.OTHER_GENERATION && generation < self.generation()) {
                // It may be about to end and make room for this generation.
                throw new IOException(message);
            }
            throw new CommunicationException(message, other, null);
        }
        byte[] theirs = bytes(answer, NONCE_BYTES);
        byte[] code = bytes(answer, Member.MAC_BYTES);
        if (!MessageDigest.isEqual(code, self.mac("acceptor", self.rank(), other, purpose, nonce, theirs))) {
            throw new CommunicationException("the process at the address of rank " + other
                    + " does not know the secret of " + describe(self), other, null);
        }
        channel.write(ByteBuffer.wrap(self.mac("connector", self.rank(), other, purpose, nonce, theirs)), deadline);
        ByteBuffer welcome = channel.read(Integer.BYTES + Member.MAC_BYTES, deadline);
        Status result = status(welcome.getInt());
        byte[] confirmed = self.mac("status " + result.code, self.rank(), other, purpose, nonce, theirs);
        if (!MessageDigest.isEqual(bytes(welcome, Member.MAC_BYTES), confirmed)) {
            throw new CommunicationException("the answer of rank " + other + " was changed on its way", other, null);
        }
        if (result != Status.WELCOME) {
            throw new CommunicationException("rank " + other + " refuses a second connection of rank " + self.rank()
                    + ": start only one process with each rank", self.rank(), null);
        }
    }

    /** The accepting side; throws for a stranger, whose connection the caller drops. */
    static Peer accept(TimedChannel channel, Member self, Admission admission, long deadline) throws IOException {
        int magic = channel.read(Integer.BYTES, deadline).getInt();
        if (isTls(magic, TLS_HANDSHAKE)) {
            throw new IOException("it uses TLS, but this rank does not: start all ranks with TLS, or none");
        }
        ByteBuffer hello = channel.read(HELLO_BYTES - Integer.BYTES, deadline);
        if (magic != MAGIC || hello.getInt() != VERSION) {
            throw new IOException("it is no rank of this version");
        }
        long job = hello.getLong();
        int generation = hello.getInt();
        int ranks = hello.getInt();
        int rank = hello.getInt();
        int target = hello.getInt();
        int purpose = hello.getInt();
        hello.getInt();
        byte[] nonce = bytes(hello, NONCE_BYTES);
        Status status = Status.WELCOME;
        if (job != self.jobHash()) {
            status = Status.OTHER_JOB;
        } else if (generation != self.generation()) {
            status = Status.OTHER_GENERATION;
        } else if (ranks != self.ranks()) {
            status = Status.OTHER_SIZE;
        } else if (target != self.rank() || rank < 0 || rank >= ranks || rank == target) {
            status = Status.OTHER_RANK;
        }
        byte[] own = nonce();
        ByteBuffer answer = buffer(ANSWER_BYTES).putInt(MAGIC).putInt(status.code).putInt(self.generation());
        if (status != Status.WELCOME) {
            channel.write(answer.put(new byte[NONCE_BYTES + Member.MAC_BYTES]).flip(), deadline);
            throw new IOException("it says it is rank " + rank + " of " + ranks + ", generation " + generation
                    + (status == Status.OTHER_JOB ? " of another job" : "") + ": this rank is " + describe(self));
        }
        answer.put(own).put(self.mac("acceptor", rank, target, purpose, nonce, own));
        channel.write(answer.flip(), deadline);
        byte[] proof = bytes(channel.read(Member.MAC_BYTES, deadline), Member.MAC_BYTES);
        if (!MessageDigest.isEqual(proof, self.mac("connector", rank, target, purpose, nonce, own))) {
            throw new IOException("it says it is rank " + rank + " but does not know the secret");
        }
        Peer peer = new Peer(rank, purpose);
        Status result = admission.admit(peer) ? Status.WELCOME : Status.JOINED;
        ByteBuffer welcome = buffer(Integer.BYTES + Member.MAC_BYTES).putInt(result.code);
        welcome.put(self.mac("status " + result.code, rank, target, purpose, nonce, own));
        channel.write(welcome.flip(), deadline);
        if (result != Status.WELCOME) {
            throw new IOException("rank " + rank + " connected a second time");
        }
        return peer;
    }

    private static boolean isTls(int firstBytes, int type) {
        return (firstBytes & 0xff) == type && (firstBytes >> Byte.SIZE & 0xff) == TLS_MAJOR;
    }

    static String describe(Member member) {
        return "rank " + member.rank() + " of " + member.ranks() + ", generation " + member.generation() + " of job '"
                + member.job() + "'";
    }

    private static Status status(int number) throws IOException {
        for (Status each : Status.values()) {
            if (each.code == number) {
                return each;
            }
        }
        throw new IOException("the status " + number + " is unknown");
    }

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] bytes(ByteBuffer from, int count) {
        byte[] bytes = new byte[count];
        from.get(bytes);
        return bytes;
    }

    private static byte[] nonce() {
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        return nonce;
    }
}
