package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import java.util.ArrayList;
import java.util.List;

/**
 * An unlimited series of values over steps (or seconds), aggregated in at most {@value #MAX_POINTS} points. At first
 * each value is a point. When the limit would be exceeded, the span of all points is doubled, and points that fall into
 * the same span are merged into one with the minimum, the maximum and the mean of their values. So no spike is lost,
 * and the points are spread evenly over the steps. A span begins at a multiple of its length, so the points do not
 * depend on interruptions of the training. Adding a value takes amortised constant time. Not thread-safe.
 */
public final class Curve {
    /** The maximum number of points of a curve. */
    public static final int MAX_POINTS = 2000;

    /**
     * An aggregate of consecutive values.
     *
     * @param first
     *            the step of the first value
     * @param last
     *            the step of the last value
     * @param min
     *            the minimum of the finite values; NaN if there are none
     * @param max
     *            the maximum of the finite values; NaN if there are none
     * @param mean the mean of the finite values; NaN if there are none
     * @param finite
     *            the number of finite values
     * @param other
     *            the number of infinite or NaN values
     */
    public record Point(long first, long last, double min, double max, double mean, long finite, long other) {
    }

    private final String name;
    private final List<Bucket> buckets = new ArrayList<>();
    private long span = 1;

    Curve(String name) {
        this.name = name;
    }

    /**
     * Returns the name of the values.
     *
     * @return the name, such as {@code loss}
     */
    public String name() {
        return name;
    }

    /**
     * Returns the points, in order.
     *
     * @return a copy of at most {@value #MAX_POINTS} points
     */
    public List<Point> points() {
        return buckets.stream().map(Bucket::point).toList();
    }

    /**
     * Returns the number of steps that a point covers.
     *
     * @return a power of two
     */
    public long span() {
        return span;
    }

    void add(long step, double value) {
        add(step, value, 1);
    }

    /** Adds a value with the given weight in the mean; steps must not decrease. */
    void add(long step, double value, double weight) {
        while (!buckets.isEmpty() && step / span != buckets.getLast().first / span && buckets.size() == MAX_POINTS) {
            span *= 2;
            join();
        }
        if (buckets.isEmpty() || step / span != buckets.getLast().first / span) {
            buckets.add(new Bucket(step));
        }
        buckets.getLast().add(step, value, weight);
    }

    private void join() {
        @Var
        int kept = 0;
        for (int i = 1; i < buckets.size(); i++) {
            Bucket into = buckets.get(kept);
            Bucket next = buckets.get(i);
            if (into.first / span == next.first / span) {
                into.join(next);
            } else {
                buckets.set(++kept, next);
            }
        }
        buckets.subList(kept + 1, buckets.size()).clear();
    }

    private static final class Bucket {
        private final long first;
        private long last;
        private double min = Double.POSITIVE_INFINITY;
        private double max = Double.NEGATIVE_INFINITY;
        private double sum;
        private double weight;
        private long finite;
        private long other;

        Bucket(long first) {
            this.first = first;
            this.last = first;
        }

        void add(long step, double value, double valueWeight) {
            last = step;
            if (!Double.isFinite(value)) {
                other++;
                return;
            }
            min = Math.min(min, value);
            max = Math.max(max, value);
            sum += value * valueWeight;
            weight += valueWeight;
            finite++;
        }

        void join(Bucket next) {
            last = next.last;
            min = Math.min(min, next.min);
            max = Math.max(max, next.max);
            sum += next.sum;
            weight += next.weight;
            finite += next.finite;
            other += next.other;
        }

        Point point() {
            return finite == 0
                    ? new Point(first, last, Double.NaN, Double.NaN, Double.NaN, 0, other)
                    : new Point(first, last, min, max, sum / weight, finite, other);
        }
    }
}
