package io.seriatim.benchmarks.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class FiguresTest {
    private static final String PEER = "{\"lib\": \"torch\", \"work\": \"mlp\", \"threads\": 1, \"rss_mb\": 400, "
            + "\"first_step_s\": 3.0, \"median_ms\": 4.0, "
            + "\"min_ms\": 3.9, \"first_loss\": 2.3, \"last_loss\": 2.2}";

    private static Figures ours() {
        return new Figures().with("lib", "seriatim").with("work", "mlp").with("threads", 1, 0).with("rss_mb", 200, 0)
                .with("first_step_s", 0.6, 2).with("median_ms", 2, 3);
    }

    @Test
    void areALineAsThePeersPrintIt() {
        assertEquals(
                "{\"lib\": \"seriatim\", \"work\": \"mlp\", \"threads\": 1, \"rss_mb\": 200, \"first_step_s\": "
                        + "0.60, \"median_ms\": 2.000}",
                ours().toString());
        assertEquals("{\"first_loss\": null}", new Figures().with("first_loss", Double.NaN, 4).toString());
    }

    @Test
    void areFoundAmongOtherLines() {
        List<Figures> figures = Figures.parse("WARNING: of something\n" + PEER + "\n" + ours() + "\n");
        assertEquals(List.of(PEER, ours().toString()), figures.stream().map(Figures::toString).toList());
        assertEquals("torch", figures.getFirst().text("lib"));
        assertEquals(4, figures.getFirst().time());
        assertEquals(OptionalDouble.empty(), figures.getFirst().number("arena_mb"));
        assertEquals(OptionalDouble.empty(), Figures.parse("{\"last_loss\": null}").getFirst().number("last_loss"));
    }

    @Test
    void withoutATimeAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Figures().with("rss_mb", 1, 0).timeKey());
    }

    @Test
    void haveMedians() {
        List<Figures> lines = Figures
                .parse("{\"lib\": \"a\", \"median_ms\": 4.0, \"loss\": null}\n{\"lib\": \"a\", \"median_ms\": 1.0, "
                        + "\"loss\": 2}\n"
                        + "{\"lib\": \"a\", \"median_ms\": 2.0, \"loss\": 3}");
        assertEquals("{\"lib\": \"a\", \"median_ms\": 2.0, \"loss\": 2.5}", Figures.median(lines).toString());
        assertEquals("{\"lib\": \"a\", \"median_ms\": 2.5, \"loss\": 2.0}",
                Figures.median(lines.subList(0, 2)).toString());
        assertEquals(lines.getFirst().toString(), Figures.median(lines.subList(0, 1)).toString());
    }
}
