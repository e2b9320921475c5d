package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The checkers of this suite detect deliberate bugs, each in a mutant of its own. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class PlantedBugTest {
    private static final long SEED = EngineUnderTest.SEED;
    private static final int OPERATIONS = 400;

    @Test
    void sumsPassOnARightMachine() throws Exception {
        new RandomSums(SEED, OPERATIONS).check(new MiniEngine(EnumSet.allOf(MiniEngine.Hazard.class), SEED), i -> 0);
    }

    @ParameterizedTest
    @EnumSource
    void sumsCatchAMissingHazard(MiniEngine.Hazard missing) {
        MiniEngine mutant = MiniEngine.without(missing, SEED);
        RandomSums sums = new RandomSums(SEED, OPERATIONS);
        assertThrows(AssertionError.class, () -> sums.check(mutant, i -> 0), "not caught with seed " + SEED);
    }

    /** The random programs must be such that an engine with one wrong rule about failures fails. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void randomProgramsTellEachWrongRuleOfFailure(SerialOracle.Mistake mistake) {
        boolean shows = Stream.of(RandomProgram.Mix.NARROW, RandomProgram.Mix.WIDE).anyMatch(mix -> {
            RandomProgram program = new RandomProgram(SEED, 10_000, mix);
            return !new SerialOracle(program, SerialOracle.Mistake.NONE)
                    .seesTheSameAs(new SerialOracle(program, mistake));
        });
        assertTrue(shows, () -> mistake + " does not show in programs of seed " + SEED);
    }

    @Test
    void randomProgramsAreNeitherAllWellNorAllPoisoned() {
        for (RandomProgram.Mix mix : List.of(RandomProgram.Mix.NARROW, RandomProgram.Mix.WIDE)) {
            SerialOracle oracle = new SerialOracle(new RandomProgram(SEED, 10_000, mix), SerialOracle.Mistake.NONE);
            for (SerialOracle.Outcome outcome : SerialOracle.Outcome.values()) {
                long count = oracle.count(outcome);
                assertTrue(count >= (outcome == SerialOracle.Outcome.FAILED ? 15 : 500),
                        () -> mix + ": " + outcome + " " + count);
            }
        }
    }

    /**
     * Thread 0 pushes X on variable 0 and then Y on 1; thread 1 pushes Z on 1 and then W on 0. No total order has W
     * before X and Y before Z.
     */
    @Test
    void theWitnessCatchesAnOrderThatDiffersFromVariableToVariable() {
        Witness right = new Witness(2, 2, 1, 2);
        right.mutate(0, 0, 0, 0);
        right.mutate(1, 0, 0, 1);
        right.mutate(1, 1, 0, 0);
        right.mutate(0, 1, 0, 1);
        assertTrue(right.stuck().isEmpty(), right::stuck);
        Witness wrong = new Witness(2, 2, 1, 2);
        wrong.mutate(1, 1, 0, 0);
        wrong.mutate(0, 1, 0, 1);
        wrong.mutate(0, 0, 0, 0);
        wrong.mutate(1, 0, 0, 1);
        assertTrue(wrong.stuck().contains("operation 0 of thread 0"), wrong::stuck);
    }

    @Test
    void theWitnessCatchesAReadThatOvertookAMutation() {
        Witness wrong = new Witness(1, 2, 1, 1);
        wrong.read(0, 1, 0, 0);
        wrong.mutate(0, 0, 0, 0);
        assertTrue(wrong.stuck().contains("operation 0 of thread 0"), wrong::stuck);
    }
}
