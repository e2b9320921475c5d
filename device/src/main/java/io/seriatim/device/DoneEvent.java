package io.seriatim.device;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An event that was done when it was recorded. */
record DoneEvent(String stream, @Nullable Throwable failure) implements Event {
    @Override
    public boolean isDone() {
        return true;
    }

    @Override
    public void synchronize() {
        if (failure != null) {
            throw new StreamFailedException("Work on the stream '" + stream + "' failed: " + failure, failure);
        }
    }

    @Override
    public void onDone(Consumer<@Nullable Throwable> listener) {
        listener.accept(failure);
    }
}
