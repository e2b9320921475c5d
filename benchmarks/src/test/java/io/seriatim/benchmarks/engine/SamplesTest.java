package io.seriatim.benchmarks.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SamplesTest {
    private final Samples samples = new Samples();

    @Test
    void theMedianOfAnOddNumberIsTheMiddleOne() {
        add(9, 1, 5);
        assertEquals(5, samples.median());
        assertEquals(1, samples.min());
    }

    @Test
    void theMedianOfAnEvenNumberIsBetweenTheTwoInTheMiddle() {
        add(9, 1, 5, 6);
        assertEquals(5.5, samples.median());
    }

    @Test
    void theLeastTimeIsThatOfTheBestRepetition() {
        samples.add(new Lap(2, 4, ResultCheck.SAME));
        samples.add(new Lap(3, 3, ResultCheck.SAME));
        assertEquals(2, samples.min());
        assertEquals(3.5, samples.median());
    }

    @Test
    void nothingIsNotANumber() {
        assertEquals(Double.NaN, samples.median());
        assertEquals(Double.NaN, samples.min());
    }

    private void add(double... nanos) {
        for (double n : nanos) {
            samples.add(Lap.of(n, ResultCheck.SAME));
        }
    }
}
