package io.seriatim.train.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.train.TrainingListener;
import io.seriatim.train.metrics.History;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

class TrainingReportTest {
    private static final String NASTY = "]]></script><b onload='x' a=\"y\">&\u0000\uD800";

    @TempDir
    private Path folder = Path.of("");

    /** Values that are difficult to plot. */
    static TrainingReport odd() {
        TrainingReport report = new TrainingReport("odd");
        double[][] all = {{Double.NaN}, {Double.NaN, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY}, {0}, {-3},
                {5, 5, 5},
                {1, Double.NaN, 2},
                {1e-300, 1e-301}, {-1e308, 1e308}, {Double.MAX_VALUE, Double.MAX_VALUE}, {Double.MIN_VALUE}, {0, 0},
                {1e9, 3e9}, {}};
        for (double[] values : all) {
            double[] at = new double[values.length];
            for (int i = 0; i < at.length; i++) {
                at[i] = i >> 1;
            }
            for (Series.Style style : Series.Style.values()) {
                for (Chart.Unit unit : Chart.Unit.values()) {
                    report.chart(Chart.of(unit + " " + style, "").as(unit).with(Series.of("x", style, at, values)));
                    report.chart(Chart.of(unit + " " + style, "").as(unit).startingAtZero()
                            .with(Series.of("x", style, at, values)));
                }
            }
        }
        return report
                .chart(Chart.of("line", "").line("to compare with", -2)
                        .with(Series.of("x", Series.Style.LINE, new double[]{1e7}, new double[]{1})))
                .chart(Chart.of("far", "")
                        .with(Series.of("x", Series.Style.LINE, new double[]{-1e15, 1e15}, new double[]{1, 2})));
    }

