package io.seriatim.cluster.transport;

import io.seriatim.graph.parallel.CommunicationException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Watches the peers, on a thread and connections of its own, so that a rank that computes for long is heard, and hears.
 * The thread sends heartbeats, notices peers that are dead or silent, tells all peers of the first failure, and holds
 * the vote when ranks have called different collectives.
 *
 * <p>
 * All state belongs to the thread, except where a field says otherwise. Others only set volatile fields and wake the
 * selector.
 */
final class Control implements Runnable {
    private static final int BEATS = 5;
    private static final int HISTORY = 256;
    private static final long DISPUTE_TICK = 10;
    private static final long FLUSH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** The other end of a connection. */
    private static final class Peer {
        final int rank;
        final PeerChannel channel;
        final SelectionKey key;
        final ByteBuffer in = ByteBuffer.allocate(ControlFrame.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        final Deque<ByteBuffer> out = new ArrayDeque<>();
        /** How many bytes it says that it has sent on the other connection. */
        final AtomicLong announced = new AtomicLong();
        long heard = System.nanoTime();
        boolean isOpen = true;
        /** Whether the socket has everything that was written. */
        boolean isFlushed = true;
        /** Written by the thread, read by all. */
        volatile boolean hasLeft;

        Peer(int rank, PeerChannel channel, Selector selector) throws IOException {
            this.rank = rank;
            this.channel = channel;
            key = channel.socket().register(selector, SelectionKey.OP_READ);
        }
    }

    /** A call with its number, in the history of calls. */
    private record Numbered(long sequence, Call call) {
    }

    private final Member self;
    private final Failure failure;
    private final Selector selector;
    private final List<Peer> peers = new ArrayList<>();
    private final @Nullable Peer[] byRank;
    private final IntToLongFunction sent;
    private final long interval;
    private final AtomicReferenceArray<@Nullable Numbered> history = new AtomicReferenceArray<>(HISTORY);
    private volatile Numbered latest = new Numbered(0, Call.NONE);
    private @Nullable Thread thread;
    private volatile boolean isClosing;
    private volatile long disputed = -1;
    private volatile int suspect = -1;
    private boolean isAborted;
    private @Nullable Dispute dispute;

    Control(Member self, Failure failure, @Nullable TimedChannel[] channels, IntToLongFunction sent)
            throws IOException {
        this.self = self;
        this.failure = failure;
        this.sent = sent;
        interval = Math.max(1, self.silence().toNanos() / BEATS);
        byRank = new Peer[channels.length];
        selector = Selector.open();
        for (int rank = 0; rank < channels.length; rank++) {
            TimedChannel channel = channels[rank];
            if (channel != null) {
                Peer peer = new Peer(rank, channel.release(), selector);
                peers.add(peer);
                byRank[rank] = peer;
            }
        }
        failure.onFailure(selector::wakeup);
    }

    void start() {
        thread = Listener.start("control", self, this);
    }

    /** Notes a call before its first byte is sent. */
    void called(long sequence, Call call) {
        Numbered numbered = new Numbered(sequence, call);
        history.set(Math.floorMod(sequence, HISTORY), numbered);
        latest = numbered;
        if (disputed >= 0) {
            selector.wakeup();
        }
    }

    private @Nullable Numbered numbered(long sequence) {
        Numbered found = history.get(Math.floorMod(sequence, HISTORY));
        return found != null && found.sequence() == sequence ? found : null;
    }

    /** Asks all ranks what they have called, since a frame of the given one belongs to another call. */
    void dispute(long sequence, int rank) {
        suspect = rank;
        disputed = sequence;
        selector.wakeup();
    }

    boolean hasLeft(int rank) {
        Peer peer = byRank[rank];
        return peer != null && peer.hasLeft;
    }

    long announced(int rank) {
        Peer peer = byRank[rank];
        return peer == null ? 0 : peer.announced.getAcquire();
    }

