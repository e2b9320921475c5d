package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The failures since the last {@code waitForAll}: the first ones, and a count of the rest. Owned by the tracker's role. */
final class Failures {
    private static final int KEPT = 17;

    private final List<Failure> kept = new ArrayList<>(0);
    private long more;

    void add(Failure failure) {
        if (kept.size() < KEPT) {
            kept.add(failure);
        } else {
            more++;
        }
    }

    /** Moves all of the other's to the end of these. */
    void takeAll(Failures other) {
        other.kept.forEach(this::add);
        more += other.more;
        other.clear();
    }

    void clear() {
        kept.clear();
        more = 0;
    }

    /** Takes what {@code waitForAll} throws, or null where nothing failed. */
    @Nullable
    OperationFailedException take() {
        if (kept.isEmpty()) {
            return null;
        }
        Failure first = kept.get(0);
        OperationFailedException thrown = new OperationFailedException(first.operation, null, first.cause);
        kept.forEach(failure -> failure.observed = true);
        for (Failure other : kept.subList(1, kept.size())) {
            thrown.addSuppressed(new OperationFailedException(other.operation, null, other.cause));
        }
        if (more > 0) {
            thrown.addSuppressed(new IllegalStateException("and " + more + " more failures"));
        }
        clear();
        return thrown;
    }

    /** Those that no one has seen. */
    List<Failure> unobserved() {
        return kept.stream().filter(failure -> !failure.observed).toList();
    }
}
