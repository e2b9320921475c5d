package io.seriatim.examples.parallel;

import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The heat equation on a plate: in each time step, every cell moves towards the mean of its four neighbours. The upper
 * edge of the plate is hot, the other edges are cold. {@link #serial} computes the whole grid in each step.
 * {@link #parallel} divides the grid into bands of rows. Before a step, a band copies the edge rows of its neighbours
 * into its halo, as programs on clusters do. All steps are pushed ahead, so a band may be several steps ahead of a
 * distant one.
 *
 * <p>
 * {@code HeatEquation [SIZE [BANDS [STEPS [WORKERS]]]]} simulates a grid of SIZE × SIZE cells.
 */
public final class HeatEquation {
    private static final double HOT = 100;
    private static final double RATE = 0.2;

    private HeatEquation() {
    }

    /**
     * Simulates with both forms, and compares all cells.
     *
     * @param args
     *            the number of rows of the grid, of bands, of steps and of workers
     * @throws Exception
     *             if an argument is wrong or the results differ
     */
    public static void main(String... args) throws Exception {
        Arguments in = new Arguments("HeatEquation [SIZE [BANDS [STEPS [WORKERS]]]]", args);
        int size = in.next("SIZE", 1000, 3, 10_000);
        int bands = in.next("BANDS", 16, 1, size);
        int steps = in.next("STEPS", 100, 1, 100_000);
        int workers = in.workers();
        double[][] grid = Comparison.run("Heat on " + size + " × " + size + " cells in " + bands + " bands, " + steps
                + " steps", workers, () -> serial(size, steps), engine -> parallel(engine, size, bands, steps),
                Arrays::deepEquals);
        System.out.printf("the middle of the first row has %.6f°%n", grid[0][size / 2]);
    }

    /** Computes the whole grid in each step. */
    static double[][] serial(int size, int steps) {
        Band grid = new Band(size, size, true);
        for (int step = 0; step < steps; step++) {
            grid.step();
        }
        return grid.cells;
    }

    /**
     * Computes the grid in bands. A band has a variable for its cells and one for its halo. The engine derives that a
     * band must not go on before its neighbours have copied its edges.
     */
    static double[][] parallel(Engine engine, int size, int bands, int steps) throws InterruptedException {
        List<Band> band = new ArrayList<>();
        List<Var> cells = new ArrayList<>();
        List<Var> halo = new ArrayList<>();
        for (int i = 0; i < bands; i++) {
            band.add(new Band((i + 1) * size / bands - i * size / bands, size, i == 0));
            cells.add(engine.newVar("cells of band " + i));
            halo.add(engine.newVar("halo of band " + i));
        }
        for (int step = 0; step < steps; step++) {
            for (int i = 0; i < bands; i++) {
                Band own = band.get(i);
                Band above = band.get(Math.max(i - 1, 0));
                Band below = band.get(Math.min(i + 1, bands - 1));
                engine.op("exchange").reads(cells.get(Math.max(i - 1, 0)), cells.get(Math.min(i + 1, bands - 1)))
                        .mutates(halo.get(i)).push(() -> own.exchange(above, below));
            }
            for (int i = 0; i < bands; i++) {
                Band own = band.get(i);
                engine.op("step").reads(halo.get(i)).mutates(cells.get(i)).push(own::step);
            }
        }
        engine.waitForAll();
        return band.stream().flatMap(one -> Arrays.stream(one.cells)).toArray(double[][]::new);
    }

    /** Some rows of the grid, with a halo of one row above and one row below. */
    private static final class Band {
        private double[][] cells;
        private double[][] next;
        private final double[] above;
        private final double[] below;

        /** A new band is cold; a row outside the grid never changes. */
        Band(int rows, int columns, boolean first) {
            cells = new double[rows][columns];
            next = new double[rows][columns];
            above = new double[columns];
            below = new double[columns];
            if (first) {
                Arrays.fill(above, HOT);
            }
        }

        /** Copies the edges of the neighbours; at the end of the grid, the band itself is passed. */
        void exchange(Band upper, Band lower) {
            if (upper != this) {
                System.arraycopy(upper.cells[upper.cells.length - 1], 0, above, 0, above.length);
            }
            if (lower != this) {
                System.arraycopy(lower.cells[0], 0, below, 0, below.length);
            }
        }

        /** Computes the next state of each cell; the first and the last column stay cold. */
        void step() {
            for (int r = 0; r < cells.length; r++) {
                double[] up = r == 0 ? above : cells[r - 1];
                double[] down = r == cells.length - 1 ? below : cells[r + 1];
                relax(up, cells[r], down, next[r]);
            }
            double[][] old = cells;
            cells = next;
            next = old;
        }

        private static void relax(double[] up, double[] row, double[] down, double[] result) {
            for (int c = 1; c < row.length - 1; c++) {
                result[c] = row[c] + RATE * (up[c] + down[c] + row[c - 1] + row[c + 1] - 4 * row[c]);
            }
        }
    }
}
