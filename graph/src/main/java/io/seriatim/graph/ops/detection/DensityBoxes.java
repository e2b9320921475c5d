package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Lowering;

/**
 * Boxes of fixed sizes and ratios whose centers lie on a finer grid about each point, as dense as is given for the
 * size. What is outside the image is cut off.
 */
final class DensityBoxes implements PriorOperations.PointBoxes {
    private final PointGrid grid;
    private final double[] sizes;
    private final double[] ratios;
    private final int[] densities;
    private final boolean clip;

    private DensityBoxes(PointGrid grid, Attrs attrs) {
        this.grid = grid;
        sizes = attrs.getDoubles("fixed_sizes");
        ratios = attrs.getDoubles("fixed_ratios");
        densities = attrs.getInts("densities");
        clip = attrs.getBool("clip");
    }

    static DensityBoxes of(Lowering l) {
        return new DensityBoxes(PointGrid.of(l), l.attrs());
    }

    @Override
    public int count() {
        int count = 0;
        for (int density : densities) {
            count += ratios.length * density * density;
        }
        return count;
    }

    @Override
    public void write(int row, int column, double[] to, int at) {
        double sum = grid.precision().round(grid.stepWidth() + grid.stepHeight());
        int average = (int) (sum / 2);
        int place = at;
        for (int i = 0; i < sizes.length; i++) {
            int shift = average / densities[i];
            for (double ratio : ratios) {
                float root = (float) Math.sqrt(ratio);
                float[] lengths = {(float) sizes[i] * root, (float) sizes[i] / root};
                float x = (float) (grid.center(0, row, column) - average / 2.0 + shift / 2.0);
                float y = (float) (grid.center(1, row, column) - average / 2.0 + shift / 2.0);
                for (int k = 0; k < densities[i] * densities[i]; k++) {
                    float[] center = {x + k % densities[i] * shift, y + k / densities[i] * shift};
                    for (int corner = 0; corner < BoxCode.SIZE; corner++) {
                        to[place++] = corner(corner, center, lengths);
                    }
                }
            }
        }
    }

    private double corner(int corner, float[] center, float[] lengths) {
        int axis = corner % 2;
        double half = lengths[axis] / 2.0;
        double part = (corner < 2 ? center[axis] - half : center[axis] + half) / grid.image(axis);
        double inside = corner < 2 ? Math.max(part, 0) : Math.min(part, 1);
        return clip ? Math.min(Math.max(inside, 0), 1) : inside;
    }
}
