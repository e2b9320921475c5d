package io.seriatim.benchmarks.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BuildingTest {
    @Test
    void isMeasured() {
        Building building = Building.measure(200);
        assertEquals(200, building.operations());
        assertTrue(
                building.define() > 0 && building.compile() > 0 && building.first() > 0 && building.next() > 0
                        && building.cpu() > 0,
                building::toString);
        assertEquals(building.compile() + building.first(), building.plan());
    }

    @Test
    void isWhatAnotherProcessHasPrinted() {
        Building building = new Building(1000, 0.5, 1e-5, 2, 1.5, 3e-3, 1L << 33);
        assertEquals(building, Building.parse("WARNING: of the JVM\n" + building.format() + "\n"));
    }
}
