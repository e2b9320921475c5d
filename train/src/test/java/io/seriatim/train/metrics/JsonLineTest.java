package io.seriatim.train.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonLineTest {
    @Test
    void everyNumberReadsBackToTheBit() {
        long seed = 20260729;
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            double value = Double.longBitsToDouble(random.nextLong());
            JsonLine line = JsonLine.parse(new JsonLine.Writer("step").number("loss", value).line().strip());
            assertEquals(value, line.number("loss"), 0, "seed " + seed + ", number " + i);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -0.0, Double.MIN_VALUE,
            Double.MAX_VALUE})
    void unusualNumbersReadBack(double value) {
        String line = new JsonLine.Writer("step").number("loss", value).line();
        assertEquals(value, JsonLine.parse(line.strip()).number("loss"), 0, line);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\"b\\c", "C:\\runs\\1", "two\nlines\t\0", "größe 損失 😀", "\ud800 alone",
            "alone \udc00", "\u2028"})
    void everyStringReadsBackAndIsOneLineOfUtf8(String text) {
        String line = new JsonLine.Writer("begun").text("model", text).line();
        String read = new String(line.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8).strip();
        assertEquals(1, line.lines().count(), line);
        assertEquals(text, JsonLine.parse(read).text("model"), line);
    }

    @Test
    void timeHasNoExponent() {
        assertEquals("{\"event\":\"ended\",\"wall\":1753776000.007}\n",
                new JsonLine.Writer("ended").wall(1_753_776_000_007L).line());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{}", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}", "{\"a\":1}x",
            "{\"a\":1,\"a\":2}",
            "{\"a\":1f}",
            "{\"a\":0x1p3}", "{\"a\":NaN}", "{\"a\": 1}", "{\"a\":\"b}", "{\"a\":\"\\u12\"}", "{\"a\":{}}",
            "{\"a\":truE}", "\0\0\0"})
    void anythingElseIsRefused(String line) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> JsonLine.parse(line));
        assertTrue(String.valueOf(e.getMessage()).startsWith("at character "), e.getMessage());
    }

    @Test
    void valuesOfAnotherKindAreNamed() {
        JsonLine line = JsonLine.parse("{\"event\":3,\"step\":1.5,\"loss\":\"low\",\"best\":null}");
        assertWrong("'event' must be a string, but is 3.0", () -> line.text("event"));
        assertWrong("'step' must be a whole number, but is 1.5", () -> line.whole("step"));
        assertWrong("'loss' must be a number, but is low", () -> line.number("loss"));
        assertWrong("'best' must be true or false, but is NaN", () -> line.truth("best"));
        assertWrong("'rate' must be a number, but is null", () -> line.number("rate"));
    }

    private static void assertWrong(String message, Runnable read) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, read::run).getMessage());
    }
}
