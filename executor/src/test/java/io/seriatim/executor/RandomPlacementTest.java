package io.seriatim.executor;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import java.time.Duration;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs whose operations are distributed over the host and two simulated devices compute the same bits as the
 * interpreter, under the race detector.
 */
@Tag("slow")
class RandomPlacementTest {
    static final String[] PLACES = {"cpu", "sim:0", "sim:1"};
    private static final SimOptions SLOW = SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(20_000));

    private static void check(long from, long count, LongFunction<Expected> programs, SimOptions sim,
            Supplier<Executor.Builder> options,
            String where) {
        for (long seed = from; seed < from + Long.getLong("seeds", 1) * count; seed++) {
            try (Devices devices = Devices.builder().sim(sim).build();
                    Executor executor = options.get().devices(devices).build()) {
                programs.apply(seed).check(executor, where);
            }
        }
    }

    private static Expected program(long seed) {
        return Expected.random(seed, 14, 5, PLACES);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void equalTheInterpreter(int threads) {
        check(0, 40, RandomPlacementTest::program, SimOptions.DEFAULT,
                () -> Executor.builder().threads(threads).eager(),
                "threads " + threads);
    }

    @ParameterizedTest
    @CsvSource({"1,false", "1,true", "3,false", "3,true"})
    void equalTheInterpreterWithBranchesAndLoops(int threads, boolean trains) {
        check(1000, 7, seed -> Expected.control(seed, trains, PLACES), SimOptions.DEFAULT,
                () -> Executor.builder().threads(threads).eager(),
                "threads " + threads);
    }

    @Test
    void equalTheInterpreterIfDevicesAreSlow() {
        check(100, 10, RandomPlacementTest::program, SLOW, () -> Executor.builder().threads(2).eager(), "slow devices");
    }

    @Test
    void equalTheInterpreterWithADeviceAsTheirPlace() {
        check(1500, 4, seed -> Expected.control(seed, seed % 2 == 0, "", "cpu", ""), SimOptions.DEFAULT,
                () -> Executor.builder().place(Place.sim(0)).threads(2).eager(), "place sim:0");
        check(200, 20, seed -> Expected.random(seed, 14, 5, "", "cpu", ""), SimOptions.DEFAULT,
                () -> Executor.builder().place(Place.sim(1)).threads(2).eager(), "place sim:1");
    }

    @ParameterizedTest
    @CsvSource({"1,FAST,true", "3,FAST,true", "1,EVENT,false", "3,EVENT,true", "1,NONE,true", "3,NONE,false"})
    void equalTheInterpreterWithoutAMemoryPlan(int threads, Collector collector, boolean inPlace) {
        check(400, 12, RandomPlacementTest::program, SimOptions.DEFAULT,
                () -> Executor.builder().threads(threads).eager().memoryPlan(false).collector(collector)
                        .inPlace(inPlace),
                "collector " + collector + ", threads " + threads);
    }

    @ParameterizedTest
    @ValueSource(strings = {"naive", "pooled", "per device", "shuffled"})
    void equalTheInterpreterOnEveryEngine(String kind) {
        for (long seed = 300; seed < 300 + 15; seed++) {
            Engine.Builder builder = Engine.builder().checked(true);
            switch (kind) {
                case "naive" -> builder.naive();
                case "pooled" -> builder.pooled(3);
                case "per device" -> builder.perDevice().workers(Lane.CPU, 2);
                default -> builder.shuffled(seed);
            }
            try (Engine engine = builder.build()) {
                check(seed, 1, RandomPlacementTest::program, SimOptions.DEFAULT,
                        () -> Executor.builder().engine(engine), "engine " + kind);
            }
        }
    }
}
