package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Field;
import java.util.Random;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/** With products and convolutions in bfloat16 the loss falls as in float32, to two percent. */
class MixedPrecisionTest {
    private static final double BOUND = 0.02;
    private static final int COUNTED = 10;

    /** The mean loss of the last steps of a short training. */
    private static double loss(Architecture architecture, Recipe recipe, int steps, LongFunction<Tensor[]> batches) {
        try (TinyRun run = new TinyRun(architecture.build(recipe, steps))) {
            double sum = 0;
            for (int step = 0; step < steps; step++) {
                double loss = run.train(batches.apply(step));
                sum += step < steps - COUNTED ? 0 : loss;
            }
            return sum / COUNTED;
        }
    }

    private static void assertEqualLosses(Architecture architecture, Recipe recipe, int steps,
            LongFunction<Tensor[]> batches) {
        double single = loss(architecture, recipe, steps, batches);
        double mixed = loss(architecture, recipe.withBfloat16(true), steps, batches);
        assertEquals(single, mixed, BOUND * single, architecture.name());
        assertNotEquals(single, mixed, "nothing was computed in bfloat16");
    }

    /** Letters: in three of four cases, each is determined by the one before. */
    private static Tensor[] letters(long seed) {
        Random random = new Random(seed);
        int context = 16;
        int rows = 8;
        long[] tokens = new long[rows * context];
        long[] next = new long[tokens.length];
        for (int row = 0; row < rows; row++) {
            long letter = random.nextInt(7);
            for (int i = 0; i < context; i++) {
                tokens[row * context + i] = letter;
                letter = random.nextInt(4) == 0 ? random.nextInt(7) : (3 * letter + 1) % 7;
                next[row * context + i] = letter;
            }
        }
        return new Tensor[]{Tensor.of(tokens, rows, context), Tensor.of(next, rows, context, 1)};
    }

    /** Noise with a bright band whose position determines the class; one label in five is wrong. */
    private static Tensor[] images(long seed) {
        Random random = new Random(seed);
        int rows = 16;
        float[] pixels = new float[rows * 28 * 28];
        long[] labels = new long[rows];
        for (int row = 0; row < rows; row++) {
            int band = random.nextInt(4);
            labels[row] = random.nextInt(5) == 0 ? random.nextInt(4) : band;
            for (int i = 0; i < 28 * 28; i++) {
                pixels[row * 28 * 28 + i] = (i / (7 * 28) == band ? 1 : 0) + 0.5f * (float) random.nextGaussian();
            }
        }
        return new Tensor[]{Tensor.of(pixels, rows, 1, 28, 28), Tensor.of(labels, rows, 1)};
    }

    @Test
    void ofATransformer() {
        CharacterTransformer transformer = new CharacterTransformer(7, 16, 32, 2, 2);
        assertEqualLosses(transformer, Recipe.of(8, 1, 5e-3).withWarmUp(5).withClip(1).withSeed(4), 60,
                MixedPrecisionTest::letters);
    }

    @Test
    void ofLeNet() {
        LeNet network = new LeNet(new Field("image", DType.FLOAT32, Shape.of(1, 28, 28)),
                new Field("label", DType.INT64, Shape.of(1)), 4);
        assertEqualLosses(network, network.recipe().withRate(1e-3).withWarmUp(2).withSeed(4), 20,
                MixedPrecisionTest::images);
    }
}
