package io.seriatim.graph.optimizer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Rates of the first steps, as the schedulers of paddle.optimizer.lr (paddlepaddle 2.6.2) give them. */
class ScheduleTest {
    private static void rates(Schedule schedule, double... expected) {
        for (int step = 0; step < expected.length; step++) {
            assertEquals(expected[step], schedule.rate(step), 1e-15, "step " + step);
        }
    }

    @Test
    void constant() {
        rates(Schedule.constant(0.3), 0.3, 0.3, 0.3);
    }

    @Test
    void noam() {
        rates(Schedule.noam(2, 64, 4), 0, 0.03125, 0.0625, 0.09375, 0.125, 0.1118033988749895, 0.10206207261596575,
                0.09449111825230681,
                0.08838834764831845, 0.08333333333333333, 0.07905694150420949, 0.07537783614444091);
    }

    @Test
    void exponential() {
        rates(Schedule.exponential(0.5, 0.9), 0.5, 0.45, 0.405, 0.36450000000000005, 0.32805, 0.29524500000000004,
                0.2657205,
                0.23914845000000004, 0.21523360500000005, 0.19371024450000005, 0.17433922005000005,
                0.15690529804500003);
    }

    @Test
    void naturalExponential() {
        rates(Schedule.naturalExponential(0.5, 0.1), 0.5, 0.45241870901797976, 0.4093653765389909, 0.37040911034085894,
                0.33516002301781966, 0.3032653298563167, 0.2744058180470132, 0.24829265189570474, 0.22466448205861078,
                0.20328482987029955,
                0.18393972058572117, 0.16643554184903978);
    }

    @Test
    void inverseTime() {
        rates(Schedule.inverseTime(0.5, 0.1), 0.5, 0.45454545454545453, 0.4166666666666667, 0.3846153846153846,
                0.35714285714285715,
                0.3333333333333333, 0.3125, 0.2941176470588235, 0.2777777777777778, 0.2631578947368421, 0.25,
                0.23809523809523808);
    }

    @Test
    void polynomial() {
        rates(Schedule.polynomial(0.5, 5, 0.01, 2), 0.5, 0.32360000000000005, 0.1864, 0.0884, 0.029599999999999987,
                0.01, 0.01, 0.01);
    }

    @Test
    void piecewise() {
        rates(Schedule.piecewise(new long[]{3, 6}, new double[]{0.1, 0.01, 0.001}), 0.1, 0.1, 0.1, 0.01, 0.01, 0.01,
                0.001, 0.001, 0.001);
    }

    @Test
    void cosine() {
        rates(Schedule.cosine(0.5, 5, 0.1), 0.5, 0.46180339887498956, 0.3618033988749896, 0.2381966011250106,
                0.13819660112501056, 0.1,
                0.13819660112501053, 0.23819660112501062, 0.3618033988749897, 0.4618033988749899, 0.5000000000000004,
                0.46180339887499,
                0.3618033988749898, 0.23819660112501073, 0.1381966011250106, 0.1, 0.13819660112501053);
    }

    @Test
    void step() {
        rates(Schedule.step(0.5, 3, 0.1), 0.5, 0.5, 0.5, 0.05, 0.05, 0.05, 0.005000000000000001, 0.005000000000000001,
                0.005000000000000001, 0.0005000000000000001, 0.0005000000000000001, 0.0005000000000000001);
    }

    @Test
    void warmUp() {
        rates(Schedule.constant(0.5).warmUp(5, 0.1, 0.5), 0.1, 0.18, 0.26, 0.3400000000000001, 0.42000000000000004, 0.5,
                0.5, 0.5);
        rates(Schedule.step(0.5, 3, 0.1).warmUp(4, 0, 0.5), 0, 0.125, 0.25, 0.375, 0.5, 0.5, 0.5, 0.05, 0.05, 0.05,
                0.005000000000000001,
                0.005000000000000001);
        rates(Schedule.cosine(0.5, 6, 0).warmUp(3, 0, 0.5), 0, 0.16666666666666666, 0.3333333333333333, 0.5,
                0.4665063509461097, 0.375,
                0.25, 0.12500000000000006, 0.03349364905389032, 0, 0.033493649053890295, 0.12499999999999989);
        rates(Schedule.constant(0.5).warmUp(0, 0.1, 0.5), 0.5, 0.5);
    }

    private static void refused(String message, Executable schedule) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, schedule).getMessage());
    }

    @Test
    void lengthsThatAreNotPositive() {
        refused("A polynomial schedule takes at least 1 step, but 0", () -> Schedule.polynomial(0.5, 0, 0.01, 2));
        refused("A cosine schedule takes at least 1 step, but 0", () -> Schedule.cosine(0.5, 0, 0));
        refused("The rate falls after at least 1 step, but after 0", () -> Schedule.step(0.5, 0, 0.1));
        refused("The size and the steps of a warm-up are at least 1, but 0 and 4", () -> Schedule.noam(2, 0, 4));
        refused("The size and the steps of a warm-up are at least 1, but 64 and 0", () -> Schedule.noam(2, 64, 0));
        refused("A warm-up takes no negative number of steps, but -1", () -> Schedule.constant(1).warmUp(-1, 0, 1));
    }

    @Test
    void partsOfPiecewise() {
        refused("A piecewise schedule has one rate more than boundaries, but 1 and 1",
                () -> Schedule.piecewise(new long[]{3}, new double[]{0.1}));
        refused("The boundaries of a piecewise schedule rise, but they are [3, 3]",
                () -> Schedule.piecewise(new long[]{3, 3}, new double[]{1, 2, 3}));
    }
}
