package io.seriatim.tensor.array;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Event;
import io.seriatim.device.Stream;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The memory of an array and of all its views, and the variable that orders the accesses to it. The engine lets
 * operations begin in an order that makes the events here redundant; they are looked at nevertheless, which tells a
 * device's race detector what the engine has ordered. A stream does not wait for those that are done: one that carries
 * a failure would fail work that has nothing to do with it, and what does was skipped by the engine.
 */
final class Storage {
    private final Engine engine;
    private final Var var;
    private final Tensor whole;
    private final Placement placement;
    private final Stream home;
    @GuardedBy("this")
    private @Nullable Event written;
    @GuardedBy("this")
    private final Map<Stream, Event> read = new HashMap<>(2);
    @GuardedBy("this")
    private boolean closed;
    /** All operations have ended. */
    @GuardedBy("this")
    private boolean deleted;
    /** Threads that read the memory without an operation. */
    @GuardedBy("this")
    private int readers;

    /**
     * A storage with memory of its own.
     *
     * @param home
     *            the stream that the memory was taken for
     */
    Storage(Engine engine, String name, Tensor whole, Placement placement, Stream home) {
        this.engine = engine;
        this.whole = whole;
        this.placement = placement;
        this.home = home;
        var = engine.newVar(name);
        whole.buffer().label(name);
    }

    Engine engine() {
        return engine;
    }

    Var var() {
        return var;
    }

    Tensor whole() {
        return whole;
    }

    Placement placement() {
        return placement;
    }

    /** Orders work that is launched from now on after all conflicting work. */
    void order(Stream stream, boolean write) {
        synchronized (this) {
            if (written != null) {
                follow(stream, written);
            } else if (!stream.equals(home)) {
                // The memory is in the order of the stream that it was taken for, which nothing was launched on yet.
                stream.waitFor(home.mark());
            }
            if (write) {
                read.values().forEach(event -> follow(stream, event));
            }
        }
    }

    private static void follow(Stream stream, Event event) {
        if (!event.isDone()) {
            stream.waitFor(event);
        }
    }

    /** Records a launch. The last read of a stream comes after its other reads. */
    void launched(Stream stream, Event event, boolean write) {
        synchronized (this) {
            if (write) {
                written = event;
                read.clear();
            } else {
                read.put(stream, event);
            }
        }
    }

    /**
     * Tells a race detector that the calling thread is about to access host memory, and what the engine has ordered
     * before it.
     */
    void observe(Tensor part, String operation, boolean write) {
        synchronized (this) {
            boolean ordered = written == null || written.isDone();
            if (write) {
                for (Event event : read.values()) {
                    ordered &= event.isDone();
                }
            }
            if (!ordered) {
                throw new IllegalStateException("'" + operation + "' touches '" + var.name()
                        + "' before a device has finished with it: this is a defect of the library, please report it");
            }
        }
        part.buffer().hostCheck(operation, part.access(write).offset(), part.access(write).bytes(), write);
    }

    void requireOpen() {
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("The array '" + var.name() + "' is closed: use it before closing it");
            }
        }
    }

    /** Begins a read by the calling thread, outside of any operation: closing waits for its end. */
    void pin() {
        synchronized (this) {
            requireOpen();
            readers++;
        }
    }

    /** Ends a read by the calling thread. */
    void unpin() {
        boolean last;
        synchronized (this) {
            readers--;
            last = readers == 0 && deleted;
        }
        if (last) {
            whole.close();
        }
    }

    private void deleted() {
        boolean unread;
        synchronized (this) {
            deleted = true;
            unread = readers == 0;
        }
        if (unread) {
            whole.close();
        }
    }

    /** Frees the memory after all operations that were pushed before. */
    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        engine.delete(var, this::deleted);
    }
}
