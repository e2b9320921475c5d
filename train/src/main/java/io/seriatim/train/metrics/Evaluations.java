package io.seriatim.train.metrics;

import io.seriatim.train.TrainingListener.Evaluation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The evaluations of an unlimited training: the best one, the last one, and at most {@value Curve#MAX_POINTS} over all
 * steps. When there would be more, the span of steps that one evaluation stands for is doubled, and of the evaluations
 * in a span the last one stays. A span begins at a multiple of its length, so which ones stay does not depend on
 * interruptions of the training. Adding one takes amortised constant time. Not thread-safe.
 */
final class Evaluations {
    private final List<Evaluation> kept = new ArrayList<>();
    private long span = 1;
    /** The best one before the last: a resumed training may repeat the last one, and then has only this. */
    private @Nullable Evaluation bestBefore;

    /** Adds one; its step must not be less than that of the last one, which it replaces if the steps are equal. */
    void add(Evaluation evaluation) {
        if (!kept.isEmpty()) {
            Evaluation last = kept.getLast();
            if (last.step() != evaluation.step()) {
                bestBefore = better(bestBefore, last);
            }
            while (kept.size() == Curve.MAX_POINTS && !inOneSpan(last, evaluation)) {
                span *= 2;
                thin();
            }
            if (inOneSpan(last, evaluation)) {
                kept.removeLast();
            }
        }
        kept.add(evaluation);
    }

    private boolean inOneSpan(Evaluation one, Evaluation other) {
        return one.step() / span == other.step() / span;
    }

    private void thin() {
        List<Evaluation> thinned = new ArrayList<>(Curve.MAX_POINTS);
        for (Evaluation each : kept) {
            if (!thinned.isEmpty() && inOneSpan(thinned.getLast(), each)) {
                thinned.removeLast();
            }
            thinned.add(each);
        }
        kept.clear();
        kept.addAll(thinned);
    }

    /** The first of several with the smallest loss; one whose loss is not finite is never the best. */
    private static @Nullable Evaluation better(@Nullable Evaluation earlier, Evaluation later) {
        if (!Double.isFinite(later.loss())) {
            return earlier;
        }
        return earlier == null || Comparator.comparingDouble(Evaluation::loss).compare(later, earlier) < 0
                ? later
                : earlier;
    }

    /** In the order of their steps; the last of all is the last. */
    List<Evaluation> kept() {
        return Collections.unmodifiableList(kept);
    }

    Optional<Evaluation> best() {
        return kept.isEmpty() ? Optional.empty() : Optional.ofNullable(better(bestBefore, kept.getLast()));
    }
}
