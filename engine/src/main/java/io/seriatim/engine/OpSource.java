package io.seriatim.engine;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A collection of operations that can be removed one by one. Guarded by the tracker lock. */
interface OpSource {
    /** Removes and returns an operation, or null if there is none. */
    @Nullable
    Operation poll();

    /** Passes each operation to {@code look}, in no particular order. */
    void forEach(Consumer<Operation> look);
}
