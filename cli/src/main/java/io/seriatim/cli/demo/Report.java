package io.seriatim.cli.demo;

import java.io.PrintWriter;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Formats the text that the command prints on stdout. */
record Report(PrintWriter out) {
    /** The width of the timeline, which with the workers' names fits a terminal. */
    private static final int COLUMNS = 64;
    /** The width of the detailed timeline, in which the steps of one group can be distinguished. */
    private static final long ZOOM_NANOS = 30_000_000;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_MEGA = 1e6;

    void program(List<Group> groups) {
        int files = groups.stream().mapToInt(group -> group.files().size()).sum();
        long bytes = groups.stream().mapToLong(Group::bytes).sum();
        out.printf(Locale.ROOT, "%,d class files of the running JDK, %.1f MB, in %,d groups.%n", files,
                bytes / BYTES_PER_MEGA,
                groups.size());
        out.println("Each group is read, hashed, compressed and indexed;");
        out.println("the archive, the list of hashes and the index are shared and keep the loop's order.");
        out.println();
        out.flush();
    }

    void timeline(Timeline timeline) {
        long from = timeline.from();
        long to = timeline.to();
        picture("One parallel run", timeline, from, to);
        if (to - from > 2 * ZOOM_NANOS) {
            long middle = from + (to - from) / 2;
            picture("In the middle of it", timeline, middle, middle + ZOOM_NANOS);
        }
        out.println(Timeline.LEGEND);
        out.println();
    }

    private void picture(String title, Timeline timeline, long from, long to) {
        double millis = (to - from) / NANOS_PER_MILLI;
        out.printf(Locale.ROOT, "%s: %.0f ms, %.2f ms a column%n", title, millis, millis / COLUMNS);
        timeline.rows(from, to, COLUMNS).forEach(out::println);
        out.println();
    }

    void outcome(Comparison comparison, int threads, int operations) {
        double serial = times("serial  ", comparison.serialSeconds());
        double parallel = times("parallel", comparison.parallelSeconds());
        out.printf(Locale.ROOT, "speed-up  %.2f with %d %s, %,d operations%n", serial / parallel, threads,
                threads == 1 ? "worker" : "workers", operations);
        Result result = comparison.result();
        out.printf(Locale.ROOT, "result    %s: archive of %,d bytes, %,d hashes, index of %,d names%n",
                comparison.isSame() ? "the same, byte for byte" : "DIFFERENT, which is a defect", result.archiveBytes(),
                result.groups(), result.names());
        out.flush();
    }

    private double times(String program, List<Double> seconds) {
        double median = median(seconds);
        out.printf(Locale.ROOT, "%s  %.3f s, median of %d; %.3f to %.3f s%n", program, median, seconds.size(),
                Collections.min(seconds),
                Collections.max(seconds));
        return median;
    }

    static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int upper = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(upper) : (sorted.get(upper - 1) + sorted.get(upper)) / 2;
    }
}
