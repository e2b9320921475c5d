package io.seriatim.examples.train;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Dataset;
import io.seriatim.train.data.Field;
import java.util.List;
import java.util.Random;

/** Digits of 5 × 7 dots, drawn at random places of images of 28 × 28 with noise: bright on dark, or dark on bright. */
final class Digits implements Dataset {
    static final int SIZE = 28;
    static final int CLASSES = 10;
    static final Field IMAGE = new Field("image", FLOAT32, Shape.of(1, SIZE, SIZE));
    static final Field LABEL = new Field("label", INT64, Shape.of(1));
    private static final int SCALE = 3;
    private static final int WIDTH = 5;
    private static final int HEIGHT = 7;
    private static final double NOISE = 0.15;
    /** The rows of each digit, from top to bottom. */
    private static final List<String> GLYPHS = List.of("01110 10001 10011 10101 11001 10001 01110",
            "00100 01100 00100 00100 00100 00100 01110", "01110 10001 00001 00110 01000 10000 11111",
            "01110 10001 00001 00110 00001 10001 01110", "00010 00110 01010 10010 11111 00010 00010",
            "11111 10000 11110 00001 00001 10001 01110", "00110 01000 10000 11110 10001 10001 01110",
            "11111 00001 00010 00100 01000 01000 01000", "01110 10001 10001 01110 10001 10001 01110",
            "01110 10001 10001 01111 00001 00010 01100");

    private final int size;
    private final long seed;
    private final boolean dark;

    /** Digits that are the same for a seed; dark ones on a bright ground if {@code dark}. */
    Digits(int size, long seed, boolean dark) {
        this.size = size;
        this.seed = seed;
        this.dark = dark;
    }

    @Override
    public List<Field> fields() {
        return List.of(IMAGE, LABEL);
    }

    @Override
    public int size() {
        return size;
    }

    int label(int example) {
        return example % CLASSES;
    }

    @Override
    public List<Tensor> batch(int[] examples) {
        float[] pixels = new float[examples.length * SIZE * SIZE];
        long[] labels = new long[examples.length];
        for (int i = 0; i < examples.length; i++) {
            labels[i] = label(examples[i]);
            draw(pixels, i * SIZE * SIZE, examples[i]);
        }
        return List.of(Tensor.of(pixels, examples.length, 1, SIZE, SIZE), Tensor.of(labels, examples.length, 1));
    }

    private void draw(float[] pixels, int offset, int example) {
        Random random = new Random(seed * 1_000_003 + example);
        int left = random.nextInt(SIZE - WIDTH * SCALE);
        int top = random.nextInt(SIZE - HEIGHT * SCALE);
        String[] rows = GLYPHS.get(label(example)).split(" ", -1);
        for (int y = 0; y < SIZE; y++) {
            for (int x = 0; x < SIZE; x++) {
                int row = Math.floorDiv(y - top, SCALE);
                int column = Math.floorDiv(x - left, SCALE);
                boolean inside = row >= 0 && row < HEIGHT && column >= 0 && column < WIDTH;
                double ink = (inside && rows[row].charAt(column) == '1' ? 1 : 0) + NOISE * random.nextGaussian();
                pixels[offset + y * SIZE + x] = (float) (dark ? 1 - ink : ink);
            }
        }
    }
}
