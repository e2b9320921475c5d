package io.seriatim.device;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The thread of a simulated stream. It knows which buffers the current work has declared. */
final class SimThread extends Thread {
    private final SimStream stream;
    private List<Access> declared = List.of();

    SimThread(SimStream stream, Runnable loop) {
        super(loop, stream.device().place() + "/" + stream.name());
        this.stream = stream;
        setDaemon(true);
    }

    static @Nullable SimThread current() {
        return Thread.currentThread() instanceof SimThread thread ? thread : null;
    }

    static boolean mayTouch(Buffer buffer) {
        SimThread thread = current();
        return thread != null && thread.declares(buffer);
    }

    private boolean declares(Buffer buffer) {
        for (Access access : declared) {
            if (access.buffer().block() == buffer.block()) {
                return true;
            }
        }
        return false;
    }

    SimStream stream() {
        return stream;
    }

    void declare(List<Access> accesses) {
        declared = accesses;
    }
}
