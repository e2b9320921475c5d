package io.seriatim.cluster.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A message between ranks that is no part of a collective. All have the same size: no length is trusted.
 *
 * @param kind
 *            what it says
 * @param culprit
 *            the rank at fault, for a failure
 * @param sequence
 *            the number of a collective
 * @param call
 *            the hash of what the sender has called with this number
 * @param sent
 *            for a heartbeat: how many bytes the sender has sent to the receiver on the other connection
 * @param text
 *            for failures and disputes
 */
record ControlFrame(Kind kind, int culprit, long sequence, long call, long sent, String text) {
    static final int BYTES = 512;
    private static final int HEAD = 56;
    private static final int MOST_TEXT = BYTES - HEAD;

    /** What a frame says. */
    enum Kind {
        /** The sender has all its connections. */
        READY(1),
        /** The sender is alive. */
        HEARTBEAT(2),
        /** The ranks cannot go on. */
        ABORT(3),
        /** The sender closes its connections in order. */
        GOODBYE(4),
        /** Two ranks have called different collectives; this is the sender's. */
        DISPUTE(5);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        private static Kind of(int code, int from) throws ProtocolException {
            for (Kind each : values()) {
                if (each.code == code) {
                    return each;
                }
            }
            throw new ProtocolException("rank " + from + " sent a message of the unknown kind " + code);
        }
    }

    ByteBuffer encode(Member self) {
        ByteBuffer frame = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        bytes = bytes.length > MOST_TEXT ? Arrays.copyOf(bytes, MOST_TEXT) : bytes;
        frame.putInt(Handshake.MAGIC).putInt(kind.code).putLong(self.jobHash()).putInt(self.generation());
        frame.putInt(self.rank()).putInt(culprit).putInt(bytes.length).putLong(sequence).putLong(call).putLong(sent);
        return frame.put(bytes).position(0).limit(BYTES);
    }

    static ControlFrame decode(ByteBuffer frame, Member self, int from) throws ProtocolException {
        int magic = frame.getInt();
        int kind = frame.getInt();
        long job = frame.getLong();
        int generation = frame.getInt();
        int sender = frame.getInt();
        int culprit = frame.getInt();
        int length = frame.getInt();
        long sequence = frame.getLong();
        long call = frame.getLong();
        long sent = frame.getLong();
        if (magic != Handshake.MAGIC || job != self.jobHash()
                || generation != self.generation() || sender != from || culprit < -1 || culprit >= self.ranks()
                || length < 0 || length > MOST_TEXT) {
            throw new ProtocolException("rank " + from + " sent a message that is none of this job's");
        }
        byte[] text = new byte[length];
        frame.get(text);
        return new ControlFrame(Kind.of(kind, from), culprit, sequence, call, sent,
                new String(text, StandardCharsets.UTF_8));
    }

    static ControlFrame of(Kind kind) {
        return new ControlFrame(kind, -1, 0, 0, 0, "");
    }
}
