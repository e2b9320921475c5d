package io.seriatim.cli.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
    private final Table table = new Table(List.of("engine", "ns"));

    @Test
    void columnsAreAsWideAsTheirWidestCell() {
        table.row(List.of("a", "1.5"));
        table.row(List.of("the longest", "12"));
        assertEquals("""
                engine        ns
                a            1.5
                the longest   12
                """, table.text());
    }

    @Test
    void markdownKeepsTheAlignment() {
        table.row(List.of("a", "1.5"));
        assertEquals("""
                | engine |  ns |
                |--------|----:|
                | a      | 1.5 |
                """, table.markdown());
    }

    @Test
    void aRowOfAnotherWidthIsRefused() {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> table.row(List.of("a")));
        assertEquals("A row must have 2 cells as the header, but has 1: [a]", e.getMessage());
    }
}
