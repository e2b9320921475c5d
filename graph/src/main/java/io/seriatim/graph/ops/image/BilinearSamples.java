package io.seriatim.graph.ops.image;

import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.Tensor;

/**
 * Images of float32 sampled between four elements, without objects for places or loops over axes and corners. The
 * arithmetic is that of the general form in {@link GridOperations}, in its order, so that no bit differs.
 *
 * <p>
 * The places of one image are first resolved to elements and weights, which all channels share; then each channel is
 * read and written in one pass.
 */
final class BilinearSamples {
    private final GridAxis rows;
    private final GridAxis columns;
    private final int batch;
    private final int channels;
    private final int places;

    BilinearSamples(GridAxis[] axes, int batch, int channels, int places) {
        rows = axes[0];
        columns = axes[1];
        this.batch = batch;
        this.channels = channels;
        this.places = places;
    }

    void write(Tensor x, Tensor grid, Tensor y) {
        float[] images = x.toFloatArray();
        float[] at = grid.toFloatArray();
        int plane = rows.length() * columns.length();
        float[] results = new float[WorkingMemory.length((long) batch * channels * places)];
        // Four to a place: of a row, the element and its right neighbour; then of the next row.
        int[] elements = new int[WorkingMemory.length(places, 4)];
        double[] weights = new double[elements.length];
        for (int n = 0; n < batch; n++) {
            resolve(at, n * places * 2, elements, weights);
            for (int c = n * channels; c < (n + 1) * channels; c++) {
                sum(images, c * plane, elements, weights, results, c * places);
            }
        }
        Elements.write(results, y);
    }

    private void resolve(float[] grid, int from, int[] elements, double[] weights) {
        for (int p = 0; p < places; p++) {
            double column = columns.source(grid[from + 2 * p]);
            double row = rows.source(grid[from + 2 * p + 1]);
            double left = Math.floor(column);
            double top = Math.floor(row);
            double right = column - left;
            double bottom = row - top;
            weights[4 * p] = (1 - bottom) * (1 - right);
            weights[4 * p + 1] = (1 - bottom) * right;
            weights[4 * p + 2] = bottom * (1 - right);
            weights[4 * p + 3] = bottom * right;
            elements[4 * p] = element((long) top, (long) left);
            elements[4 * p + 1] = element((long) top, (long) left + 1);
            elements[4 * p + 2] = element((long) top + 1, (long) left);
            elements[4 * p + 3] = element((long) top + 1, (long) left + 1);
        }
    }

    /** Its number in the image, or −1 outside. */
    private int element(long row, long column) {
        return row < 0 || row >= rows.length() || column < 0 || column >= columns.length()
                ? -1
                : (int) row * columns.length() + (int) column;
    }

    /** The general form adds the lower neighbour before the right one. */
    private void sum(float[] images, int image, int[] elements, double[] weights, float[] results, int result) {
        for (int p = 0; p < places; p++) {
            double sum = part(images, image, elements[4 * p], weights[4 * p]);
            sum += part(images, image, elements[4 * p + 2], weights[4 * p + 2]);
            sum += part(images, image, elements[4 * p + 1], weights[4 * p + 1]);
            sum += part(images, image, elements[4 * p + 3], weights[4 * p + 3]);
            results[result + p] = (float) sum;
        }
    }

    /** Of elements outside, nothing is added: their weight may be no number. */
    private static double part(float[] images, int image, int element, double weight) {
        return element < 0 ? 0 : weight * images[image + element];
    }
}
