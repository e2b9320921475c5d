package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.ops.common.Checks;
import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The paths from the classes of a batch to the root of a binary tree, in rows of one width. Unless other paths are
 * given, the tree is complete: the node of a class is numbered by the class plus the number of classes, that of the
 * root is 1, and the node above n is n/2.
 */
final class ClassPaths {
    private static final String TYPE = "hierarchical_sigmoid";

    /** For each step, the row of the weights that decide there; 0 beyond the root. */
    final long[] rows;
    /** For each step, 1 if the path comes from the right; 0 beyond the root. */
    final double[] bits;
    /** For each step, 0 beyond the root, else 1. */
    final double[] inside;

    private ClassPaths(int size) {
        rows = new long[size];
        bits = new double[size];
        inside = new double[size];
    }

    /** How many steps the longest path has in a complete tree. */
    static int width(int classes) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(classes - 1);
    }

    /**
     * Finds them.
     *
     * @param weights
     *            how many rows of weights there are
     */
    static ClassPaths of(int classes, long weights, Tensor labels, @Nullable Tensor table, @Nullable Tensor codes) {
        return table == null || codes == null
                ? complete(classes, weights, labels)
                : custom(weights, table, codes);
    }

    private static ClassPaths complete(int classes, long weights, Tensor labels) {
        int[] of = Checks.within(TYPE, "Label", labels, 0, classes - 1L);
        int width = width(classes);
        ClassPaths paths = new ClassPaths(of.length * width);
        for (int i = 0; i < of.length; i++) {
            long node = (long) of[i] + classes;
            for (int j = 0; node >> j > 1; j++) {
                paths.set(i * width + j, (node >> (j + 1)) - 1, (node >> j) & 1, weights);
            }
        }
        return paths;
    }

    /** A path ends before the first negative row. */
    private static ClassPaths custom(long weights, Tensor table, Tensor codes) {
        int width = Checks.dim(table, 1);
        long[] rows = table.toLongArray();
        long[] bits = codes.toLongArray();
        ClassPaths paths = new ClassPaths(rows.length);
        for (int begin = 0; begin < rows.length; begin += width) {
            for (int at = begin; at < begin + width && rows[at] >= 0; at++) {
                paths.set(at, rows[at], bits[at] == 0 ? 0 : 1, weights);
            }
        }
        return paths;
    }

    private void set(int at, long row, long bit, long weights) {
        rows[at] = Checks.within(TYPE, "the paths of the classes", at, row, 0, weights - 1);
        bits[at] = bit;
        inside[at] = 1;
    }
}
