package io.seriatim.tensor.linalg;

import java.util.Arrays;

/**
 * Balancing of a matrix before its eigenvalues are computed (Parlett, Reinsch: Balancing a matrix for calculation of
 * eigenvalues and eigenvectors, 1969), as LAPACK does it: rows and columns that isolate an eigenvalue are moved to the
 * ends, and the others are scaled by powers of two until rows and columns have similar norms.
 */
final class Balancing {
    private static final double RADIX = 2;
    private static final double WORTH = 0.95;
    private static final double LEAST = 0x1p-969;
    private static final double MOST = 0x1p969;

    private final double[][] a;
    private final int n;
    /** The row that was exchanged with each row outside of the scaled part. */
    private final int[] exchanged;
    private final double[] scale;
    private int low;
    private int high;

    private Balancing(double[][] a) {
        this.a = a;
        n = a.length;
        high = n - 1;
        exchanged = new int[n];
        scale = new double[n];
        Arrays.fill(scale, 1);
        Arrays.setAll(exchanged, i -> i);
    }

    /** Balances a matrix in place. */
    static Balancing of(double[][] a) {
        Balancing balancing = new Balancing(a);
        if (balancing.n > 0) {
            balancing.isolateRows();
            balancing.isolateColumns();
            while (balancing.rescaled()) {
                // Until no row or column gains from it.
            }
        }
        return balancing;
    }

    private void isolateRows() {
        for (int i = high; i >= 0 && high > 0; i--) {
            boolean isolated = true;
            for (int j = 0; j <= high; j++) {
                isolated &= i == j || a[i][j] == 0;
            }
            if (isolated) {
                exchange(i, high);
                high--;
                i = high + 1;
            }
        }
    }

    private void isolateColumns() {
        for (int j = low; j <= high; j++) {
            boolean isolated = true;
            for (int i = low; i <= high; i++) {
                isolated &= i == j || a[i][j] == 0;
            }
            if (isolated && low < high) {
                exchange(j, low);
                low++;
                j = low - 1;
            }
        }
    }

    private void exchange(int from, int to) {
        exchanged[to] = from;
        if (from != to) {
            double[] row = a[from];
            a[from] = a[to];
            a[to] = row;
            for (double[] each : a) {
                double value = each[from];
                each[from] = each[to];
                each[to] = value;
            }
        }
    }

    private boolean rescaled() {
        boolean changed = false;
        for (int i = low; i <= high; i++) {
            double column = 0;
            double row = 0;
            for (int j = low; j <= high; j++) {
                column = Math.hypot(column, a[j][i]);
                row = Math.hypot(row, a[i][j]);
            }
            double factor = factor(column, row);
            if (factor != 1) {
                changed = true;
                scale[i] *= factor;
                for (int j = 0; j < n; j++) {
                    a[i][j] /= factor;
                    a[j][i] *= factor;
                }
            }
        }
        return changed;
    }

    /** The power of two by which a column is multiplied and its row divided; 1 if that is not worth while. */
    private static double factor(double column, double row) {
        if (column == 0 || row == 0) {
            return 1;
        }
        double c = column;
        double r = row;
        double factor = 1;
        while (c < r / RADIX && Math.max(factor, c) < MOST && r > LEAST) {
            factor *= RADIX;
            c *= RADIX;
            r /= RADIX;
        }
        while (c / RADIX >= r && r < MOST && Math.min(factor, c) > LEAST) {
            factor /= RADIX;
            c /= RADIX;
            r *= RADIX;
        }
        return c + r >= WORTH * (column + row) ? 1 : factor;
    }

    /** Makes an eigenvector of the balanced matrix one of the original matrix. */
    void undo(double[] vector) {
        for (int i = low; i <= high; i++) {
            vector[i] *= scale[i];
        }
        for (int i = low - 1; i >= 0; i--) {
            swap(vector, i, exchanged[i]);
        }
        for (int i = high + 1; i < n; i++) {
            swap(vector, i, exchanged[i]);
        }
    }

    private static void swap(double[] vector, int i, int j) {
        double value = vector[i];
        vector[i] = vector[j];
        vector[j] = value;
    }
}
