package io.seriatim.benchmarks.serve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.benchmarks.train.ServedNetwork;
import io.seriatim.cli.text.Table;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ServeBenchTest {
    /** Returns the sum of its inputs and a constant. */
    private record Sum(float constant, AtomicInteger calls) implements ServePeer.Session {
        @Override
        public float[] call(float... values) {
            calls.incrementAndGet();
            float sum = constant;
            for (float value : values) {
                sum += value;
            }
            return new float[]{sum};
        }

        @Override
        public void close() {
            // A session without resources.
        }
    }

    private static Answers answers(long... nanos) {
        Answers answers = new Answers();
        for (long each : nanos) {
            answers.add(each);
        }
        return answers;
    }

    @Test
    void quantilesAreOfAllClients() {
        long[] sorted = Answers.sorted(List.of(answers(5000, 1000), answers(), answers(3000, 2000)));
        assertArrayEquals(new long[]{1000, 2000, 3000, 5000}, sorted);
        assertEquals(3000, Answers.quantile(0.5, sorted));
        assertEquals(5000, Answers.quantile(0.99, sorted));
        assertTrue(Double.isNaN(Answers.quantile(0.5)));
    }

    @Test
    void ratesAreMediansOfTheRounds() {
        Map<String, List<Clients.Slice>> slices = Map.of("seriatim",
                List.of(new Clients.Slice(3000, List.of(answers(100_000))),
                        new Clients.Slice(1000, List.of(answers(300_000))),
                        new Clients.Slice(2600, List.of(answers(200_000)))),
                "ort", List.of(new Clients.Slice(2000, List.of(answers(400_000)))));
        assertEquals(List.of("T1", "2", "2,600", "2,000", "1.30", "1.3", "200.0", "400.0", "300.0", "400.0"),
                ServeBench.row("T1", 2, slices, List.of("ort")));
        assertEquals(List.of("T1", "2", "2,600", "–", "–", "1.3", "200.0", "–", "300.0", "–"),
                ServeBench.row("T1", 2, slices, List.of("missing")));
    }

    @Test
    void servicesAreCalledInTurn() throws InterruptedException {
        Sum ours = new Sum(0, new AtomicInteger());
        Sum theirs = new Sum(0, new AtomicInteger());
        Table table = ServeBench.table(List.of("peer"));
        new ServeBench(2, 1_000_000, List.of(1, 2)).run("T1", 5, Map.of("seriatim", ours, "peer", theirs),
                List.of("peer"), table);
        assertEquals(3, table.text().lines().count(), table::text);
        assertTrue(ours.calls.get() > 0 && theirs.calls.get() > 0);
    }

    @Test
    void whoeverComputesSomethingElseIsNotMeasured() {
        Map<String, ServePeer.Session> services = Map.of("seriatim", new Sum(0, new AtomicInteger()), "peer",
                new Sum(1, new AtomicInteger()));
        Table table = ServeBench.table(List.of("peer"));
        String message = String.valueOf(assertThrows(IllegalStateException.class,
                () -> new ServeBench(1, 1_000_000, List.of(1)).run("T1", 5, services, List.of("peer"), table))
                .getMessage());
        assertTrue(message.startsWith("The results of T1 must agree"), message);
    }

    @ParameterizedTest
    @EnumSource(ServedNetwork.class)
    void aPlanAnswers(ServedNetwork network) {
        try (PlanService service = PlanService.of(network)) {
            float[] first = service.call(Clients.request(1, service.size()));
            assertEquals(10, first.length);
            assertArrayEquals(first, service.call(Clients.request(1, service.size())),
                    "the same request has the same answer");
        }
    }
}