    private String written(TrainingReport report) throws IOException {
        Path file = folder.resolve("report.html");
        report.write(file);
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(1, files.count(), "nothing temporary is left");
        }
        return Files.readString(file);
    }

    private static Document parsed(String page) throws IOException {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                    .parse(new ByteArrayInputStream(page.getBytes(StandardCharsets.UTF_8)));
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("the page is not well-formed: " + e.getMessage(), e);
        }
    }

    private static List<Element> elements(Document document, String name) {
        NodeList nodes = document.getElementsByTagName(name);
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            elements.add((Element) nodes.item(i));
        }
        return elements;
    }

    private static List<String> texts(Document document, String name) {
        return elements(document, name).stream().map(Element::getTextContent).toList();
    }

    private static Map<String, String> tiles(Document document) {
        Map<String, String> tiles = new LinkedHashMap<>();
        for (Element div : elements(document, "div")) {
            if (div.getAttribute("class").equals("tile")) {
                tiles.put(div.getElementsByTagName("span").item(0).getTextContent(),
                        div.getElementsByTagName("b").item(0).getTextContent() + "|"
                                + div.getElementsByTagName("span").item(1).getTextContent());
            }
        }
        return tiles;
    }

    @Test
    void everythingIsOnOnePage() throws IOException {
        String page = written(Sample.report(600));
        Document document = parsed(page);
        assertTrue(page.length() < 3_000_000, page.length() + " characters");
        List<String> headings = Stream.concat(texts(document, "h2").stream(), texts(document, "h3").stream()).toList();
        assertTrue(headings.containsAll(
                List.of("Curves", "Loss", "Accuracy", "Learning rate", "Throughput", "Memory of the process",
                        "Twenty invented names", "Step 20", "Timeline of step 20", "Memory over step 20",
                        "The ten costliest operations", "Network",
                        "Environment")),
                headings::toString);
        assertTrue(texts(document, "text").contains("bigram 2.410"), "a loss to compare with is drawn");
        assertEquals("runs/<a & b>",
                Pattern.compile("--out \"(.*)\"").matcher(String.join("\n", texts(document, "dd"))).results()
                        .findFirst()
                        .orElseThrow().group(1));
        assertTrue(texts(document, "td").contains("java.util.AbstractMap<K>"));
        List<String> ids = elements(document, "*").stream().map(each -> each.getAttribute("id"))
                .filter(id -> !id.isEmpty()).toList();
        assertEquals(ids.size(), new HashSet<>(ids).size(), () -> "identifiers are given once: " + ids);
        elements(document, "a")
                .forEach(link -> assertTrue(ids.contains(link.getAttribute("href").substring(1)),
                        link.getAttribute("href")));
    }

    @Test
    void nothingComesFromElsewhere() throws IOException {
        Document document = parsed(written(Sample.report(30)));
        for (Element element : elements(document, "*")) {
            assertFalse(List.of("link", "img", "iframe", "object", "base", "use").contains(element.getTagName()),
                    element.getTagName());
            assertFalse(element.hasAttribute("src"), element.getTagName());
        }
        texts(document, "style").forEach(css -> assertFalse(css.contains("url(") || css.contains("@import"), css));
        texts(document, "script").forEach(
                script -> assertFalse(
                        script.contains("fetch(") || script.replace("http://www.w3.org/2000/svg", "").contains("://"),
                        script));
    }

    @Test
    void tilesSayHowItWent() throws IOException {
        History history = new History();
        history.started(new TrainingListener.Started("m", "cpu", 1, 8, 0, 3, 1, 1234, 24, "images"));
        history.step(new TrainingListener.Step(1, 1, 3, Map.of("accuracy", 0.25), Double.NaN, 0.5, 8));
        assertEquals("3.000|average of the last steps",
                tiles(parsed(written(new TrainingReport("t").history(history, Map.of())))).get("Training loss"));
        history.evaluated(new TrainingListener.Evaluation(1, 1, 2.5, Map.of("accuracy", 0.5), true, 1));
        history.step(new TrainingListener.Step(2, 1, 2, Map.of("accuracy", 0.5), Double.NaN, 0.5, 8));
        history.evaluated(new TrainingListener.Evaluation(2, 1, 2.75, Map.of("accuracy", 0.4), false, 1));
        Map<String, String> tiles = tiles(
                parsed(written(new TrainingReport("t").history(history, Map.of("uniform", 2.3)))));
        assertEquals("2.500|best, at step 1, last 2.750; uniform 2.300", tiles.get("Validation loss"));
        assertEquals("50.00 %|with the best loss, last 40.00 %", tiles.get("Validation accuracy"));
        assertEquals("16.00|images per second", tiles.get("Throughput"));
        assertEquals("1,234|trained numbers", tiles.get("Parameters"));
        assertTrue(tiles.keySet().containsAll(List.of("Time", "Peak memory")), tiles::toString);
    }

    @Test
    void textsAreNoMarkup() throws IOException {
        Series series = Series.of(NASTY, Series.Style.NOISY, new double[]{1}, new double[]{1});
        String page = written(new TrainingReport(NASTY).subtitle(NASTY).tile(NASTY, NASTY, NASTY)
                .chart(new Chart(NASTY, NASTY, NASTY, Chart.Unit.NUMBER, false, List.of(series),
                        List.of(new Chart.Line(NASTY, 1))))
                .extra(new Extra(NASTY, List.of(NASTY), List.of(NASTY), List.of(new Extra.Row(List.of(NASTY), true))))
                .environment(NASTY, NASTY)
                .failure(new IllegalStateException(NASTY)));
        assertFalse(page.contains("<b onload"), "texts are no markup");
        assertTrue(elements(parsed(page), "b").stream().noneMatch(each -> each.hasAttribute("onload")));
    }

    @Test
    void aFailedTrainingSaysWhy() throws IOException {
        Exception cause = new IllegalStateException("the first reason");
        Document document = parsed(
                written(new TrainingReport("t").failure(new IOException("loss is NaN at step 7", cause))
                        .failure(new IOException("loss is NaN at step 8", new NullPointerException()))));
        assertEquals(List.of("loss is NaN at step 8", "java.lang.NullPointerException"),
                texts(document, "li").stream().map(String::strip).toList());
        assertTrue(texts(document, "p").contains("No step has ended, so there is nothing to draw."));
    }

    @Test
    void oddValuesAreDrawnOrMarked() throws IOException {
        String page = written(odd());
        for (Element element : elements(parsed(page), "*")) {
            for (String attribute : List.of("d", "x", "y", "cx", "cy", "width", "height")) {
                assertFalse(element.getAttribute(attribute).matches(".*(NaN|Infinity).*"),
                        () -> element.getTagName() + " " + element.getAttribute("d"));
            }
        }
        assertTrue(page.contains("There are no values yet."));
        assertTrue(page.contains("class=\"broken\""), "what is not finite is marked");
        assertTrue(page.contains("<b>NaN</b>"), "and said");
    }

    @Test
    void seriesAreChecked() {
        assertEquals(
                "A series has a value, a least and a greatest for each place, but 'x' has 1 places, 2 values, 2 and 2",
                assertThrows(IllegalArgumentException.class,
                        () -> Series.of("x", Series.Style.LINE, new double[1], new double[2]))
                        .getMessage());
        assertEquals("The places of a series must be finite and in ascending order, but 'x' has 1.0 after 2.0",
                assertThrows(IllegalArgumentException.class,
                        () -> Series.of("x", Series.Style.LINE, new double[]{2, 1}, new double[2])).getMessage());
        assertEquals("A value to compare with must be finite, but 'b' is NaN",
                assertThrows(IllegalArgumentException.class, () -> new Chart.Line("b", Double.NaN)).getMessage());
        assertEquals("The table 't' has 1 columns [c], but a row has 2 cells [1, 2]",
                assertThrows(IllegalArgumentException.class,
                        () -> new Extra("t", List.of(), List.of("c"), List.of(new Extra.Row(List.of("1", "2"), false))))
                        .getMessage());
    }
}
