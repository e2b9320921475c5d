package io.seriatim.tensor.array;

import io.seriatim.device.Buffer;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import java.util.concurrent.atomic.AtomicBoolean;

/** Temporary memory that operations share one after the other: each operation that uses it mutates its variable. */
public final class Workspace implements AutoCloseable {
    private final Engine engine;
    private final Buffer buffer;
    private final Var var;
    private final AtomicBoolean closed = new AtomicBoolean();

    Workspace(Engine engine, Buffer buffer) {
        this.engine = engine;
        this.buffer = buffer.label("workspace");
        var = engine.newVar("workspace");
    }

    /**
     * The variable that an operation must mutate to use the memory.
     *
     * @return the variable
     */
    public Var var() {
        return var;
    }

    /**
     * The memory, which only such operations may access.
     *
     * @return the same at each call
     */
    public Buffer buffer() {
        return buffer;
    }

    /** Frees the memory after the operations that were pushed before. Does nothing the second time. */
    @Override
    public void close() {
        if (!closed.getAndSet(true)) {
            engine.delete(var, buffer::close);
        }
    }
}
