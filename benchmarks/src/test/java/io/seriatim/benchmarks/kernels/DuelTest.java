package io.seriatim.benchmarks.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DuelTest {
    @Test
    void bothSidesRunInTurn() {
        int[] calls = new int[2];
        Case one = new Case("counts", () -> calls[0]++, () -> calls[1]++, 4, 2, Case.Unit.GIGABYTES, 1);
        Figure figure = new Duel(3, 100_000).run(one);
        assertTrue(calls[0] > 6 && calls[1] > 6);
        assertEquals(4 / figure.nanos(), figure.speed(), 1e-9);
        assertTrue(figure.ratio() > 0);
    }

    @Test
    void theMedianIsTheMiddle() {
        assertEquals(2, Figure.median(new double[]{9, 1, 2}));
        assertEquals(1.5, Figure.median(new double[]{2, 1}));
    }
}
