package io.seriatim.examples.train;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Points on three spirals in the plane. A custom data set works in the same way: it describes the fields of an example,
 * returns the number of examples, and converts requested examples to tensors.
 */
final class Spirals implements Dataset {
    static final int ARMS = 3;
    private static final double NOISE = 0.03;
    private static final double TURN = 4;

    private final List<Point> points;

    /** A point and the index of its spiral. */
    record Point(float x, float y, int arm) {
    }

    Spirals(int size, long seed) {
        Random random = new Random(seed);
        this.points = IntStream.range(0, size).mapToObj(i -> point(i % ARMS, random)).toList();
    }

    private static Point point(int arm, Random random) {
        double radius = random.nextDouble();
        double angle = 2 * Math.PI * arm / ARMS + TURN * radius;
        return new Point((float) (radius * Math.cos(angle) + NOISE * random.nextGaussian()),
                (float) (radius * Math.sin(angle) + NOISE * random.nextGaussian()), arm);
    }

    List<Point> points() {
        return points;
    }

    @Override
    public List<Field> fields() {
        return List.of(new Field("point", FLOAT32, Shape.of(2)), new Field("arm", INT64, Shape.of(1)));
    }

    @Override
    public int size() {
        return points.size();
    }

    /**
     * A separate thread calls this ahead of the steps, so it delays the training only if it takes longer than a step.
     */
    @Override
    public List<Tensor> batch(int[] examples) {
        float[] coordinates = new float[2 * examples.length];
        long[] arms = new long[examples.length];
        for (int i = 0; i < examples.length; i++) {
            Point point = points.get(examples[i]);
            coordinates[2 * i] = point.x();
            coordinates[2 * i + 1] = point.y();
            arms[i] = point.arm();
        }
        return List.of(Tensor.of(coordinates, examples.length, 2), Tensor.of(arms, examples.length, 1));
    }
}
