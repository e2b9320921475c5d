package io.seriatim.graph.ops.control;

import io.seriatim.graph.program.OpDesc;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How often each operation has printed. Descriptions are compared by identity, so that equal operations of two programs
 * have counts of their own. An entry is removed with its description.
 */
final class TimesPrinted {
    private static final class Key extends WeakReference<OpDesc> {
        private final int hash;

        Key(OpDesc op, @Nullable ReferenceQueue<OpDesc> queue) {
            super(op, queue);
            hash = System.identityHashCode(op);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // Compared by identity.
        public boolean equals(Object other) {
            return this == other || (other instanceof Key key && get() != null && get() == key.get());
        }
    }

    private final Map<Key, Integer> times = new HashMap<>();
    private final ReferenceQueue<OpDesc> gone = new ReferenceQueue<>();

    /** Counts once more. */
    synchronized int next(OpDesc op) {
        for (Object key = gone.poll(); key != null; key = gone.poll()) {
            times.remove(key);
        }
        return times.merge(new Key(op, gone), 1, Integer::sum);
    }
}
