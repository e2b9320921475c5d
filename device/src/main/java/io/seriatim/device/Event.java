package io.seriatim.device;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A place in a stream that has been passed, or not yet. */
public interface Event {
    /**
     * Whether all work before it is done.
     *
     * @return true from then on, also if the work failed
     */
    boolean isDone();

    /**
     * What failed before it.
     *
     * @return the Throwable of the first piece of work that failed; null if none did or the event is not done
     */
    @Nullable
    Throwable failure();

    /**
     * Waits until it is done.
     *
     * @throws InterruptedException
     *             if interrupted
     * @throws StreamFailedException
     *             if work before it failed; the cause is what that threw
     */
    void synchronize() throws InterruptedException;

    /**
     * Calls back once, when it is done: at once in this thread if it is done already, else on a thread of the device,
     * which must not be held up.
     *
     * @param listener
     *            gets what failed, or null
     */
    void onDone(Consumer<@Nullable Throwable> listener);
}
