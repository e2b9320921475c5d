package io.seriatim.onnx.schema;

import io.seriatim.graph.op.WorkingMemory;
import java.util.stream.IntStream;

/**
 * How one axis is resized: which elements an element of the result is made of.
 *
 * @param mode
 *            nearest, linear or cubic
 * @param coordinates
 *            how a place in the result is one in the operand
 * @param nearest
 *            how a place is rounded
 * @param a
 *            the coefficient of the cubic function
 * @param excludesOutside
 *            whether elements outside have no weight
 * @param antialias
 *            whether the function is wider where the result is smaller
 */
record Resampling(String mode, String coordinates, String nearest, double a, boolean excludesOutside,
        boolean antialias) {
    /**
     * Elements and their weights for each element of the result.
     *
     * @param places
     *            of all elements, a row for each of the result
     * @param weights
     *            of the same size
     * @param taps
     *            the length of a row
     * @param outside
     *            the elements of the result that have the extrapolated value
     */
    @SuppressWarnings("ArrayRecordComponent") // it is never compared
    record Axis(long[] places, double[] weights, int taps, boolean[] outside) {
    }

    /** The place in the operand of an element of the result. */
    private double place(int at, long length, long result, double scale, double from, double to) {
        double whole = scale * length;
        return switch (coordinates) {
            case "align_corners" -> result == 1
                    ? 0
                    : at * (length - 1) / (whole - 1);
            case "asymmetric" -> at / scale;
            case "tf_crop_and_resize" -> result > 1
                    ? from * (length - 1) + at * (to - from) * (length - 1) / (result - 1.0)
                    : 0.5 * (from + to) * (length - 1);
            case "pytorch_half_pixel" -> result == 1 ? -0.5 : (at + 0.5) / scale - 0.5;
            case "half_pixel_symmetric" -> {
                double adjustment = result / whole;
                double center = length / 2.0;
                yield center * (1 - adjustment) + (at + 0.5) / scale - 0.5;
            }
            case "tf_half_pixel_for_nn" -> (at + 0.5) / scale;
            default -> (at + 0.5) / scale - 0.5;
        };
    }

    private double rounded(double place) {
        return switch (nearest) {
            case "floor" -> Math.floor(place);
            case "ceil" -> Math.ceil(place);
            case "round_prefer_ceil" -> Math.floor(place + 0.5);
            default -> Math.ceil(place - 0.5);
        };
    }

    private double weight(double distance) {
        double x = Math.abs(distance);
        if (mode.equals("linear")) {
            return Math.max(0, 1 - x);
        }
        return x <= 1
                ? ((a + 2) * x - (a + 3)) * x * x + 1
                : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
    }

    Axis axis(long length, long result, double scale, double from, double to) {
        boolean wide = antialias && scale < 1 && !mode.equals("nearest");
        double stretch = wide ? scale : 1;
        int half = mode.equals("nearest") ? 0 : (int) Math.ceil((mode.equals("linear") ? 1 : 2) / stretch);
        int taps = mode.equals("nearest") ? 1 : 2 * half;
        long[] places = new long[WorkingMemory.length(result, taps)];
        double[] weights = new double[places.length];
        boolean[] outside = new boolean[WorkingMemory.length(result)];
        for (int i = 0; i < result; i++) {
            double place = place(i, length, result, scale, from, to);
            outside[i] = coordinates.equals("tf_crop_and_resize") && (place < 0 || place > length - 1);
            if (mode.equals("nearest")) {
                places[i] = Math.clamp((long) rounded(place), 0, length - 1);
                weights[i] = 1;
                continue;
            }
            long first = (long) Math.floor(place) - half + 1;
            double sum = 0;
            for (int k = 0; k < taps; k++) {
                long at = first + k;
                boolean counts = !excludesOutside || (at >= 0 && at < length);
                double weight = counts ? weight((place - at) * stretch) : 0;
                places[i * taps + k] = Math.clamp(at, 0, length - 1);
                weights[i * taps + k] = weight;
                sum += weight;
            }
            for (int k = 0; (wide || excludesOutside) && sum != 0 && k < taps; k++) {
                weights[i * taps + k] /= sum;
            }
        }
        return new Axis(places, weights, taps, outside);
    }

    /** Whether an axis stays as it is. */
    static boolean isSame(Axis axis, long length) {
        return axis.taps() == 1 && axis.places().length == length
                && IntStream.range(0, axis.places().length).allMatch(i -> axis.places()[i] == i);
    }
}
