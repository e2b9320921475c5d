package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import java.util.ArrayList;
import java.util.List;

/**
 * Values over steps (or over seconds), as many as come, kept in at most {@value #MAX_POINTS} points. At first each
 * value is a point. When a value would need one more point than there may be, points are made to cover twice as many
 * steps, and those that now fall together become one, which keeps the least, the greatest and the mean of its values:
 * no spike is lost, and the points are spread evenly over the steps. A point covers the steps from a multiple of the
 * span to the next, so that the same values make the same points however often a training was interrupted. Adding takes
 * constant time on average. For one thread.
 */
public final class Curve {
    /** The most points that a curve has. */
    public static final int MAX_POINTS = 2000;

    /**
     * Some values that follow each other.
     *
     * @param first
     *            the step of the first of them
     * @param last
     *            the step of the last of them
     * @param min
     *            the least finite value; NaN if there is none
     * @param max
     *            the greatest finite value; NaN if there is none
     * @param mean
     *            of the finite values; NaN if there is none
     * @param finite
     *            how many values are finite
     * @param other
     *            how many are infinite or NaN
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
     * The name of the values.
     *
     * @return such as {@code loss}
     */
    public String name() {
        return name;
    }

    /**
     * The points, in order.
     *
     * @return a copy, of at most {@value #MAX_POINTS}
     */
    public List<Point> points() {
        return buckets.stream().map(Bucket::point).toList();
    }

    /**
     * How many steps a point covers.
     *
     * @return a power of two
     */
    public long span() {
        return span;
    }

    void add(long step, double value) {
        add(step, value, 1);
    }

    /** Adds a value that counts so much in the mean; steps must not go back. */
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
