package io.seriatim.cluster.transport;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

/**
 * The connection with one peer that carries frames of collectives. A frame is a head of 48 bytes, the payload and a
 * tail of 16 bytes, all little-endian:
 *
 * <pre>
 * head   int magic, int generation, long job, long sequence, int step, int source, long call, long length
 * tail   int checksum (CRC-32C of the payload), int step, long sequence
 * </pre>
 *
 * The receiver knows each of these values beforehand, the length too. It reads exactly one frame at a time: bytes of
 * the next one stay in the socket. A frame that was repeated, cut short or damaged is an error at the latest when its
 * tail is read, before the collective returns.
 *
 * <p>
 * All methods are called by one thread at a time, which runs the collective; only the two counters are read by others.
 */
final class DataLink {
    /** How much is offered to the socket at a time. */
    static final int WINDOW = 256 << 10;

    private static final int HEAD = 48;
    private static final int TAIL = 16;

    final int peer;
    final PeerChannel channel;
    final SelectionKey key;
    /** Bytes that this rank has sent to the peer. */
    final AtomicLong sent = new AtomicLong();
    /** Bytes that this rank has received from the peer. */
    final AtomicLong received = new AtomicLong();

    private final Member self;

    private final ByteBuffer outHead = direct(HEAD);
    private final ByteBuffer outTail = direct(TAIL);
    private final ByteBuffer[] out = {outHead, PeerChannel.NONE, outTail};
    private final CRC32C outChecksum = new CRC32C();
    private MemorySegment outPayload = MemorySegment.NULL;
    private long outOffered;
    private long outSequence;
    private int outStep;
    private boolean isSending;

    private final ByteBuffer inHead = direct(HEAD);
    private final ByteBuffer inTail = direct(TAIL);
    private final ByteBuffer[] in = {inHead, PeerChannel.NONE, inTail};
    private final CRC32C inChecksum = new CRC32C();
    private final MemorySegment staging = Arena.ofAuto().allocate(WINDOW, Long.BYTES);
    private final ByteBuffer stagingBuffer = staging.asByteBuffer();
    private Receipt receipt = Receipt.store(MemorySegment.NULL);
    private long inDone;
    private long inSequence;
    private int inStep;
    private long inCall;
    private boolean isKnown;
    private boolean isReceiving;

    DataLink(Member self, int peer, PeerChannel channel, Selector selector) throws ClosedChannelException {
        this.self = self;
        this.peer = peer;
        this.channel = channel;
        key = channel.socket().register(selector, 0);
    }

