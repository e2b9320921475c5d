package io.seriatim.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.engine.Lane;
import io.seriatim.engine.OpKind;
import io.seriatim.engine.Recorder.OpRecord;
import io.seriatim.engine.Recorder.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimelineTest {
    private final Timeline timeline = new Timeline();

    private void ended(String name, int worker, long started, long ended) {
        timeline.ended(new OpRecord(name, OpKind.NORMAL, Lane.CPU, "w-" + worker, worker, 0, 0, started, ended,
                Outcome.COMPLETED));
    }

    @Test
    void aColumnShowsTheStepThatTookMostOfIt() {
        ended("compress", 0, 0, 52);
        ended("append", 0, 52, 100);
        ended("read", 1, 86, 100);
        assertEquals(List.of("w-0  CCCCCaaaaa", "w-1  .........R"), timeline.rows(timeline.from(), timeline.to(), 10));
    }

    @Test
    void shortStepsOfOneKindCountTogether() {
        ended("hash", 0, 0, 3);
        ended("compress", 0, 3, 7);
        ended("hash", 0, 7, 10);
        assertEquals(List.of("w-0  H"), timeline.rows(0, 10, 1));
    }

    @Test
    void aStretchCutsWhatReachesOutOfIt() {
        ended("index", 0, 0, 30);
        ended("merge", 0, 30, 90);
        ended("list", 0, 95, 99);
        assertEquals(List.of("w-0  IImm"), timeline.rows(10, 50, 4));
    }

    @Test
    void workersAreInTheOrderOfTheirNumbers() {
        ended("read", 10, 0, 10);
        ended("read", 2, 0, 10);
        assertEquals(List.of("w-2   R", "w-10  R"), timeline.rows(0, 10, 1));
    }
}
