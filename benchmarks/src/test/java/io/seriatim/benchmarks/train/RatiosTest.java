package io.seriatim.benchmarks.train;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.cli.text.Table;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RatiosTest {
    private final Ratios ratios = new Ratios(List.of("torch", "djl"));

    private static Figures line(String lib, String work, String key, double time) {
        return new Figures().with("lib", lib).with("work", work).with("threads", 1, 0).with(key, time, 3);
    }

    @BeforeEach
    void measure() {
        ratios.add(TrainWork.T1,
                List.of(line("seriatim", "mlp", "median_ms", 2).with("rss_mb", 200, 0).with("first_step_s", 0.6, 2)));
        ratios.add(TrainWork.T1,
                List.of(line("torch", "mlp", "median_ms", 5).with("rss_mb", 400, 0).with("first_step_s", 3, 2)));
        ratios.add(TrainWork.T1,
                List.of(line("djl", "mlp", "median_ms", 8).with("rss_mb", 250, 0).with("first_step_s", 1.2, 2)));
        ratios.add(TrainWork.T5,
                List.of(line("seriatim", "infer_mlp", "median_us", 150),
                        line("seriatim", "infer_lenet", "median_us", 160)));
        ratios.add(TrainWork.T5, List.of(line("djl", "infer_mlp", "median_us", 100)));
    }

    private static List<String> rows(Table table) {
        return table.text().lines().skip(1).map(row -> row.replaceAll(" +", " ")).toList();
    }

    @Test
    void areToTheFastestPeer() {
        assertEquals(List.of("mlp 1 ms 2.00 5.00 8.00 torch 0.40 0.80", "infer_mlp 1 µs 150 – 100 djl 1.50 0.70",
                "infer_lenet 1 µs 160 – – – – 0.70"), rows(ratios.times()));
    }

    @Test
    void memoryAndFirstStepsAreOfWhatTrains() {
        assertEquals(List.of("mlp 1 200 400 250 djl 0.80 250"), rows(ratios.memory()));
        assertEquals(List.of("mlp 1 0.60 3.00 1.20 djl 0.50 0.6"), rows(ratios.firstSteps()));
    }

    @Test
    void medianOfTheRoundsCounts() {
        ratios.add(TrainWork.T1, List.of(line("djl", "mlp", "median_ms", 3)));
        ratios.add(TrainWork.T1, List.of(line("djl", "mlp", "median_ms", 4)));
        ratios.add(TrainWork.T1, List.of(line("seriatim", "mlp", "median_ms", 1)));
        assertEquals("mlp 1 ms 1.50 5.00 4.00 djl 0.38 0.80", rows(ratios.times()).getFirst());
    }

    @Test
    void whatFailedHasNoRatio() {
        ratios.add(TrainWork.T2, List.of(line("torch", "lenet", "median_ms", 20)));
        assertEquals("lenet 1 ms – 20.00 – torch – 0.60", rows(ratios.times()).getLast());
    }
}
