package io.seriatim.engine;

import java.util.ArrayList;
import java.util.Deque;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/** The states of one worker, made at their first use and closed, last first, when the worker ends. */
final class WorkerStates {
    private final List<Supplier<?>> unmade;
    private final Deque<Object> made = new ArrayDeque<>();

    WorkerStates(List<Supplier<?>> suppliers) {
        unmade = new ArrayList<>(suppliers);
    }

    synchronized <T> T get(Class<T> type, Operation op) {
        for (Object state : made) {
            if (type.isInstance(state)) {
                return type.cast(state);
            }
        }
        while (!unmade.isEmpty()) {
            Object state = Objects.requireNonNull(unmade.get(0).get(),
                    "a worker state made by the supplier given to workerState");
            unmade.remove(0);
            made.push(state);
            if (type.isInstance(state)) {
                return type.cast(state);
            }
        }
        throw new IllegalStateException(
                "lane '" + op.lane + "' of operation '" + op.name + "' has no worker state of type " + type.getName()
                        + ": give the engine's builder one with workerState(lane, supplier)");
    }

    synchronized void close(EngineCore core) {
        unmade.clear();
        while (!made.isEmpty()) {
            if (made.pop() instanceof AutoCloseable closeable) {
                try {
                    closeable.close();
                } catch (Throwable t) {
                    core.unhandled(t);
                }
            }
        }
    }
}
