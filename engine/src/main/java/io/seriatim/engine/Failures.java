package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The failures since the last {@code waitForAll}: a list of the first ones, and a count of the rest. The list is
 * intrusive, so that adding a failure allocates nothing. Guarded by the tracker lock.
 */
final class Failures {
    private static final int KEPT = 17;

    private @Nullable Failure first;
    private @Nullable Failure last;
    private int kept;
    private long more;

    /**
     * Appends a failure, or counts it if the list is full. The one failure that represents all failures which could not
     * be allocated is listed once and then counted.
     */
    void add(Failure failure) {
        if (kept < KEPT && !failure.listed) {
            failure.listed = true;
            Failure l = last;
            if (l == null) {
                first = failure;
            } else {
                l.next = failure;
            }
            last = failure;
            kept++;
        } else {
            more++;
        }
    }

    /** Moves all failures of another instance to the end of this one. */
    void takeAll(Failures other) {
        Failure failure = other.first;
        long others = other.more;
        other.clear();
        while (failure != null) {
            Failure following = failure.next;
            failure.next = null;
            failure.listed = false;
            add(failure);
            failure = following;
        }
        more += others;
    }

    private void clear() {
        first = null;
        last = null;
        kept = 0;
        more = 0;
    }

    /**
     * Removes all failures and returns the exception that {@code waitForAll} throws for them, or null if there are
     * none.
     */
    @Nullable
    OperationFailedException take() {
        Failure f = first;
        if (f == null) {
            return null;
        }
        OperationFailedException thrown = new OperationFailedException(f.operation, null, f.cause);
        for (Failure other = f.next; other != null; other = other.next) {
            thrown.addSuppressed(new OperationFailedException(other.operation, null, other.cause));
        }
        if (more > 0) {
            thrown.addSuppressed(new IllegalStateException("and " + more + " more failures"));
        }
        clear();
        while (f != null) {
            Failure following = f.next;
            f.observed = true;
            f.next = null;
            f.listed = false;
            f = following;
        }
        return thrown;
    }

    /** Returns the listed failures that nobody has observed. */
    List<Failure> unobserved() {
        List<Failure> unobserved = new ArrayList<>();
        for (Failure f = first; f != null; f = f.next) {
            if (!f.observed) {
                unobserved.add(f);
            }
        }
        return unobserved;
    }
}
