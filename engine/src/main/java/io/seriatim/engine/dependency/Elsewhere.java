package io.seriatim.engine.dependency;

import io.seriatim.engine.Body;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The place in a list of an operation that neither waits in a queue nor is in a worker's hands: a started asynchronous
 * one, or one of kind ASYNC that is ready. Made when it is pushed, so that the tracker allocates nothing; guarded by
 * the tracker lock.
 */
public abstract class Elsewhere {
    final Operation op;
    private @Nullable Elsewhere previous;
    private @Nullable Elsewhere next;
    private boolean listed;

    Elsewhere(Operation op) {
        this.op = op;
    }

    /** That of an operation. */
    public static Elsewhere of(Operation op) {
        return op.attachment instanceof Elsewhere completion
                ? completion
                : (Elsewhere) java.util.Objects.requireNonNull(op.body);
    }

    /** That of an operation of kind ASYNC whose body is not asynchronous; stands in for the body. */
    public static final class Ready extends Elsewhere implements Body {
        private final Body body;

        public Ready(Operation op, Object body) {
            super(op);
            this.body = (Body) body;
        }

        @Override
        public void run() throws Exception {
            body.run();
        }
    }

    /** The list. */
    public static final class Ring {
        private @Nullable Elsewhere first;
        /** The next one of a scan. */
        private @Nullable Elsewhere scanned;

        public void add(Elsewhere e) {
            if (e.listed) {
                return;
            }
            e.listed = true;
            Elsewhere f = first;
            e.next = f;
            if (f != null) {
                f.previous = e;
            }
            first = e;
        }

        @SuppressWarnings("ReferenceEquality") // That one, not an equal one.
        public void remove(Elsewhere e) {
            if (!e.listed) {
                return;
            }
            e.listed = false;
            if (scanned == e) {
                scanned = e.next;
            }
            Elsewhere before = e.previous;
            Elsewhere after = e.next;
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

        /** Begins to scan what is listed now; others may be removed meanwhile. */
        public void beginScan() {
            scanned = first;
        }

        /** The next operation of the scan, or null at its end. */
        public @Nullable Operation scan() {
            Elsewhere e = scanned;
            if (e == null) {
                return null;
            }
            scanned = e.next;
            return e.op;
        }

        public void forEach(Consumer<Operation> look) {
            for (Elsewhere e = first; e != null; e = e.next) {
                look.accept(e.op);
            }
        }
    }
}