    @Override
    public void run() {
        try {
            loop();
        } catch (IOException | RuntimeException e) {
            failure.fail("rank " + self.rank() + " cannot watch its peers: " + e, self.rank(), e);
        } finally {
            peers.forEach(peer -> Listener.drop(peer.channel));
        }
    }

    private void loop() throws IOException {
        // What has come with the last message of the handshake is no longer in the socket if it was encrypted.
        peers.forEach(this::read);
        long beat = System.nanoTime();
        long last = beat;
        while (!isClosing) {
            long now = System.nanoTime();
            if (now - last > self.silence().toNanos() / 2) {
                // This process itself was stopped: its peers' messages are waiting to be read.
                long resumed = now;
                peers.forEach(peer -> peer.heard = resumed);
            }
            last = now;
            if (now - beat >= 0) {
                peers.forEach(this::beat);
                beat = now + interval;
            }
            checkSilence(now);
            settle(now);
            abort();
            peers.forEach(this::flush);
            long wait = Math.max(1, TimeUnit.NANOSECONDS.toMillis(beat - System.nanoTime()));
            selector.select(dispute == null ? wait : Math.min(wait, DISPUTE_TICK));
            for (SelectionKey key : selector.selectedKeys()) {
                for (Peer peer : peers) {
                    if (peer.key.equals(key) && peer.isOpen && key.isValid() && key.isReadable()) {
                        read(peer);
                    }
                }
            }
            selector.selectedKeys().clear();
        }
        abort();
        peers.forEach(peer -> send(peer, ControlFrame.of(ControlFrame.Kind.GOODBYE)));
        drain();
    }

    /** Sends what is left, for a short time: a peer that does not read is at fault, and finds out itself. */
    private void drain() throws IOException {
        long deadline = System.nanoTime() + FLUSH_NANOS;
        while (true) {
            peers.forEach(this::flush);
            boolean isDone = peers.stream().noneMatch(
                    peer -> peer.isOpen && !(peer.out.isEmpty() && peer.isFlushed));
            long left = deadline - System.nanoTime();
            if (isDone || left <= 0) {
                break;
            }
            selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
            selector.selectedKeys().clear();
        }
        for (Peer peer : peers) {
            if (peer.isOpen) {
                // What was received and not read would reset the connection, and the goodbye could be lost with it.
                read(peer);
            }
        }
    }

    private void beat(Peer peer) {
        if (peer.out.isEmpty()) {
            Numbered call = latest;
            send(peer, new ControlFrame(ControlFrame.Kind.HEARTBEAT, -1, call.sequence(), call.call().hash(),
                    sent.applyAsLong(peer.rank), ""));
        }
    }

    private void send(Peer peer, ControlFrame frame) {
        if (peer.isOpen) {
            peer.out.add(frame.encode(self));
        }
    }

