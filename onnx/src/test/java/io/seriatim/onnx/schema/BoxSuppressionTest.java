package io.seriatim.onnx.schema;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Suppression of boxes, compared with its definition. */
class BoxSuppressionTest {
    private static final int CASES = 400;

    private final Random random = new Random(11);

    /** Coordinates on a coarse grid, so that boxes are equal, touch, or have no area. */
    private float[] boxes(int count) {
        float[] boxes = new float[4 * count];
        for (int i = 0; i < boxes.length; i++) {
            boxes[i] = random.nextInt(12) - 2;
        }
        return boxes;
    }

    /** Scores of which many are equal, some zeros of both signs, and some no numbers. */
    private float[] scores(int count) {
        float[] scores = new float[count];
        for (int i = 0; i < scores.length; i++) {
            scores[i] = switch (random.nextInt(12)) {
                case 0 -> Float.NaN;
                case 1 -> -0.0f;
                case 2 -> 0.0f;
                default -> random.nextInt(20) / 10f - 0.5f;
            };
        }
        return scores;
    }

    @Test
    void equalsTheDefinition() {
        for (int run = 0; run < CASES; run++) {
            int images = 1 + random.nextInt(3);
            int classes = 1 + random.nextInt(4);
            int count = random.nextInt(30);
            boolean center = random.nextBoolean();
            long most = random.nextInt(4) == 0 ? random.nextInt(3) : 30;
            float overlap = random.nextInt(11) / 10f;
            float least = random.nextBoolean() ? Float.NEGATIVE_INFINITY : 0.2f;
            float[] boxes = boxes(images * count);
            float[] scores = scores(images * classes * count);
            long[] found = new BoxSuppression(boxes.clone(), scores, new long[]{images, classes, count}, center, most,
                    overlap, least).chosen();
            List<Long> expected = new ArrayList<>();
            for (int image = 0; image < images; image++) {
                for (int label = 0; label < classes; label++) {
                    int row = (image * classes + label) * count;
                    List<Integer> left = new ArrayList<>();
                    for (int box : order(scores, row, count, least)) {
                        int first = image * count + box;
                        int before = image * count;
                        if (left.size() < most && left.stream()
                                .noneMatch(each -> overlap(boxes, first, before + each, center) > overlap)) {
                            left.add(box);
                            expected.addAll(List.of((long) image, (long) label, (long) box));
                        }
                    }
                }
            }
            assertArrayEquals(expected.stream().mapToLong(Long::longValue).toArray(), found, "case " + run);
        }
    }

    private static List<Integer> order(float[] scores, int row, int count, float least) {
        return IntStream.range(0, count).filter(box -> scores[row + box] > least).boxed()
                .sorted(Comparator.comparingDouble(box -> 0.0 - scores[row + box])).toList();
    }

    /** The part of the union of two boxes that is common to both. */
    private static float overlap(float[] boxes, int one, int other, boolean center) {
        float[] a = corners(boxes, one, center);
        float[] b = corners(boxes, other, center);
        float height = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
        float width = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
        float areaA = (a[2] - a[0]) * (a[3] - a[1]);
        float areaB = (b[2] - b[0]) * (b[3] - b[1]);
        if (height <= 0 || width <= 0 || areaA <= 0 || areaB <= 0) {
            return 0;
        }
        return height * width / (areaA + areaB - height * width);
    }

    private static float[] corners(float[] boxes, int box, boolean center) {
        float[] corners = new float[4];
        for (int axis = 0; axis < 2; axis++) {
            float first = boxes[4 * box + axis];
            float second = boxes[4 * box + 2 + axis];
            corners[axis] = center ? first - second / 2 : Math.min(first, second);
            corners[axis + 2] = center ? first + second / 2 : Math.max(first, second);
        }
        return corners;
    }
}
