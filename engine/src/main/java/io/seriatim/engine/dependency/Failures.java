package io.seriatim.engine.dependency;

import io.seriatim.engine.OperationFailedException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The failures since the last {@code waitForAll}: the first ones, and a count of the rest; linked through themselves,
 * so that adding one allocates nothing. Guarded by the tracker lock.
 */
public final class Failures {
    private static final int KEPT = 17;

    private @Nullable Failure first;
    private @Nullable Failure last;
    private int kept;
    private long more;

    /**
     * Links it; a failure that stands for several, because there was no memory, is only counted after the first time.
     */
    public void add(Failure failure) {
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

    /** Moves all of the other's to the end of these. */
    public void takeAll(Failures other) {
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

    /** Takes what {@code waitForAll} throws, or null where nothing failed. */
    @Nullable
    public OperationFailedException take() {
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

    /** Those that no one has seen. */
    public List<Failure> unobserved() {
        List<Failure> unobserved = new ArrayList<>();
        for (Failure f = first; f != null; f = f.next) {
            if (!f.observed) {
                unobserved.add(f);
            }
        }
        return unobserved;
    }
}