    private void flush(Peer peer) {
        try {
            while (peer.isOpen && !peer.out.isEmpty()) {
                ByteBuffer frame = peer.out.peek();
                peer.channel.write(frame);
                if (frame.hasRemaining()) {
                    peer.key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                    return;
                }
                peer.out.remove();
            }
            if (peer.isOpen) {
                peer.isFlushed = peer.channel.flush();
                peer.key.interestOps(peer.isFlushed
                        ? SelectionKey.OP_READ
                        : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            }
        } catch (IOException e) {
            // What it sent before is still to be read: that may say why.
            read(peer);
            lost(peer, e);
        }
    }

    private void read(Peer peer) {
        try {
            while (peer.isOpen) {
                long count = peer.channel.read(peer.in);
                if (count < 0) {
                    lost(peer, null);
                }
                if (count <= 0) {
                    return;
                }
                peer.heard = System.nanoTime();
                if (!peer.in.hasRemaining()) {
                    ControlFrame frame = ControlFrame.decode(peer.in.flip(), self, peer.rank);
                    peer.in.clear();
                    accept(peer, frame);
                }
            }
        } catch (ProtocolException e) {
            failure.fail(e.text(), peer.rank, e);
            disconnect(peer);
        } catch (IOException e) {
            lost(peer, e);
        }
    }

    private void lost(Peer peer, @Nullable IOException cause) {
        if (!peer.isOpen) {
            return;
        }
        disconnect(peer);
        if (!peer.hasLeft) {
            failure.fail("rank " + peer.rank + " died: its connection with rank " + self.rank() + " was "
                    + (cause == null ? "closed" : "lost (" + cause.getMessage() + ")"), peer.rank, cause);
        }
    }

    private void disconnect(Peer peer) {
        peer.isOpen = false;
        peer.out.clear();
        peer.key.cancel();
        failure.signal();
    }

    private void accept(Peer peer, ControlFrame frame) throws ProtocolException {
        switch (frame.kind()) {
            case HEARTBEAT -> {
                peer.announced.setRelease(frame.sent());
                // Ranks that wait for others than those that wait for them would not find out.
                Numbered own = numbered(frame.sequence());
                if (own != null && own.call().hash() != frame.call()) {
                    disputed = frame.sequence();
                }
            }
            case ABORT -> failure.fail(frame.text().contains(" (reported by rank ")
                    ? frame.text()
                    : frame.text() + " (reported by rank " + peer.rank + ")", frame.culprit(), null);
            case GOODBYE -> {
                peer.hasLeft = true;
                failure.signal();
            }
            case DISPUTE -> open(frame.sequence()).vote(peer.rank, frame.call(), frame.text());
            case READY -> throw new ProtocolException("rank " + peer.rank + " said a second time that it is ready");
        }
    }

    private Dispute open(long sequence) {
        if (dispute == null || dispute.sequence != sequence) {
            dispute = new Dispute(sequence);
        }
        return dispute;
    }

    private void checkSilence(long now) {
        for (Peer peer : peers) {
            if (peer.isOpen && !peer.hasLeft && now - peer.heard > self.silence().toNanos()) {
                failure.fail("rank " + peer.rank + " has been silent for " + self.silence().toMillis()
                        + " ms, the limit: its process is stopped, or its machine cannot be reached", peer.rank, null);
            }
        }
    }

    private void settle(long now) {
        if (disputed >= 0 && failure.first() == null) {
            open(disputed);
        }
        Dispute open = dispute;
        if (open == null || failure.first() != null) {
            dispute = null;
            return;
        }
        disputed = open.sequence;
        Numbered own = numbered(open.sequence);
        if (own != null && !open.hasVote(self.rank())) {
            open.vote(self.rank(), own.call().hash(), own.call().toString());
            ControlFrame frame = new ControlFrame(ControlFrame.Kind.DISPUTE, -1, open.sequence,
                    own.call().hash(), 0, own.call().toString());
            peers.forEach(peer -> send(peer, frame));
        }
        boolean isLate = now - open.since > self.silence().toNanos() / 2;
        if (open.votes() == self.ranks() || isLate) {
            Dispute.Verdict verdict = open.verdict();
            if (verdict != null) {
                failure.fail(verdict.message(), verdict.rank(), null);
            } else if (suspect >= 0) {
                failure.fail("rank " + suspect + " sent a frame whose head is damaged, in collective " + open.sequence
                        + ": all ranks have called the same", suspect, null);
            } else {
                // Only a rank that has received such a frame knows of whom.
                dispute = null;
                disputed = -1;
            }
        }
    }

    private void abort() {
        CommunicationException first = failure.first();
        if (first != null && !isAborted) {
            isAborted = true;
            String message = first.getMessage() == null ? "a rank failed" : first.getMessage();
            peers.forEach(peer -> send(peer,
                    new ControlFrame(ControlFrame.Kind.ABORT, first.rank(), 0, 0, 0, message)));
        }
    }

    /** Ends the thread, which says goodbye. */
    void close() {
        isClosing = true;
        selector.wakeup();
        boolean isInterrupted = false;
        Thread running = thread;
        while (running != null && running.isAlive()) {
            try {
                running.join();
            } catch (InterruptedException _) {
                // It ends within its own limit.
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Frees what others could still wake, when nobody can any longer. */
    void free() {
        Listener.drop(selector);
    }
}
