package io.seriatim.benchmarks.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnsTest {
    @Test
    void everyRoundBeginsWithAnother() {
        StringBuilder order = new StringBuilder();
        Timings timings = new Turns(0, 3, 1)
                .run(List.of(() -> order.append('a'), () -> order.append('b'), () -> order.append('c')));
        // The order of the contenders; how often each is called in its turn depends on its time.
        assertEquals("abcbcacab", order.toString().replaceAll("(.)\\1*", "$1"));
        for (double[] rounds : timings.nanos()) {
            assertEquals(3, rounds.length);
            assertTrue(rounds[0] > 0 && rounds[1] > 0 && rounds[2] > 0, () -> Arrays.toString(rounds));
        }
    }

    @Test
    void callsFillASample() {
        long[] calls = new long[1];
        new Turns(1, 1, 2_000_000).run(List.of(() -> calls[0]++));
        assertTrue(calls[0] > 1000, () -> calls[0] + " calls in 2 ms");
    }

    @Test
    void ratiosAndDifferencesAreOfTheSameRound() {
        Timings timings = new Timings(new double[][]{{1, 100, 3}, {2, 100, 9}});
        assertEquals(3, timings.median(0));
        assertEquals(9, timings.median(1));
        assertEquals(2, timings.ratio(1, 0));
        assertEquals(1, timings.difference(1, 0));
        assertEquals(1.5, new Timings(new double[][]{{2, 1}}).median(0));
    }
}
