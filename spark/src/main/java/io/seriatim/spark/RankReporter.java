package io.seriatim.spark;

import io.seriatim.train.TrainingListener;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Adds the events of rank 0 to an accumulator. Steps of an interval become one event, with means of their losses and
 * metrics and the sums of their times and units. Intervals grow with the training, so that a long one has some thousand
 * events.
 */
final class RankReporter implements TrainingListener {
    private static final long LEAST_NANOS = 250_000_000;
    private static final long PARTS = 2000;

    private final RankEvents events;
    private final LongSupplier nanos;
    private final long startedAt;
    private long number;
    private long toldAt;
    private @Nullable Step last;
    private long steps;
    private double loss;
    private final Map<String, Double> metrics = new HashMap<>();
    private double seconds;
    private long units;

    RankReporter(RankEvents events, LongSupplier nanos) {
        this.events = events;
        this.nanos = nanos;
        startedAt = nanos.getAsLong();
    }

    @Override
    public void started(Started started) {
        events.add(RankEvent.Began.of(number++, started));
        toldAt = startedAt - LEAST_NANOS;
    }

    @Override
    public void step(Step step) {
        last = step;
        steps++;
        loss += step.loss();
        step.metrics().forEach((name, value) -> metrics.merge(name, value, Double::sum));
        seconds += step.seconds();
        units += step.units();
        long now = nanos.getAsLong();
        if (now - toldAt >= Math.max(LEAST_NANOS, (now - startedAt) / PARTS)) {
            tell();
            toldAt = now;
        }
    }

    private void tell() {
        Step end = last;
        if (end == null) {
            return;
        }
        HashMap<String, Double> means = new HashMap<>();
        metrics.forEach((name, sum) -> means.put(name, sum / steps));
        events.add(new RankEvent.Stepped(number++, end.step(), end.epoch(), loss / steps, means, end.rate(), seconds,
                units));
        last = null;
        steps = 0;
        loss = 0;
        metrics.clear();
        seconds = 0;
        units = 0;
    }

    @Override
    public void evaluated(Evaluation evaluation) {
        tell();
        events.add(RankEvent.Evaluated.of(number++, evaluation));
    }

    @Override
    public void ended(End end, long step) {
        tell();
        events.add(new RankEvent.Ended(number++, end, step));
    }
}
