package io.seriatim.onnx.schema;

import java.util.Arrays;

/**
 * Greedy suppression for each image and class: of boxes in the order of their scores, the lower number first if they
 * are equal, each is left that does not overlap one of those left before by more than a threshold. Areas are computed
 * in float32, as elsewhere.
 */
final class BoxSuppression {
    private static final int CORNERS = 4;
    private static final int COLUMNS = 3;

    /** By box, its least and greatest coordinates along both axes. */
    private final float[] boxes;
    private final float[] areas;
    private final float[] scores;
    private final int images;
    private final int classes;
    private final int count;
    private final long most;
    private final float overlap;
    private final float least;

    /** The keys of the boxes of a class that may be left: a heap whose first key is the smallest. */
    private final long[] heap;
    private int heaped;
    /** The corners and areas of the boxes that are left of a class. */
    private float[] left = new float[CORNERS * 16];
    private float[] leftAreas = new float[16];
    private long[] chosen = new long[COLUMNS * 16];
    private int rows;

    /**
     * Creates a suppression.
     *
     * @param boxes
     *            [images, boxes, 4], two corners or a centre and sizes; becomes the suppression's own
     * @param scores
     *            [images, classes, boxes]
     * @param dims
     *            the dimensions of the scores
     * @param center
     *            whether boxes are given by centres and sizes
     * @param most
     *            how many boxes are left of a class at most
     * @param overlap
     *            the largest overlap of boxes that are both left
     * @param least
     *            what scores must exceed
     */
    BoxSuppression(float[] boxes, float[] scores, long[] dims, boolean center, long most, float overlap, float least) {
        this.boxes = boxes;
        this.scores = scores;
        this.images = Math.toIntExact(dims[0]);
        this.classes = Math.toIntExact(dims[1]);
        this.count = Math.toIntExact(dims[2]);
        this.most = most;
        this.overlap = overlap;
        this.least = least;
        this.areas = new float[boxes.length / CORNERS];
        this.heap = new long[count];
        for (int i = 0; i < boxes.length; i += CORNERS) {
            for (int axis = i; axis < i + 2; axis++) {
                float first = boxes[axis];
                float second = boxes[axis + 2];
                float half = second / 2;
                boxes[axis] = center ? first - half : Math.min(first, second);
                boxes[axis + 2] = center ? first + half : Math.max(first, second);
            }
            areas[i / CORNERS] = (boxes[i + 2] - boxes[i]) * (boxes[i + 3] - boxes[i + 1]);
        }
    }

    /** Returns the image, the class and the number of each box that is left. */
    long[] chosen() {
        for (int image = 0; image < images && most > 0; image++) {
            for (int label = 0; label < classes; label++) {
                choose(image, label);
            }
        }
        return Arrays.copyOf(chosen, COLUMNS * rows);
    }

    private void choose(int image, int label) {
        int row = (image * classes + label) * count;
        heaped = 0;
        for (int box = 0; box < count; box++) {
            float score = scores[row + box];
            if (score > least) {
                heap[heaped++] = key(score, box);
            }
        }
        for (int i = heaped / 2 - 1; i >= 0; i--) {
            sink(i);
        }
        int kept = 0;
        while (heaped > 0 && kept < most) {
            int box = take();
            int number = image * count + box;
            if (isApart(number, kept)) {
                keep(number, kept++);
                add(image, label, box);
            }
        }
    }

    /** A number that grows with falling scores and then with the number of the box. Zeros of both signs are equal. */
    private static long key(float score, int box) {
        int bits = Float.floatToRawIntBits(score + 0f);
        int increasing = bits ^ ((bits >> 31) & Integer.MAX_VALUE);
        return ((long) ~increasing << Integer.SIZE) | box;
    }

    /** Removes the smallest key and returns its box: the best one. */
    private int take() {
        int box = (int) heap[0];
        heap[0] = heap[--heaped];
        sink(0);
        return box;
    }

    private void sink(int from) {
        int at = from;
        long key = heap[at];
        for (int child = 2 * at + 1; child < heaped; child = 2 * at + 1) {
            if (child + 1 < heaped && heap[child + 1] < heap[child]) {
                child++;
            }
            if (heap[child] >= key) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = key;
    }

    private boolean isApart(int box, int kept) {
        int at = CORNERS * box;
        float top = boxes[at];
        float start = boxes[at + 1];
        float bottom = boxes[at + 2];
        float end = boxes[at + 3];
        float area = areas[box];
        for (int i = 0; i < kept; i++) {
            int better = CORNERS * i;
            float height = Math.min(bottom, left[better + 2]) - Math.max(top, left[better]);
            float width = Math.min(end, left[better + 3]) - Math.max(start, left[better + 1]);
            if (height > 0 && width > 0 && area > 0 && leftAreas[i] > 0) {
                float common = height * width;
                if (common / (area + leftAreas[i] - common) > overlap) {
                    return false;
                }
            }
        }
        return true;
    }

    private void keep(int box, int kept) {
        if (kept == leftAreas.length) {
            left = Arrays.copyOf(left, 2 * left.length);
            leftAreas = Arrays.copyOf(leftAreas, 2 * kept);
        }
        System.arraycopy(boxes, CORNERS * box, left, CORNERS * kept, CORNERS);
        leftAreas[kept] = areas[box];
    }

    private void add(int image, int label, int box) {
        int at = COLUMNS * rows++;
        if (at == chosen.length) {
            chosen = Arrays.copyOf(chosen, 2 * at);
        }
        chosen[at] = image;
        chosen[at + 1] = label;
        chosen[at + 2] = box;
    }
}
