package io.seriatim.benchmarks.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The workloads equal those of the C++ peers, so that figures of the same name are comparable. */
class WorkloadTest {
    /** Printed by a C++ program that includes the peers' definition. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            chain,1,0,1,1,9aa908f885bc843b
            independent,1,0,1,1024,26cb24a902a38135
            random,1,0,1,256,6661c5d6d0ca64eb
            fan,1,0,1,8,25bde0189808790e
            wavefront,1,0,1,1,9aa908f885bc843b
            chain,1000,3,1000,1,b9ddaa4f35e87872
            independent,1000,3,1000,1024,12382a4b3f888be1
            random,1000,3,1000,256,64d33d0e49ac6c17
            fan,1000,3,1000,8,0aa53b85f78715db
            wavefront,1000,3,961,961,c19b76f86506564f
            chain,20000,0,20000,1,6c141d2cf4c0f07e
            independent,20000,0,20000,1024,77a98a8959b144f9
            random,20000,0,20000,256,334db21c0a0f3b05
            fan,20000,0,20000,8,9ba885c016691e6e
            wavefront,20000,0,19881,19881,a02c826640cf6c23
            """)
    void theSerialResultIsThatOfThePeers(String name, int ops, int spin, int size, int vars, String checksum) {
        Workload workload = Workload.of(name, ops);
        assertEquals(size, workload.size());
        assertEquals(vars, workload.vars());
        assertEquals(checksum, "%016x".formatted(WorkloadRun.serialChecksum(workload, spin)));
    }

    @Test
    void anUnknownNameIsRefusedWithTheKnownOnes() {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Workload.of("tree", 10));
        assertEquals("There is no workload 'tree': use one of chain, independent, random, fan, wavefront",
                e.getMessage());
    }

    @Test
    void aCountOutOfRangeIsRefused() {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Workload.of("chain", 0));
        assertEquals("A workload has 1 to 100000000 operations, but 0 were asked for", e.getMessage());
    }
}
