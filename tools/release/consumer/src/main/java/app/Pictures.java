package app;

import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Writes made-up pictures of bars, upright (class 1) or level (class 0), to learn from: {@code Pictures FOLDER}. */
final class Pictures {
    private static final int SIDE = 28;
    private static final int COUNT = 600;

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        SplittableRandom random = new SplittableRandom(1);
        float[] pixels = new float[COUNT * SIDE * SIDE];
        long[] classes = new long[COUNT];
        for (int i = 0; i < COUNT; i++) {
            classes[i] = random.nextInt(2);
            draw(pixels, i * SIDE * SIDE, classes[i] == 1, random);
        }
        Npy.write(folder.resolve("x.npy"), Tensor.of(pixels, COUNT, 1, SIDE, SIDE));
        Npy.write(folder.resolve("y.npy"), Tensor.of(classes, COUNT));
        for (int kind = 0; kind < 2; kind++) {
            float[] one = new float[SIDE * SIDE];
            draw(one, 0, kind == 1, random);
            Npy.write(folder.resolve("../class" + kind + ".npy"), Tensor.of(one, 1, 1, SIDE, SIDE));
        }
    }

    private static void draw(float[] pixels, int at, boolean upright, SplittableRandom random) {
        int line = 4 + random.nextInt(SIDE - 8);
        for (int i = 0; i < SIDE * SIDE; i++) {
            pixels[at + i] = (float) (0.2 * random.nextDouble() + ((upright ? i % SIDE : i / SIDE) == line ? 0.8 : 0));
        }
    }
}
