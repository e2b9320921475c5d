package io.seriatim.engine.queue;

import io.seriatim.engine.dependency.Operation;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Operations that can be taken one by one. Guarded by the tracker lock. */
public interface OpSource {
    /** Takes an operation, or null if there are none. */
    @Nullable
    Operation poll();

    /** Shows all operations, in no particular order. */
    void forEach(Consumer<Operation> look);
}
