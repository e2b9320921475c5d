package io.seriatim.cluster.collective;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The way that a sum takes, by size and number of ranks. */
class AlgorithmTest {
    private static final int MIB = 1 << 20;

    @ParameterizedTest
    @CsvSource({
            // Of two ranks, 1 + 1.25 n against 2 + 1.125 n latencies, with n in 96 KiB: equal at 768 KiB.
            "2, 786431, DOUBLING", "2, 786432, RING",
            // Of four, 2 + 2.5 n against 4 + 1.6875 n: equal at 241,979.1 bytes.
            "4, 241979, DOUBLING", "4, 241980, HALVING",
            // Of three, 3 + 3.5 n against 4 + 1.5 n: equal at 48 KiB.
            "3, 49151, DOUBLING", "3, 49152, RING",
            "1024, 1048576, HALVING", "1000, 1048576, HALVING", "1000, 1073741824, RING"})
    void theFormulaGivesTheLimits(int ranks, long bytes, Algorithm expected) {
        assertEquals(expected, Algorithm.choose(bytes, ranks));
    }

    /** Halving sends as much as the ring in fewer messages. */
    @ParameterizedTest
    @ValueSource(ints = {4, 8, 16, 64, 256, 1024, 4096})
    void powersOfTwoNeedNoRing(int ranks) {
        for (long bytes = 1; bytes <= 1L << 34; bytes = bytes * 3 / 2 + 1) {
            assertTrue(Algorithm.choose(bytes, ranks) != Algorithm.RING, bytes + " bytes");
        }
    }

    /** The more bytes a sum has, the fewer copies of them are sent, and the more messages. */
    @Test
    void aLargerSumTakesNoWayWithFewerMessages() {
        for (int ranks = 2; ranks <= 300; ranks++) {
            for (boolean isHalf : new boolean[]{false, true}) {
                Algorithm last = Algorithm.DOUBLING;
                for (long bytes = 1; bytes <= 1L << 32; bytes = bytes * 5 / 4 + 1) {
                    Algorithm next = isHalf ? Algorithm.chooseForHalves(bytes, ranks) : Algorithm.choose(bytes, ranks);
                    assertTrue(next.compareTo(last) >= 0, last + ", then " + next + ": " + bytes + " bytes, " + ranks);
                    last = next;
                }
            }
        }
    }

    /** Around the ring, floats of 16 bits come back as such. */
    @Test
    void sumsOfHalvesGoAroundTheRingOfFewRanks() {
        assertEquals(List.of(Algorithm.RING, Algorithm.HALVING),
                List.of(Algorithm.chooseForHalves(4 * MIB, 8), Algorithm.choose(4 * MIB, 8)));
        assertEquals(Algorithm.HALVING, Algorithm.chooseForHalves(4 * MIB, 256));
        assertTrue(Choices.isRing(DType.FLOAT16, 2 * MIB, 8));
    }
}
