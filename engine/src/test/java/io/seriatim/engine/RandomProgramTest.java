package io.seriatim.engine;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Random programs have the same values, versions and failures as with the reference interpreter. */
@EveryEngine
class RandomProgramTest extends EngineContract {
    private static final int STEPS = 10_000;
    private static final long PROGRAMS = TestSupport.scaled(100, 2);

    private void check(RandomProgram.Mix mix, int steps, long programs) throws Exception {
        SplittableRandom seeds = new SplittableRandom(EngineUnderTest.SEED);
        for (long i = 0; i < programs; i++) {
            new ProgramRun(open(), new RandomProgram(seeds.nextLong(), steps, mix)).check();
            closeAndCheck();
        }
    }

    @Test
    void sums() throws Exception {
        check(RandomProgram.Mix.SUMS, STEPS, PROGRAMS);
    }

    @Test
    void manyReadsWithFailuresAndDeletes() throws Exception {
        check(RandomProgram.Mix.WIDE, STEPS, PROGRAMS);
    }

    @Test
    void fewReadsWithFailuresAndDeletes() throws Exception {
        check(RandomProgram.Mix.NARROW, STEPS, PROGRAMS);
    }

    @Test
    void manySmallPrograms() throws Exception {
        check(RandomProgram.Mix.NARROW, 60, 20 * PROGRAMS);
    }
}
