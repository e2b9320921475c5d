package io.seriatim.engine;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs with failures, deletes, nested pushes and closes on 1 to 32 threads have the same results as with the
 * reference interpreter. The long form runs more than ten million operations.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class RandomProgramOnThreadsTest {
    private static final int STEPS = (int) TestSupport.scaled(10_000, 1_000);
    private static final int PROGRAMS = (int) TestSupport.scaled(180, 9);

    private final OpenEngines engines = new OpenEngines();

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8, 16, 32})
    void programsOnThreads(int threads) throws Exception {
        SplittableRandom seeds = new SplittableRandom(EngineUnderTest.SEED + threads);
        RandomProgram.Mix[] mixes = {RandomProgram.Mix.SUMS, RandomProgram.Mix.WIDE, RandomProgram.Mix.NARROW};
        ProgramRun.Extra[] extras = ProgramRun.Extra.values();
        for (int i = 0; i < PROGRAMS; i++) {
            RandomProgram program = new RandomProgram(seeds.nextLong(), STEPS, mixes[i % mixes.length]);
            Engine engine = engines.open(Engine.builder().pooled(threads));
            new ProgramRun(engine, program, extras[i / mixes.length % extras.length]).check();
            engines.closeAndCheck();
        }
    }

    @AfterEach
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }
}