    private static ByteBuffer direct(int size) {
        return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    boolean isSending() {
        return isSending;
    }

    boolean isReceiving() {
        return isReceiving;
    }

    /** Sets what wakes the selector; false if there is something to do at once. */
    boolean awaits(boolean isForReading, boolean isForWriting) throws IOException {
        int wanted = isForReading || isForWriting ? channel.interest(isForReading, isForWriting) : 0;
        if (wanted != PeerChannel.NO_WAIT && key.interestOps() != wanted) {
            key.interestOps(wanted);
        }
        return wanted != PeerChannel.NO_WAIT;
    }

    void startSend(long sequence, int step, long call, MemorySegment payload) {
        outHead.clear().putInt(Handshake.MAGIC).putInt(self.generation()).putLong(self.jobHash()).putLong(sequence);
        outHead.putInt(step).putInt(self.rank()).putLong(call).putLong(payload.byteSize()).flip();
        outPayload = payload;
        outOffered = 0;
        outSequence = sequence;
        outStep = step;
        outChecksum.reset();
        isSending = true;
        offer();
    }

    private void offer() {
        int size = (int) Math.min(WINDOW, outPayload.byteSize() - outOffered);
        out[1] = size == 0 ? PeerChannel.NONE : outPayload.asSlice(outOffered, size).asByteBuffer();
        outChecksum.update(out[1].duplicate());
        outOffered += size;
        if (outOffered == outPayload.byteSize()) {
            outTail.clear().putInt((int) outChecksum.getValue()).putInt(outStep).putLong(outSequence).flip();
        }
    }

    /** Sends what the socket takes; false if it took nothing. */
    boolean write() throws IOException {
        boolean isLast = outOffered == outPayload.byteSize();
        long count = channel.write(out, 0, isLast ? out.length : out.length - 1);
        if (count > 0) {
            sent.setRelease(sent.getPlain() + count);
        }
        if (isLast) {
            if (!outTail.hasRemaining() && channel.flush()) {
                isSending = false;
                outPayload = MemorySegment.NULL;
                out[1] = PeerChannel.NONE;
            }
        } else if (!out[1].hasRemaining()) {
            offer();
        }
        return count > 0;
    }

    void startReceive(long sequence, int step, long call, Receipt destination) {
        inHead.clear();
        inTail.clear();
        receipt = destination;
        inDone = 0;
        inSequence = sequence;
        inStep = step;
        inCall = call;
        inChecksum.reset();
        isKnown = false;
        isReceiving = true;
        stagingBuffer.position(0);
        expect();
    }

    /** Sets the window into which the next payload bytes are read. */
    private void expect() {
        long left = receipt.into().byteSize() - inDone;
        if (left == 0) {
            in[1] = PeerChannel.NONE;
        } else if (receipt.combine() == null) {
            in[1] = receipt.into().asSlice(inDone, Math.min(WINDOW, left)).asByteBuffer();
        } else {
            int held = stagingBuffer.position();
            stagingBuffer.limit((int) Math.min(WINDOW, held + left));
            in[1] = stagingBuffer;
        }
    }

    /** Receives what the channel has of this frame; false if it has nothing. */
    boolean read() throws IOException {
        return combineInPlace() || readWindow();
    }

    /** Combines what has arrived where it is; false if it must be read. */
    private boolean combineInPlace() throws IOException {
        Receipt.Combine combine = receipt.combine();
        if (combine == null || !isKnown || stagingBuffer.position() != 0) {
            return false;
        }
        ByteBuffer arrived = channel.arrived();
        int whole = (int) Math.min(arrived.remaining(), receipt.into().byteSize() - inDone);
        whole -= whole % receipt.element();
        if (whole == 0) {
            return false;
        }
        combine.accept(MemorySegment.ofBuffer(arrived), receipt.into(), inDone, whole);
        inChecksum.update(arrived.limit(whole));
        channel.skip(whole);
        received.setRelease(received.getPlain() + whole);
        inDone += whole;
        expect();
        return true;
    }

    private boolean readWindow() throws IOException {
        ByteBuffer window = in[1];
        int before = window.position();
        boolean isLast = inDone + window.remaining() == receipt.into().byteSize();
        long count = channel.read(in, 0, isLast ? in.length : in.length - 1);
        if (count < 0) {
            throw new EOFException("its connection was closed");
        }
        if (count == 0) {
            return false;
        }
        received.setRelease(received.getPlain() + count);
        if (!isKnown && !inHead.hasRemaining()) {
            checkHead(inHead.flip());
            inHead.position(inHead.limit());
            isKnown = true;
        }
        int fresh = window.position() - before;
        if (fresh > 0) {
            inChecksum.update(window.duplicate().limit(window.position()).position(before));
            inDone += fresh;
            accept(window);
        }
        if (isLast && !inTail.hasRemaining()) {
            checkTail(inTail.flip());
            isReceiving = false;
            receipt = Receipt.store(MemorySegment.NULL);
            in[1] = PeerChannel.NONE;
        }
        return true;
    }

    private void accept(ByteBuffer window) {
        Receipt.Combine combine = receipt.combine();
        if (combine == null) {
            if (!window.hasRemaining() && inDone < receipt.into().byteSize()) {
                expect();
            }
            return;
        }
        int held = window.position();
        int whole = held - held % receipt.element();
        if (whole > 0) {
            combine.accept(staging, receipt.into(), inDone - held, whole);
            MemorySegment.copy(staging, whole, staging, 0, held - whole);
            window.position(held - whole);
            if (inDone < receipt.into().byteSize()) {
                expect();
            } else {
                window.limit(window.position());
            }
        }
    }

    private void checkHead(ByteBuffer head) throws IOException {
        int magic = head.getInt();
        int generation = head.getInt();
        long job = head.getLong();
        long sequence = head.getLong();
        int step = head.getInt();
        int source = head.getInt();
        long call = head.getLong();
        long length = head.getLong();
        if (magic != Handshake.MAGIC) {
            throw new ProtocolException("rank " + peer + " sent bytes that are no frame: some were lost, or repeated");
        }
        if (job != self.jobHash() || generation != self.generation() || source != peer) {
            throw new ProtocolException("on the connection of rank " + peer + " came a frame of rank " + source
                    + ", generation " + generation + (job == self.jobHash() ? "" : " of another job")
                    + "; this rank is " + Handshake.describe(self));
        }
        if (sequence == inSequence && call != inCall) {
            throw new DivergedException();
        }
        if (sequence != inSequence || step != inStep) {
            throw new ProtocolException("rank " + peer + " sent step " + step + " of collective " + sequence
                    + " where step " + inStep + " of collective " + inSequence + " follows");
        }
        if (length != receipt.into().byteSize()) {
            throw new ProtocolException("rank " + peer + " sent " + length + " bytes in step " + step
                    + " of collective " + sequence + ", which takes " + receipt.into().byteSize());
        }
    }

    private void checkTail(ByteBuffer tail) throws ProtocolException {
        int checksum = tail.getInt();
        int step = tail.getInt();
        long sequence = tail.getLong();
        if (checksum != (int) inChecksum.getValue() || step != inStep || sequence != inSequence) {
            throw new ProtocolException("what rank " + peer + " sent in step " + inStep + " of collective " + inSequence
                    + " arrived damaged: bytes were lost, repeated or changed");
        }
    }

    /** Closes the connection. */
    void close() {
        Listener.drop(channel);
    }
}
