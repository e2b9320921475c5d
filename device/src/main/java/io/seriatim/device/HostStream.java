package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A stream that runs work in the calling thread before the call returns. */
final class HostStream implements Stream {
    private final HostDevice device;
    private final String name;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private @Nullable StreamCache cache;
    private volatile boolean closed;

    HostStream(HostDevice device, String name) {
        this.device = device;
        this.name = Objects.requireNonNull(name, "name");
    }

    void open(StreamCache ofDevice) {
        cache = ofDevice;
    }

    StreamCache cache() {
        return Objects.requireNonNull(cache);
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void launch(String operation, List<Access> accesses, Body body) {
        Objects.requireNonNull(operation, "operation");
        Objects.requireNonNull(body, "body");
        requireOpen();
        for (Access access : accesses) {
            access.buffer().requireOpen();
            access.buffer().hostAccess(operation, access.offset(), access.bytes(), access.write());
        }
        try {
            run(body);
        } finally {
            // The body may hold only segments or addresses of the declared buffers.
            Reference.reachabilityFence(accesses);
        }
    }

    @Override
    public void launchHost(String operation, List<Access> accesses, Body body) {
        Accesses.checkHost(operation, accesses);
        launch(operation, accesses, body);
    }

    @Override
    public void copy(String operation, Access source, Access target) {
        Accesses.checkCopy(operation, source, target);
        requireOpen();
        Stream other = Copies.other(source, target, this);
        if (other != null) {
            // The other device's stream performs the copy. This stream waits for it, because it must execute in order.
            other.waitFor(record());
            other.copy(operation, source, target);
            waitFor(other.record());
            return;
        }
        target.buffer().changed();
        launch(operation, List.of(source, target), () -> {
            source.buffer().requireOpen();
            target.buffer().requireOpen();
            MemorySegment.copy(source.buffer().view(), source.offset(), target.buffer().view(), target.offset(),
                    source.bytes());
        });
    }

    private void run(Body body) {
        if (failure.get() != null) {
            return;
        }
        try {
            body.run();
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }

    @Override
    public Event record() {
        return new DoneEvent(name, failure.getAndSet(null));
    }

    @Override
    public Event mark() {
        return new DoneEvent(name, null);
    }

    @Override
    public void waitFor(Event event) {
        Objects.requireNonNull(event, "event");
        boolean interrupted = false;
        while (true) {
            try {
                event.synchronize();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (StreamFailedException e) {
                failure.compareAndSet(null, e.getCause());
                break;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("The stream '" + name + "' of " + device.place() + " is closed");
        }
    }

    @Override
    public void close() {
        closed = device.defaultStream() != this;
    }
}
