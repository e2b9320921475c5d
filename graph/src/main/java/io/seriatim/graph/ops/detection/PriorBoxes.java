package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Lowering;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Boxes of a single shot detector: for each smallest size a square and boxes of the same area with other ratios, and
 * perhaps a larger square.
 *
 * @param grid
 *            the points
 * @param halves
 *            of each box, half its width and half its height in pixels of the image
 * @param clip
 *            whether boxes end at the border of the image
 */
record PriorBoxes(PointGrid grid, List<double[]> halves, boolean clip) implements PriorOperations.PointBoxes {
    /** Ratios that differ by less are the same. */
    private static final double SAME_RATIO = 1e-6;

    static PriorBoxes of(Lowering l) {
        Attrs attrs = l.attrs();
        PointGrid grid = PointGrid.of(l);
        double[] ratios = ratios(attrs);
        double[] least = attrs.getDoubles("min_sizes");
        double[] most = attrs.getDoubles("max_sizes");
        boolean ordered = attrs.getBool("min_max_aspect_ratios_order");
        List<double[]> halves = new ArrayList<>();
        for (int i = 0; i < least.length; i++) {
            if (ordered) {
                halves.add(grid.half(least[i], 1));
            }
            double larger = most.length == 0 ? 0 : (float) Math.sqrt((float) (least[i] * most[i]));
            if (ordered && most.length > 0) {
                halves.add(grid.half(larger, 1));
            }
            for (double ratio : ratios) {
                if (!ordered || Math.abs(ratio - 1) >= SAME_RATIO) {
                    halves.add(grid.half(least[i], ratio));
                }
            }
            if (!ordered && most.length > 0) {
                halves.add(grid.half(larger, 1));
            }
        }
        return new PriorBoxes(grid, halves, attrs.getBool("clip"));
    }

    /** The ratios of width to height: 1, then those of the attribute, each followed by its inverse if flipped. */
    static double[] ratios(Attrs attrs) {
        boolean flip = attrs.getBool("flip");
        double[] given = attrs.getDoubles("aspect_ratios");
        double[] ratios = new double[1 + 2 * given.length];
        ratios[0] = 1;
        int count = 1;
        for (double ratio : given) {
            if (Arrays.stream(ratios, 0, count).allMatch(other -> Math.abs(ratio - other) >= SAME_RATIO)) {
                ratios[count++] = ratio;
                if (flip) {
                    ratios[count++] = (float) (1 / ratio);
                }
            }
        }
        return Arrays.copyOf(ratios, count);
    }

    @Override
    public int count() {
        return halves.size();
    }

    @Override
    public void write(int row, int column, double[] to, int at) {
        Precision precision = grid.precision();
        int place = at;
        for (double[] half : halves) {
            for (int i = 0; i < BoxCode.SIZE; i++) {
                int axis = i % 2;
                double center = grid.center(axis, row, column);
                double corner = precision.round(i < 2 ? center - half[axis] : center + half[axis]);
                double part = precision.round(corner / grid.image(axis));
                to[place++] = clip ? Math.min(Math.max(part, 0), 1) : part;
            }
        }
    }
}
