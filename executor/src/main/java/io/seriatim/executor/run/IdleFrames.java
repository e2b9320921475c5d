package io.seriatim.executor.run;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The frames of a specialisation that no run uses, without locks.
 *
 * <p>
 * A frame is in at most one place, which whoever swaps it out owns. A thread looks first where it last put one, so that
 * each of several threads mostly has its own frame, whose memory its processor still has in its caches. Once closed,
 * nothing stays: either {@link #close} finds a frame that was put in, or whoever put it in finds that it was closed
 * meanwhile, and clears.
 */
public final class IdleFrames<F> {
    private static final int MOST = 8;

    private final AtomicReferenceArray<@Nullable F> frames = new AtomicReferenceArray<>(MOST);
    private final Consumer<F> free;
    private volatile boolean closed;

    /** Empty; frames' memory is freed by the consumer. */
    public IdleFrames(Consumer<F> free) {
        this.free = free;
    }

    private static int start() {
        return (int) (Thread.currentThread().threadId() % MOST);
    }

    /** Takes one; null if there is none. */
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

    /** Puts one in; false if there is no place, so that it remains the caller's. */
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

    /** Frees their memory. */
    public void clear() {
        for (int i = 0; i < MOST; i++) {
            F frame = frames.getAndSet(i, null);
            if (frame != null) {
                free.accept(frame);
            }
        }
    }

    /** Frees their memory, and takes no more. */
    public void close() {
        closed = true;
        clear();
    }
}
