package io.seriatim.engine;

import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** Tells failures of bodies that {@code shutdownNow} stopped from other failures. */
final class Interruptions {
    /** The maximum number of causes to look at, because they may form a cycle. */
    private static final int CAUSES = 100;

    private Interruptions() {
    }

    /**
     * Returns whether an exception or one of its causes is thrown where a thread is interrupted, a future is cancelled,
     * or a closed engine refuses a push.
     */
    @SuppressWarnings("CatchingUnchecked") // getCause may be overridden, and the caller holds the tracker lock.
    static boolean isStop(Throwable thrown) {
        try {
            @Nullable
            Throwable t = thrown;
            for (int i = 0; t != null && i < CAUSES; i++) {
                if (t instanceof InterruptedException || t instanceof InterruptedIOException
                        || t instanceof ClosedByInterruptException || t instanceof FileLockInterruptionException
                        || t instanceof CancellationException || t instanceof PushRefusedException) {
                    return true;
                }
                t = t.getCause();
            }
            return false;
        } catch (Throwable broken) {
            // Then it is reported like any other failure.
            return false;
        }
    }
}
