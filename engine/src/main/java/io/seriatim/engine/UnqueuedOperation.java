package io.seriatim.engine;

import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A list node of an operation that is neither in a queue nor held by a worker: a started asynchronous operation, or a
 * ready operation of kind ASYNC. The pushing thread creates it, so that the tracker allocates nothing. Guarded by the
 * tracker lock.
 */
abstract class UnqueuedOperation {
    final Operation op;
    private @Nullable UnqueuedOperation previous;
    private @Nullable UnqueuedOperation next;
    private boolean listed;

    UnqueuedOperation(Operation op) {
        this.op = op;
    }

    /** Returns the node of an operation. */
    static UnqueuedOperation of(Operation op) {
        return op.attachment instanceof UnqueuedOperation completion
                ? completion
                : (UnqueuedOperation) Objects.requireNonNull(op.body);
    }

    /** The node of an operation of kind ASYNC with a synchronous body. It wraps the body and is stored in its place. */
    static final class Ready extends UnqueuedOperation implements Body {
        private final Body body;

        Ready(Operation op, Object body) {
            super(op);
            this.body = (Body) body;
        }

        @Override
        public void run() throws Exception {
            body.run();
        }
    }

    /** A doubly linked list of such operations, with one scan that tolerates removals. Guarded by the tracker lock. */
    static final class Links {
        private @Nullable UnqueuedOperation first;
        /** The next node of the current scan. */
        private @Nullable UnqueuedOperation scanned;

        void add(UnqueuedOperation e) {
            if (e.listed) {
                return;
            }
            e.listed = true;
            UnqueuedOperation f = first;
            e.next = f;
            if (f != null) {
                f.previous = e;
            }
            first = e;
        }

        @SuppressWarnings("ReferenceEquality") // Compares identity, because nodes have no other equality.
        void remove(UnqueuedOperation e) {
            if (!e.listed) {
                return;
            }
            e.listed = false;
            if (scanned == e) {
                scanned = e.next;
            }
            UnqueuedOperation before = e.previous;
            UnqueuedOperation after = e.next;
            if (before == null) {
                first = after;
            } else {
                before.next = after;
            }
            if (after != null) {
                after.previous = before;
            }
            e.previous = null;
            e.next = null;
        }

        /** Begins a scan of the listed operations; operations may be removed during the scan. */
        void beginScan() {
            scanned = first;
        }

        /** Returns the next operation of the scan, or null at its end. */
        @Nullable
        Operation scan() {
            UnqueuedOperation e = scanned;
            if (e == null) {
                return null;
            }
            scanned = e.next;
            return e.op;
        }

        void forEach(Consumer<Operation> look) {
            for (UnqueuedOperation e = first; e != null; e = e.next) {
                look.accept(e.op);
            }
        }
    }
}
