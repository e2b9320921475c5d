package io.seriatim.train.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.train.metrics.History;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Opens the page in a browser; skipped with a message if none is installed. */
class BrowserTest {
    @TempDir
    private Path folder = Path.of("");

    private String opened(TrainingReport report) throws IOException, InterruptedException {
        return opened(report, "");
    }

    private String opened(TrainingReport report, String style) throws IOException, InterruptedException {
        Optional<Browser> browser = Browser.find();
        if (browser.isEmpty()) {
            System.out.println(Browser.missing());
        }
        assumeTrue(browser.isPresent(), Browser.missing());
        Path page = folder.resolve("report.html");
        report.write(page);
        Files.writeString(page, Files.readString(page).replace("</head>", "<style>" + style + "</style></head>"));
        return browser.orElseThrow().open(page, folder.resolve("profile"));
    }

    private static String root(String document) {
        return document.substring(document.indexOf("<html"), document.indexOf("<head"));
    }

    private static List<Integer> points(String document) {
        return Pattern.compile("<figure class=\"chart[^>]* data-points=\"(\\d+)\"").matcher(document).results()
                .map(each -> Integer.valueOf(each.group(1))).toList();
    }

    @Test
    void scriptsDrawAllThatThereIs() throws IOException, InterruptedException {
        String document = opened(Sample.report(600));
        assertFalse(document.contains("data-error"), () -> "the page's script failed: " + root(document));
        assertTrue(root(document).contains("data-ready=\"yes\""),
                () -> "the page's script did not end: " + root(document));
        List<Integer> points = points(document);
        assertEquals(List.of(612, 612, 600, 600), points.subList(0, 4),
                "loss and accuracy with their evaluations, rate, throughput");
        assertEquals(5, points.size(), "and memory");
        assertEquals(document.split("<section class=\"timeline\">", -1).length, 2, "one step is drawn");
        assertFalse(Pattern.compile("<button class=\"(in|fit)\" type=\"button\" hidden").matcher(document).find(),
                "what only works with the script is shown by the script");
        assertTrue(Pattern.compile("<circle class=\"c1\"").matcher(document).results().count() >= 24,
                "evaluations are points");
    }

    /** On a telephone, where a window of a browser without a screen cannot be as narrow. */
    @ParameterizedTest
    @ValueSource(ints = {9, 600})
    void aNarrowPageHasTwoStepsAtLeast(int steps) throws IOException, InterruptedException {
        TrainingReport report = new TrainingReport("narrow").history(Sample.history(steps), Map.of());
        String document = opened(report, "body { width: 390px; box-sizing: border-box; }");
        List<String> axes =
                Pattern.compile("viewBox=\"0 0 (\\d+) \\d+\"[^>]*>\\s*<g class=\"axis\">(.*?)</g>", Pattern.DOTALL)
                        .matcher(document).results().map(each -> {
                            assertTrue(Integer.parseInt(each.group(1)) < 390, each::group);
                            return each.group(2);
                        }).toList();
        assertEquals(5, axes.size(), document);
        // The last one, memory, has one value.
        for (String axis : axes.subList(0, 4)) {
            List<Double> places = Pattern.compile("<text x=\"([^\"]+)\"").matcher(axis).results()
                    .map(each -> Double.valueOf(each.group(1))).toList();
            assertTrue(places.size() >= 2, axis);
            for (int i = 1; i < places.size(); i++) {
                assertTrue(places.get(i) - places.get(i - 1) > 30, "there is room for numbers: " + axis);
            }
        }
    }

    @Test
    void scriptsEndWhateverTheValues() throws IOException, InterruptedException {
        String document = opened(TrainingReportTest.odd());
        assertFalse(document.contains("data-error"), () -> "the page's script failed: " + root(document));
        assertTrue(root(document).contains("data-ready=\"yes\""),
                () -> "the page's script did not end: " + root(document));
        assertFalse(
                document.contains("NaN\"")
                        && Pattern.compile(" (d|x|y|cx|cy|width)=\"[^\"]*NaN").matcher(document).find(),
                "nothing is drawn where there is no place for it");
    }

    @Test
    void aPageWithoutValuesIsDrawnToo() throws IOException, InterruptedException {
        String document = opened(new TrainingReport("nothing").history(new History(), Map.of()));
        assertFalse(document.contains("data-error"), () -> "the page's script failed: " + root(document));
        assertTrue(root(document).contains("data-ready=\"yes\""),
                () -> "the page's script did not end: " + root(document));
        assertTrue(points(document).isEmpty());
    }
}
