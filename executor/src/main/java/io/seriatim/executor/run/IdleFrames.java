package io.seriatim.executor.run;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lock-free pool of the idle frames of a compiled plan.
 *
 * <p>
 * A frame is in at most one slot; the thread that removes it by an atomic swap owns it. Each thread starts its search
 * at a slot derived from its id. Each of several threads thus usually gets the frame that it used before, whose memory
 * is still in its processor's caches.
 *
 * <p>
 * No frame remains in a closed pool. A thread that has put in a frame reads {@code closed} afterwards, and
 * {@link #close} sets {@code closed} before it clears the slots. So either {@code close} finds the frame, or the thread
 * observes that the pool is closed and clears it.
 */
public final class IdleFrames<F> {
    private static final int MOST = 8;

    private final AtomicReferenceArray<@Nullable F> frames = new AtomicReferenceArray<>(MOST);
    private final Consumer<F> free;
    private volatile boolean closed;

    /** Creates an empty pool. The consumer frees the memory of a frame. */
    public IdleFrames(Consumer<F> free) {
        this.free = free;
    }

    private static int start() {
        return (int) (Thread.currentThread().threadId() % MOST);
    }

    /** Removes and returns a frame; null if the pool is empty. */
    @Nullable
    public F poll() {
        int start = start();
        for (int i = 0; i < MOST; i++) {
            int place = (start + i) % MOST;
            if (frames.get(place) != null) {
                F frame = frames.getAndSet(place, null);
                if (frame != null) {
                    return frame;
                }
            }
        }
        return null;
    }

    /** Adds a frame. Returns false if the pool is full or closed; the caller then keeps the frame. */
    public boolean offer(F frame) {
        if (closed) {
            return false;
        }
        int start = start();
        for (int i = 0; i < MOST; i++) {
            if (frames.compareAndSet((start + i) % MOST, null, frame)) {
                if (closed) {
                    clear();
                }
                return true;
            }
        }
        return false;
    }

    /** Frees the memory of all frames in the pool. */
    public void clear() {
        for (int i = 0; i < MOST; i++) {
            F frame = frames.getAndSet(i, null);
            if (frame != null) {
                free.accept(frame);
            }
        }
    }

    /** Frees the memory of all frames in the pool, which accepts no more frames. */
    public void close() {
        closed = true;
        clear();
    }
}
