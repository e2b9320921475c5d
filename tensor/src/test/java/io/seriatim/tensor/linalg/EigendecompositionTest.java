package io.seriatim.tensor.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EigendecompositionTest {
    private static ComplexMatrix random(int n, boolean complex, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        ComplexMatrix matrix = new ComplexMatrix(n, n);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                matrix.set(i, j, random.nextDouble(-1, 1), complex ? random.nextDouble(-1, 1) : 0);
            }
        }
        return matrix;
    }

    private static void check(ComplexMatrix a, double tolerance) {
        Eigendecomposition eigen = Eigendecomposition.of(a);
        int n = a.rows();
        ComplexMatrix left = a.times(eigen.vectors());
        double traceRe = 0;
        double traceIm = 0;
        for (int j = 0; j < n; j++) {
            double re = eigen.values().re(0, j);
            double im = eigen.values().im(0, j);
            traceRe += re - a.re(j, j);
            traceIm += im - a.im(j, j);
            double norm = 0;
            for (int i = 0; i < n; i++) {
                double x = eigen.vectors().re(i, j);
                double y = eigen.vectors().im(i, j);
                norm += x * x + y * y;
                assertEquals(re * x - im * y, left.re(i, j), tolerance);
                assertEquals(re * y + im * x, left.im(i, j), tolerance);
            }
            assertEquals(1, norm, 1e-12);
        }
        assertEquals(0, traceRe, tolerance);
        assertEquals(0, traceIm, tolerance);
    }

    @ParameterizedTest
    @CsvSource({"1,false", "2,false", "3,false", "7,false", "20,false", "60,false", "1,true", "2,true", "3,true",
            "8,true", "40,true"})
    void vectorsAreMultipliedByValues(int n, boolean complex) {
        for (int seed = 0; seed < 20; seed++) {
            check(random(n, complex, seed), 1e-11);
        }
    }

    @Test
    void specialMatricesAreDecomposed() {
        check(new ComplexMatrix(3, 3), 1e-15);
        ComplexMatrix turn = new ComplexMatrix(4, 4);
        for (int i = 0; i < 4; i++) {
            turn.set(i, (i + 1) % 4, 1, 0);
        }
        check(turn, 1e-14);
        ComplexMatrix jordan = new ComplexMatrix(3, 3);
        for (int i = 0; i < 3; i++) {
            jordan.set(i, i, 2, 0);
            jordan.set(i, Math.min(i + 1, 2), i < 2 ? 1 : 2, 0);
        }
        check(jordan, 1e-14);
        ComplexMatrix uneven = random(5, false, 3);
        for (int i = 0; i < 5; i++) {
            uneven.set(0, i, uneven.re(0, i) * 1e10, 0);
        }
        check(uneven, 1e-3);
        uneven.set(2, 2, Double.NaN, 0);
        assertThrows(IllegalArgumentException.class, () -> Eigendecomposition.of(uneven));
    }

    /**
     * Values have the order of LAPACK: of triangles that of the diagonal or its reverse, of pairs the positive one
     * first.
     */
    @Test
    void valuesAreInOrder() {
        ComplexMatrix lower = ComplexMatrix.of(2, 2, new double[]{1, 0, 0, 0, 2, 0, 3, 0}, 0);
        assertArrayEquals(new double[]{3, 1}, new double[]{Eigendecomposition.of(lower).values().re(0, 0),
                Eigendecomposition.of(lower).values().re(0, 1)});
        ComplexMatrix turn = ComplexMatrix.of(2, 2, new double[]{0, 0, -2, 0, 1, 0, 0, 0}, 0);
        assertEquals(Math.sqrt(2), Eigendecomposition.of(turn).values().im(0, 0), 1e-15);
        assertTrue(Eigendecomposition.of(turn).values().im(0, 1) < 0);
    }

    @Test
    void systemsAreSolved() {
        ComplexMatrix a = random(6, true, 5);
        ComplexMatrix x = random(6, true, 6);
        ComplexMatrix found = a.solve(a.times(x));
        for (int i = 0; i < 6; i++) {
            assertEquals(x.re(i, 3), found.re(i, 3), 1e-12);
            assertEquals(x.im(i, 3), found.im(i, 3), 1e-12);
        }
    }
}
