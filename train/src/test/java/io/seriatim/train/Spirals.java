package io.seriatim.train;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import java.util.List;
import java.util.SplittableRandom;

/** Points on noisy spirals, one class per spiral: a small problem that is not linearly separable. */
final class Spirals implements Dataset {
    static final int CLASSES = 3;
    private final float[] x;
    private final long[] y;

    Spirals(int size, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        x = new float[2 * size];
        y = new long[size];
        for (int i = 0; i < size; i++) {
            int spiral = i % CLASSES;
            double radius = 0.1 + 0.9 * random.nextDouble();
            double angle = 4 * radius + spiral * 2 * Math.PI / CLASSES + 0.1 * (random.nextDouble() - 0.5);
            x[2 * i] = (float) (radius * Math.cos(angle));
            x[2 * i + 1] = (float) (radius * Math.sin(angle));
            y[i] = spiral;
        }
    }

    /** The same data with one value changed. */
    Spirals with(int example, float value) {
        x[2 * example] = value;
        return this;
    }

    @Override
    public List<Field> fields() {
        return List.of(new Field("x", DType.FLOAT32, Shape.of(2)), new Field("y", DType.INT64, Shape.of(1)));
    }

    @Override
    public int size() {
        return y.length;
    }

    @Override
    public List<Tensor> batch(int[] examples) {
        float[] inputs = new float[2 * examples.length];
        long[] labels = new long[examples.length];
        for (int i = 0; i < examples.length; i++) {
            inputs[2 * i] = x[2 * examples[i]];
            inputs[2 * i + 1] = x[2 * examples[i] + 1];
            labels[i] = y[examples[i]];
        }
        return List.of(Tensor.of(inputs, examples.length, 2), Tensor.of(labels, examples.length, 1));
    }
}
