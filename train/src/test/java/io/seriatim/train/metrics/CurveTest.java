package io.seriatim.train.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.train.metrics.Curve.Point;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CurveTest {
    private final Curve curve = new Curve("loss");

    @Test
    void fewValuesAreAllKept() {
        for (int step = 1; step < Curve.MAX_POINTS; step++) {
            curve.add(step, step * 0.5);
        }
        List<Point> points = curve.points();
        assertEquals(Curve.MAX_POINTS - 1, points.size());
        assertEquals(new Point(7, 7, 3.5, 3.5, 3.5, 1, 0), points.get(6));
        assertEquals(1, curve.span());
    }

    @ParameterizedTest
    @ValueSource(ints = {2000, 2001, 4000, 4001, 100_003})
    void anyNumberOfValuesFits(int count) {
        double[] values = new Random(count).doubles(count + 1).toArray();
        for (int step = 1; step <= count; step++) {
            curve.add(step, values[step]);
        }
        List<Point> points = curve.points();
        assertTrue(points.size() <= Curve.MAX_POINTS && points.size() >= Math.min(count, Curve.MAX_POINTS / 2),
                "points " + points.size());
        long next = 1;
        for (Point point : points) {
            assertEquals(next, point.first());
            assertEquals(expected(values, point.first(), point.last()), withoutRounding(point));
            assertEquals(point.first() / curve.span(), point.last() / curve.span());
            next = point.last() + 1;
        }
        assertEquals(count + 1, next);
    }

    private static Point expected(double[] values, long first, long last) {
        double min = Double.MAX_VALUE;
        double max = -1;
        double sum = 0;
        for (int step = (int) first; step <= last; step++) {
            min = Math.min(min, values[step]);
            max = Math.max(max, values[step]);
            sum += values[step];
        }
        return withoutRounding(new Point(first, last, min, max, sum / (last - first + 1), last - first + 1, 0));
    }

    private static Point withoutRounding(Point point) {
        return new Point(point.first(), point.last(), point.min(), point.max(), Math.rint(point.mean() * 1e9),
                point.finite(),
                point.other());
    }

    @Test
    void aSpikeStays() {
        for (int step = 1; step <= 1_000_000; step++) {
            curve.add(step, step == 314_159 ? 100 : 1);
        }
        List<Point> spikes = curve.points().stream().filter(point -> point.max() == 100).toList();
        assertEquals(1, spikes.size());
        assertTrue(spikes.getFirst().first() <= 314_159 && spikes.getFirst().last() >= 314_159, spikes.toString());
        assertEquals(1.0, spikes.getFirst().min());
    }

    @Test
    void theMeanIsWeighted() {
        for (int step = 0; step < 2 * Curve.MAX_POINTS; step++) {
            curve.add(step, step % 2 == 0 ? 10 : 40, step % 2 == 0 ? 2 : 1);
        }
        assertEquals(new Point(0, 1, 10, 40, 20, 2, 0), curve.points().getFirst());
    }

    @Test
    void whatIsNotFiniteIsCountedOnly() {
        for (int step = 0; step < 2 * Curve.MAX_POINTS; step++) {
            curve.add(step, step == 1 ? Double.NaN : step == 2 || step == 3 ? Double.NEGATIVE_INFINITY : 5);
        }
        assertEquals(new Point(0, 1, 5, 5, 5, 1, 1), curve.points().get(0));
        assertEquals(new Point(2, 3, Double.NaN, Double.NaN, Double.NaN, 0, 2), curve.points().get(1));
    }

    @Test
    void stepsMayBeFarApart() {
        for (long step = 0; step < 3000; step++) {
            curve.add(step * 1_000_000, 1);
        }
        assertTrue(curve.points().size() <= Curve.MAX_POINTS, "points " + curve.points().size());
        assertEquals(3000, curve.points().stream().mapToLong(Point::finite).sum());
    }
}
