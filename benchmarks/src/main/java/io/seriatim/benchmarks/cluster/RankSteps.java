package io.seriatim.benchmarks.cluster;

import io.seriatim.benchmarks.cluster.ScaleModel.Bucket;
import io.seriatim.executor.trace.RunTrace;
import io.seriatim.executor.trace.TracedPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The recorded steps of a rank. Exchanges are the operations that communicate; time in which one of them runs and the
 * rank computes nothing on any thread is time that lanes wait in communication.
 *
 * @param step
 *            nanoseconds of a step, the median
 * @param exchanging
 *            nanoseconds of all exchanges of a step, the mean
 * @param waiting
 *            nanoseconds of a step in which the rank only waits for exchanges, the mean
 * @param buckets
 *            when what is exchanged was computed, medians
 * @param rest
 *            nanoseconds from the end of the last exchange to that of the step, the median
 */
record RankSteps(double step, double exchanging, double waiting, List<Bucket> buckets, double rest) {
    private static final String COLLECTIVE = "c_";

    RankSteps {
        buckets = List.copyOf(buckets);
    }

    /** Returns the share of the exchange behind which the rank computes. */
    double hidden() {
        return exchanging == 0 ? 1 : 1 - waiting / exchanging;
    }

    ScaleModel.Step timeline() {
        return new ScaleModel.Step(buckets, rest);
    }

    /**
     * Reads recordings.
     *
     * @param runs
     *            of one plan
     * @param bytes
     *            the sizes of its exchanges, in the order of the program
     */
    static RankSteps of(List<RunTrace.Run> runs, List<Long> bytes) {
        double exchanging = 0;
        double waiting = 0;
        double[][] ready = new double[bytes.size()][runs.size()];
        double[] rest = new double[runs.size()];
        double[] step = new double[runs.size()];
        for (int i = 0; i < runs.size(); i++) {
            RunTrace.Run run = runs.get(i);
            List<RunTrace.Span> exchanges = run.spans().stream().filter(each -> isExchange(run, each)).toList();
            if (exchanges.size() != bytes.size()) {
                throw new IllegalStateException("The program exchanges " + bytes.size() + " times, but the recording "
                        + exchanges.size() + " times");
            }
            exchanging += exchanges.stream().mapToLong(RunTrace.Span::duration).sum();
            waiting += waiting(run);
            for (int k = 0; k < exchanges.size(); k++) {
                ready[k][i] = computed(run, exchanges.get(k)) - run.started();
            }
            rest[i] = run.ended() - exchanges.stream().mapToLong(RunTrace.Span::ended).max().orElse(run.started());
            step[i] = run.duration();
        }
        List<Bucket> buckets = new ArrayList<>();
        for (int k = 0; k < ready.length; k++) {
            buckets.add(new Bucket(bytes.get(k), median(ready[k])));
        }
        return new RankSteps(median(step), exchanging / runs.size(), waiting / runs.size(), buckets, median(rest));
    }

    private static boolean isExchange(RunTrace.Run run, RunTrace.Span span) {
        return run.plan().instructions().get(span.instruction()).type().startsWith(COLLECTIVE);
    }

    /** When all was computed that is exchanged; that another exchange comes first is not waited for. */
    private static double computed(RunTrace.Run run, RunTrace.Span exchange) {
        TracedPlan.Instruction instruction = run.plan().instructions().get(exchange.instruction());
        return run.spans().stream()
                .filter(each -> instruction.dependencies().contains(each.instruction()) && !isExchange(run, each))
                .mapToLong(RunTrace.Span::ended).max().orElse(run.started());
    }

    /** The nanoseconds in which an exchange runs and nothing else does. */
    private static long waiting(RunTrace.Run run) {
        // At each border of a span: how many exchanges and how many computations run from here on.
        record Border(long time, int exchanges, int computations) {
        }
        List<Border> borders = new ArrayList<>();
        for (RunTrace.Span each : run.spans()) {
            boolean isExchange = isExchange(run, each);
            borders.add(new Border(each.started(), isExchange ? 1 : 0, isExchange ? 0 : 1));
            borders.add(new Border(each.ended(), isExchange ? -1 : 0, isExchange ? 0 : -1));
        }
        borders.sort((a, b) -> Long.compare(a.time(), b.time()));
        long waiting = 0;
        int exchanges = 0;
        int computations = 0;
        for (int i = 0; i < borders.size(); i++) {
            if (exchanges > 0 && computations == 0) {
                waiting += borders.get(i).time() - borders.get(i - 1).time();
            }
            exchanges += borders.get(i).exchanges();
            computations += borders.get(i).computations();
        }
        return waiting;
    }

    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    /** Formats a line for another process. */
    String line() {
        return String.format(Locale.ROOT, "%.0f %.0f %.0f %.0f %s", step, exchanging, waiting, rest, buckets.stream()
                .map(each -> String.format(Locale.ROOT, "%d:%.0f", each.bytes(), each.ready()))
                .collect(Collectors.joining(",")));
    }

    static RankSteps parse(String line) {
        String[] fields = line.split(" ", -1);
        List<Bucket> buckets = new ArrayList<>();
        for (String each : fields[4].split(",", -1)) {
            int colon = each.indexOf(':');
            buckets.add(new Bucket(Long.parseLong(each.substring(0, colon)),
                    Double.parseDouble(each.substring(colon + 1))));
        }
        return new RankSteps(Double.parseDouble(fields[0]), Double.parseDouble(fields[1]),
                Double.parseDouble(fields[2]), buckets, Double.parseDouble(fields[3]));
    }
}
