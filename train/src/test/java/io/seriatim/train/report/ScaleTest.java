package io.seriatim.train.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaleTest {
    private static final int RUNS = 20_000;
    private static final List<Chart.Unit> UNITS = List.of(Chart.Unit.values());

    private static List<String> labels(Scale scale, int most, boolean whole) {
        return scale.ticks(Chart.Unit.NUMBER, most, whole).stream().map(Scale.Tick::label).toList();
    }

    /** Steps on a page as narrow as a telephone: the first three had one tick, at 500, 5 and 1,000. */
    @ParameterizedTest
    @CsvSource({"1, 600, 200 400 600", "1, 9, 2 4 6 8", "1, 1900, 500 1000 1500", "1, 1000, 500 1000",
            "3, 4, 3 4", "0.5, 1.5, 1"})
    void stepsHaveTwoTicks(double from, double to, String expected) {
        assertEquals(List.of(expected.split(" ", -1)), labels(new Scale(from, to), 2, true).stream()
                .map(label -> label.replace(",", "")).toList());
    }

    @Test
    void everyAxisHasTwoTicksAndRoomBetweenThem() {
        long seed = 7;
        Random random = new Random(seed);
        for (int run = 0; run < RUNS; run++) {
            boolean whole = random.nextBoolean();
            double size = Math.pow(10, whole ? random.nextDouble(0.3, 9) : random.nextDouble(-12, 12));
            double from = random.nextInt(3) == 0 ? 0 : size * random.nextDouble(-3, 3);
            from = whole ? Math.rint(from) : from;
            double to = whole ? from + Math.ceil(size) : from + size;
            int most = 2 + random.nextInt(9);
            Chart.Unit unit = whole ? Chart.Unit.NUMBER : UNITS.get(random.nextInt(UNITS.size()));
            Scale scale = new Scale(from, to);
            List<Scale.Tick> ticks = scale.ticks(unit, most, whole);
            String told = "seed " + seed + " run " + run + ": " + scale + " for " + most + " " + unit + ": " + ticks;
            assertTrue(ticks.size() >= 2 && ticks.size() <= Math.max(6, most + 1), told);
            for (int i = 0; i < ticks.size(); i++) {
                double share = scale.share(ticks.get(i).value());
                assertTrue(share > -1e-6 && share < 1 + 1e-6, told);
                assertTrue(i == 0 || share - scale.share(ticks.get(i - 1).value()) >= 1.0 / Math.max(6, most) - 1e-6,
                        told);
            }
        }
    }
}
