package io.seriatim.device;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A marker in a stream. It is done when all work launched before it is done. */
public interface Event {
    /**
     * Returns whether all work before the event is done.
     *
     * @return true once the work is done, even if it failed
     */
    boolean isDone();

    /**
     * Returns the failure of the work before the event.
     *
     * @return the exception of the first work that failed, or null if none failed or the event is not done
     */
    @Nullable
    Throwable failure();

    /**
     * Waits until the event is done.
     *
     * @throws InterruptedException
     *             if the calling thread is interrupted
     * @throws StreamFailedException
     *             if work before the event failed; the cause is the exception of that work
     */
    void synchronize() throws InterruptedException;

    /**
     * Registers a listener, which is called once when the event is done: in this thread if the event is already done,
     * otherwise on a thread of the device. The listener must not block.
     *
     * @param listener
     *            receives the failure, or null
     */
    void onDone(Consumer<@Nullable Throwable> listener);
}
