package io.seriatim.benchmarks.metg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.metg.EfficiencyCurve.Sample;
import io.seriatim.benchmarks.metg.MetgResults.Contestant;
import io.seriatim.benchmarks.metg.MetgSystem.Kind;
import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonReader;
import io.seriatim.tensor.FileFormatException;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

/** Sweep, interpolation, ratios, tables, JSON and picture of made-up figures. */
class MetgResultsTest {
    private static final Contestant OURS = new Contestant("Seriatim", Kind.OURS, false);
    private static final Contestant NATIVE = new Contestant("a \"C++\" system", Kind.NATIVE, true);
    private static final Contestant JVM = new Contestant("futures", Kind.JVM, false);

    private static Sample sample(double granularity, double efficiency) {
        return new Sample((int) granularity, 1000, (long) granularity, granularity, efficiency);
    }

    private static EfficiencyCurve curve(double... granularityAndEfficiency) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < granularityAndEfficiency.length; i += 2) {
            samples.add(sample(granularityAndEfficiency[i], granularityAndEfficiency[i + 1]));
        }
        return new EfficiencyCurve(samples);
    }

    /** Returns a curve whose METG is the granularity. */
    private static EfficiencyCurve at(double granularity) {
        return curve(granularity, 0.5, granularity / 2, 0.2);
    }

    @Test
    void theGranularityAtOneHalfIsInterpolatedInItsLogarithm() {
        assertEquals(2000, curve(4000, 0.7, 1000, 0.3).metg().orElseThrow(), 1e-6);
        assertEquals(4000 * Math.pow(0.25, 0.25), curve(4000, 0.6, 1000, 0.2).metg().orElseThrow(), 1e-6);
        assertEquals(4000, curve(4000, 0.5, 1000, 0.2).metg().orElseThrow(), 1e-6);
    }

    @Test
    void theSmallestCrossingCountsInAnyOrderOfSamples() {
        EfficiencyCurve curve = curve(1000, 0.3, 8000, 0.4, 4000, 0.7, 16_000, 0.9);
        assertEquals(2000, curve.metg().orElseThrow(), 1e-6);
        assertEquals(16_000, curve.samples().getFirst().granularity());
    }

    @Test
    void withoutACrossingItIsTheSmallestSampleOrNone() {
        assertEquals(OptionalDouble.of(100), curve(200, 0.9, 100, 0.8).metg());
        assertEquals(OptionalDouble.empty(), curve(200, 0.49, 100, 0.2).metg());
        assertEquals(OptionalDouble.empty(), curve().metg());
    }

    @Test
    void aSampleComputesGranularityAndEfficiencyFromTime() {
        TaskGraph graph = TaskPattern.STENCIL.graph(4);
        Sample sample = Sample.of(graph, 100, 10, 200_000, 2, 5);
        assertEquals(400, sample.tasks());
        assertEquals(1000, sample.granularity());
        assertEquals(400.0 * 10 * FmaKernel.FLOPS / 200_000 / 5, sample.efficiency(), 1e-12);
    }

    /** Overhead of 1,000 beside a size of n takes n / (n + 1000) of the time. */
    private static Sample model(List<Integer> sizes, int size) {
        sizes.add(size);
        return new Sample(size, 1, size, size + 1000, size / (size + 1000.0));
    }

    @Test
    void theSweepGoesUpToTheFirstHighSampleAndDownToTheFirstLowOne() throws Exception {
        List<Integer> sizes = new ArrayList<>();
        EfficiencyCurve curve = Sweep.run(8192, 1 << 20, size -> model(sizes, size));
        assertEquals(List.of(8192, 16_384, 32_768, 4096, 2048, 1024, 512, 256, 256), sizes);
        assertEquals(8, curve.samples().size());
        assertEquals(2000, curve.metg().orElseThrow(), 50);
    }

    @Test
    void theSweepStopsAtItsLimitsAndADisturbanceDoesNotEndIt() throws Exception {
        List<Integer> sizes = new ArrayList<>();
        Sweep.run(1000, 4000, size -> {
            sizes.add(size);
            boolean disturbed = size == 500 && sizes.indexOf(size) == sizes.size() - 1;
            return sample(size, disturbed ? 0.1 : 0.9);
        });
        assertEquals(List.of(1000, 2000, 4000, 500, 500, 250, 125, 62, 31, 15, 7, 3, 1), sizes);
    }

    private static MetgResults results() {
        MetgResults results = new MetgResults(List.of(TaskPattern.TRIVIAL, TaskPattern.FFT, TaskPattern.TREE),
                List.of(8), List.of(OURS, NATIVE, JVM));
        double[][] figures = {{300, 100, 600}, {200, 400, 100}, {1000, 500, 4000}};
        for (int i = 0; i < figures.length; i++) {
            TaskPattern pattern = results.patterns().get(i);
            for (double disturbed : new double[]{0.5, 1, 3}) {
                results.add(pattern, 8, OURS, at(figures[i][0] * disturbed));
            }
            results.add(pattern, 8, NATIVE, at(figures[i][1]));
            results.add(pattern, 8, JVM, at(figures[i][2]));
        }
        return results;
    }

    @Test
    void ratiosAreOfMediansAndTheirMeanIsGeometricOverDependencies() {
        MetgResults results = results();
        assertEquals(200, results.metg(TaskPattern.FFT, 8, OURS), 1e-9);
        assertEquals(0.5, results.ratio(TaskPattern.FFT, 8, Kind.NATIVE), 1e-9);
        assertEquals(1, results.meanRatio(8, Kind.NATIVE, TaskPattern::hasDependencies), 1e-9);
        assertEquals(Math.sqrt(0.5), results.meanRatio(8, Kind.JVM, TaskPattern::hasDependencies), 1e-9);
        String table = new MetgTables(results).table(8).markdown();
        assertTrue(table.lines().anyMatch(line -> line.replace(" ", "")
                .equals("|FFT|0.20|0.40|0.10|0.50|2.00|")), table);
        assertTrue(table.lines().anyMatch(line -> line.replace(" ", "")
                .equals("|geometricmean,withdependencies||||1.00|0.71|")), table);
    }

    @Test
    void whatWasNotMeasuredHasNoRatio() {
        MetgResults results = new MetgResults(List.of(TaskPattern.FFT), List.of(1), List.of(OURS, NATIVE));
        results.add(TaskPattern.FFT, 1, OURS, at(100));
        String table = new MetgTables(results).table(1).markdown();
        assertTrue(table.lines().anyMatch(line -> line.replace(" ", "").equals("|FFT|0.10|–|–|–|")), table);
    }

    @Test
    void jsonHoldsOriginAndSamples() throws FileFormatException {
        String json = new MetgJson(results(), Map.of("processor", "a \"quoted\" one", "cores", 2)).text();
        JsonObject object = JsonReader.parse("metg", json.getBytes(StandardCharsets.UTF_8)).object();
        assertEquals("a \"quoted\" one", object.get("processor").text());
        assertEquals(2, object.get("cores").int64());
        JsonArray entries = object.get("results").array();
        assertEquals(9, entries.size());
        JsonObject ours = entries.get(3).object();
        assertEquals("fft", ours.get("pattern").text());
        assertEquals(8, ours.get("tasksPerWorker").int64());
        assertEquals("Seriatim", ours.get("system").text());
        assertFalse(ours.get("pusherRunsTasks").bool());
        assertEquals(200, ours.get("metgNanos").float64(), 1e-3);
        assertEquals(3, ours.get("repetitions").array().size());
        JsonObject sample = ours.get("repetitions").array().get(2).object().get("samples").array().get(1).object();
        assertEquals(300, sample.get("granularityNanos").float64(), 1e-3);
        assertEquals(0.2, sample.get("efficiency").float64(), 1e-3);
        assertTrue(entries.get(4).object().get("pusherRunsTasks").bool());
    }

    @Test
    void thePictureIsWellFormedAndHasALineForEachSystem() throws Exception {
        String svg = new EfficiencyChart(results()).svg();
        var document = DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
        assertEquals(3 * 3, document.getElementsByTagName("polyline").getLength());
        assertEquals(3, document.getElementsByTagName("g").getLength());
    }
}
