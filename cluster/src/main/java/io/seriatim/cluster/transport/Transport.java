package io.seriatim.cluster.transport;

import io.seriatim.graph.parallel.CommunicationException;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a rank with all others. A collective is {@link #begin}, any number of {@link #exchange}s, and
 * {@link #end}, by one thread.
 *
 * <p>
 * The calling thread itself moves the bytes, sending and receiving in turn without blocking, so that no order of steps
 * and no size can block two ranks that both send. If neither makes progress it looks again for a while, and then waits
 * in a selector. The lock is held from begin to end and guards the selector and the links. A failure wakes the
 * selector: see {@link Failure}.
 */
public final class Transport implements Closeable {
    /** For {@link #exchange}: no rank. */
    public static final int NOBODY = -1;

    /** How long to look again before waiting: about the time that it takes to be woken. */
    private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long TICK_MILLIS = 50;
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Member self;
    private final Failure failure = new Failure();
    private final ReentrantLock lock = new ReentrantLock();
    private final Selector selector;
    private final @Nullable DataLink[] links;
    private final Control control;
    private long sequence;
    private long hash;
    private Call call = Call.NONE;

    private Transport(Member self, @Nullable TimedChannel[] control, @Nullable TimedChannel[] data,
            @Nullable SharedMemory[] shared) throws IOException {
        this.self = self;
        selector = Selector.open();
        links = new DataLink[data.length];
        for (int rank = 0; rank < data.length; rank++) {
            TimedChannel channel = data[rank];
            if (channel != null) {
                PeerChannel released = channel.release();
                SharedMemory memory = shared[rank];
                links[rank] = new DataLink(self, rank,
                        memory == null ? released : memory.over(released, self.rank() < rank, rank), selector);
            }
        }
        failure.onFailure(selector::wakeup);
        this.control = new Control(self, failure, control, rank -> sentTo(rank));
    }

    /**
     * The transport of a rank without peers.
     *
     * @param self
     *            the rank
     * @return started
     * @throws IOException
     *             if the system has no selector left
     */
    public static Transport alone(Member self) throws IOException {
        return start(self, new TimedChannel[1], new TimedChannel[1], new SharedMemory[1]);
    }

    static Transport start(Member self, @Nullable TimedChannel[] control, @Nullable TimedChannel[] data,
            @Nullable SharedMemory[] shared) throws IOException {
        Transport transport = new Transport(self, control, data, shared);
        transport.control.start();
        return transport;
    }

    private long sentTo(int rank) {
        DataLink link = links[rank];
        return link == null ? 0 : link.sent.getAcquire();
    }

    /**
     * The number of this rank.
     *
     * @return from 0
     */
    public int rank() {
        return self.rank();
    }

    /**
     * How many ranks there are.
     *
     * @return at least 1
     */
    public int ranks() {
        return self.ranks();
    }

    /**
     * Begins a collective, when no other is running.
     *
     * @param next
     *            the same on all ranks
     */
    public void begin(Call next) {
        lock.lock();
        boolean isBegun = false;
        try {
            failure.check();
            sequence++;
            call = next;
            hash = next.hash();
            control.called(sequence, next);
            isBegun = true;
        } finally {
            if (!isBegun) {
                lock.unlock();
            }
        }
    }

    /** Ends a collective, done or failed. */
    public void end() {
        lock.unlock();
    }

    /**
     * Sends a frame and receives another one, at the same time.
     *
     * @param step
     *            the number of the exchange in the collective, the same for the sender and the receiver of a frame
     * @param to
     *            the rank that receives, or {@link #NOBODY}
     * @param payload
     *            native memory, not changed by the receipt
     * @param from
     *            the rank that sends, or {@link #NOBODY}
     * @param receipt
     *            where its payload goes
     */
    public void exchange(int step, int to, MemorySegment payload, int from, Receipt receipt) {
        DataLink out = to == NOBODY ? null : links[to];
        DataLink in = from == NOBODY ? null : links[from];
        if (out != null) {
            out.startSend(sequence, step, hash, payload);
        }
        if (in != null) {
            in.startReceive(sequence, step, hash, receipt);
        }
        long waiting = 0;
        while (true) {
            failure.check();
            boolean isProgress = out != null && out.isSending() && write(out);
            isProgress |= in != null && in.isReceiving() && read(in);
            boolean isSending = out != null && out.isSending();
            boolean isReceiving = in != null && in.isReceiving();
            if (!isSending && !isReceiving) {
                return;
            }
            if (isProgress) {
                waiting = 0;
                continue;
            }
            long now = System.nanoTime();
            waiting = waiting == 0 ? now : waiting;
            if (now - waiting < SPIN_NANOS) {
                lookAgain();
            } else {
                await(isSending ? out : null, isReceiving ? in : null);
                checkStall(isSending ? out : null, isReceiving ? in : null, System.nanoTime() - waiting);
            }
        }
    }

    /** Lets others run in between: the peer, or what it waits for, may need this processor. */
    @SuppressWarnings("ThreadPriorityCheck") // Nothing depends on it but the time of others.
    private static void lookAgain() {
        Thread.yield();
    }

    /**
     * Ends the work of all ranks: this one cannot go on.
     *
     * @param cause
     *            why
     * @return what to throw
     */
    public CommunicationException fail(RuntimeException cause) {
        failure.fail("rank " + self.rank() + " failed in " + call + ": " + cause, self.rank(), cause);
        CommunicationException first = failure.first();
        return first == null ? new CommunicationException(String.valueOf(cause), self.rank(), cause) : first;
    }

    private boolean write(DataLink out) {
        try {
            return out.write();
        } catch (IOException e) {
            throw lost(out, e);
        }
    }

    private boolean read(DataLink in) {
        try {
            return in.read();
        } catch (DivergedException e) {
            control.dispute(sequence, in.peer);
            failure.await(() -> false, self.silence().toNanos());
            failure.fail("rank " + in.peer + " called another collective than rank " + self.rank() + ", which called "
                    + call, in.peer, e);
        } catch (ProtocolException e) {
            failure.fail(e.text() + ", in " + call, in.peer, e);
        } catch (IOException e) {
            throw lost(in, e);
        }
        failure.check();
        throw new IllegalStateException("a failure was not recorded");
    }

    /** Gives the control thread time to learn why: the peer may have told of another rank's failure, or have left. */
    private RuntimeException lost(DataLink link, IOException cause) {
        failure.await(() -> control.hasLeft(link.peer), Math.min(GRACE_NANOS, self.silence().toNanos()));
        failure.fail(control.hasLeft(link.peer)
                ? "rank " + link.peer + " has left, and rank " + self.rank() + " waits for it in " + call
                : "rank " + link.peer + " cannot be reached by rank " + self.rank() + " in " + call + ": "
                        + cause.getMessage(),
                link.peer, cause);
        failure.check();
        return new IllegalStateException("a failure was not recorded", cause);
    }

    private void await(@Nullable DataLink out, @Nullable DataLink in) {
        try {
            boolean mayWait = true;
            for (DataLink link : links) {
                if (link != null) {
                    mayWait &= link.awaits(link.equals(in), link.equals(out));
                }
            }
            if (mayWait) {
                selector.select(TICK_MILLIS);
                selector.selectedKeys().clear();
                for (DataLink link : links) {
                    if (link != null && (link.equals(in) || link.equals(out))) {
                        link.channel.woken();
                    }
                }
            }
        } catch (IOException e) {
            failure.fail("rank " + self.rank() + " cannot wait for its peers: " + e.getMessage(), self.rank(), e);
        }
        if (Thread.currentThread().isInterrupted()) {
            failure.fail("rank " + self.rank() + " was interrupted in " + call, self.rank(), null);
        }
    }

    private void checkStall(@Nullable DataLink out, @Nullable DataLink in, long nanos) {
        if (in != null && nanos > self.silence().toNanos() && control.announced(in.peer) > in.received.getPlain()) {
            failure.fail("the connection of rank " + in.peer + " with rank " + self.rank() + " does not deliver: "
                    + control.announced(in.peer) + " bytes were sent, " + in.received.getPlain() + " have arrived, in "
                    + call, in.peer, null);
        }
        DataLink link = in != null ? in : out;
        if (link != null && nanos > self.stall().toNanos()) {
            failure.fail("rank " + link.peer + " is alive but has kept rank " + self.rank() + " waiting for "
                    + self.stall().toMillis() + " ms, the limit, in " + call, link.peer, null);
        }
    }

    /**
     * Says goodbye and closes the connections. A collective that is running fails, on this and all other ranks.
     */
    @Override
    public void close() {
        if (!lock.tryLock()) {
            failure.fail("rank " + self.rank() + " was closed during a collective", self.rank(), null);
            lock.lock();
        }
        try {
            if (!selector.isOpen()) {
                return;
            }
            control.close();
            failure.close("rank " + self.rank() + " is closed", self.rank());
            control.free();
            for (DataLink link : links) {
                if (link != null) {
                    link.close();
                }
            }
            selector.close();
        } catch (IOException e) {
            throw new CommunicationException("rank " + self.rank() + " could not close its connections", self.rank(),
                    e);
        } finally {
            lock.unlock();
        }
    }
}
