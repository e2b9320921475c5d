package io.seriatim.benchmarks.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.common.Progress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RaceTest {
    private final List<String> laps = new ArrayList<>();
    private final StringWriter err = new StringWriter();
    private final Progress progress = new Progress(new PrintWriter(err, true), false);
    private final List<Work> works = List.of(Work.of("chain", 1, 0, 1), Work.of("fan", 1, 0, 1));

    /** Records its laps; from a given number on, each takes a nanosecond longer than the one before. */
    private final class Scripted implements Contender {
        private final String name;
        private final ResultCheck check;
        private final int lastLap;
        private double nanos;
        private int count;

        Scripted(String name, double nanos, ResultCheck check, int lastLap) {
            this.name = name;
            this.nanos = nanos;
            this.check = check;
            this.lastLap = lastLap;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public int workers() {
            return 1;
        }

        @Override
        public boolean ours() {
            return name.equals("ours");
        }

        @Override
        public boolean needsWarmUp() {
            return ours();
        }

        @Override
        public Lap run(Work work) throws PeerUnavailableException {
            if (count++ == lastLap) {
                throw new PeerUnavailableException("it is tired");
            }
            laps.add(name + ":" + work.name());
            return Lap.of(nanos++, check);
        }
    }

    private Scripted contender(String name, double nanos) {
        return new Scripted(name, nanos, ResultCheck.SAME, Integer.MAX_VALUE);
    }

    @Test
    void eachRunsOnceInEachRoundAndTheFirstOneChanges() throws Exception {
        new Race(List.of(contender("ours", 1), contender("other", 1)), progress).run(works, 0, 2);
        assertEquals("ours:chain other:chain ours:fan other:fan other:chain ours:chain other:fan ours:fan",
                String.join(" ", laps));
    }

    @Test
    void warmUpsAreForThoseThatNeedThemAndDoNotCount() throws Exception {
        Contender ours = contender("ours", 1);
        Standings standings = new Race(List.of(ours, contender("other", 1)), progress).run(works.subList(0, 1), 2, 1);
        assertEquals(List.of("ours:chain", "ours:chain", "ours:chain", "other:chain"), laps);
        assertEquals(3, standings.of(ours, works.getFirst()).median());
    }

    @Test
    void whoCannotGoOnLeavesWithALine() throws Exception {
        Contender ours = contender("ours", 1);
        Standings standings = new Race(List.of(ours, new Scripted("other", 1, ResultCheck.SAME, 1)), progress)
                .run(works, 0, 3);
        assertEquals(List.of(ours), standings.contenders());
        assertEquals("other leaves the race: it is tired\n", err.toString().replace(System.lineSeparator(), "\n"));
    }

    @Test
    void aWrongResultIsSeenWhateverElseWasRight() throws Exception {
        Standings right = raceWith(ResultCheck.EMPTY_BODY).run(works, 0, 1);
        assertFalse(right.anyWrong());
        Standings wrong = raceWith(ResultCheck.WRONG).run(works, 0, 1);
        assertTrue(wrong.anyWrong());
    }

    private Race raceWith(ResultCheck check) {
        return new Race(List.of(contender("ours", 1), new Scripted("other", 1, check, Integer.MAX_VALUE)), progress);
    }

    @Test
    void theReportShowsTimesAndRatiosOfMedians() throws Exception {
        Standings standings = new Race(List.of(contender("ours", 1), contender("other", 4)), progress)
                .run(works.subList(0, 1), 0, 3);
        RaceReport report = new RaceReport(standings);
        assertEquals("""
                min / median      chain  result
                ours          1.0 / 2.0      ok
                other         4.0 / 5.0      ok
                """, report.times().text());
        assertEquals("""
                         chain  ours
                ÷ other   0.40  ours
                """, report.ratios().text());
    }
}
