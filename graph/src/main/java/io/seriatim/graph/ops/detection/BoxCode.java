package io.seriatim.graph.ops.detection;

/**
 * Rectangles as differences from other rectangles, called priors or anchors: of the centers, relative to the prior's
 * width and height, and the logarithms of the ratios of widths and heights. Differences are divided by variances.
 *
 * @param pixel
 *            1 if coordinates are indexes of pixels, so that a rectangle is one wider than their difference, otherwise
 *            0
 * @param limit
 *            the largest logarithm of a ratio that is decoded
 * @param precision
 *            of numbers
 */
record BoxCode(double pixel, double limit, Precision precision) {
    static final int SIZE = BoxOverlap.RECTANGLE;

    static BoxCode of(boolean normalized, Precision precision) {
        return new BoxCode(normalized ? 0 : 1, Double.POSITIVE_INFINITY, precision);
    }

    /** Numbers in an array from an index on. */
    static final class At {
        private final double[] values;
        private final int index;

        At(double[] values, int index) {
            this.values = values;
            this.index = index;
        }

        double get(int i) {
            return values[index + i];
        }

        void set(int i, double value) {
            values[index + i] = value;
        }
    }

    /** Writes the rectangle that differences stand for. */
    void decode(At prior, At differences, At variances, At to) {
        for (int axis = 0; axis < 2; axis++) {
            double length = length(prior, axis);
            double center = precision.round(prior.get(axis) + length / 2);
            double moved = precision.round(
                    precision.round(precision.round(variances.get(axis) * differences.get(axis)) * length) + center);
            double ratio = precision.round(variances.get(axis + 2) * differences.get(axis + 2));
            double decoded = precision.round(precision.exp(Math.min(ratio, limit)) * length);
            to.set(axis, precision.round(moved - decoded / 2));
            to.set(axis + 2, precision.round(precision.round(moved + decoded / 2) - pixel));
        }
    }

    /** Writes the differences of a rectangle from a prior. */
    void encode(At prior, At box, At variances, At to) {
        for (int axis = 0; axis < 2; axis++) {
            double length = length(prior, axis);
            double center = precision.round(prior.get(axis) + length / 2);
            double other = precision.round(box.get(axis + 2) + box.get(axis)) / 2;
            double moved = precision.round(precision.round(other - center) / length);
            double ratio = precision.log(Math.abs(precision.round(length(box, axis) / length)));
            to.set(axis, precision.round(moved / variances.get(axis)));
            to.set(axis + 2, precision.round(ratio / variances.get(axis + 2)));
        }
    }

    private double length(At box, int axis) {
        return precision.round(precision.round(box.get(axis + 2) - box.get(axis)) + pixel);
    }
}
