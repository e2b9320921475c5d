package io.seriatim.cli.demo;

import io.seriatim.engine.Recorder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Draws the activity of each worker: one row per worker, one column per interval of time, and a letter for the kind of
 * step that took most of the interval.
 */
final class Timeline implements Recorder {
    /** Steps that only compute have capital letters, steps that change shared state small letters. */
    static final String LEGEND = "R read  H hash  C compress  I index   l list  a append  m merge   . idle";
    private static final String LETTERS = "RHCIlam.";
    private static final char IDLE = '.';

    private final Queue<OpRecord> records = new ConcurrentLinkedQueue<>();

    @Override
    public void ended(OpRecord op) {
        records.add(op);
    }

    int operations() {
        return records.size();
    }

    /** When the first operation started. */
    long from() {
        return records.stream().mapToLong(OpRecord::started).min().orElse(0);
    }

    /** When the last operation ended. */
    long to() {
        return records.stream().mapToLong(OpRecord::ended).max().orElse(0);
    }

    private static char letter(String operation) {
        return switch (operation) {
            case "read", "hash", "compress", "index" -> Character.toUpperCase(operation.charAt(0));
            default -> operation.charAt(0);
        };
    }

    /**
     * Draws an interval of time.
     *
     * @param columns
     *            the width of the picture, in characters, without the workers' names
     */
    List<String> rows(long from, long to, int columns) {
        Map<String, List<OpRecord>> byThread = records.stream().collect(Collectors.groupingBy(OpRecord::thread));
        int widest = byThread.keySet().stream().mapToInt(String::length).max().orElse(0);
        List<String> rows = new ArrayList<>();
        // Sorted by number, because 10 precedes 2 in the order of names.
        Comparator<Map.Entry<String, List<OpRecord>>> byWorker = Comparator
                .comparingInt(e -> e.getValue().getFirst().worker());
        byThread.entrySet().stream().sorted(byWorker.thenComparing(Map.Entry.comparingByKey())).forEach(e -> {
            String name = e.getKey();
            rows.add(name + " ".repeat(widest - name.length() + 2) + row(e.getValue(), from, to, columns));
        });
        return rows;
    }

    private static String row(List<OpRecord> ops, long from, long to, int columns) {
        double width = Math.max(1, (to - from) / (double) columns);
        double[][] shares = new double[columns][LETTERS.length()];
        for (OpRecord op : ops) {
            double begin = Math.max(0, (op.started() - from) / width);
            double end = Math.min(columns, (op.ended() - from) / width);
            int kind = LETTERS.indexOf(letter(op.name()));
            for (int c = (int) begin; c < end; c++) {
                shares[c][kind] += Math.min(end, c + 1.0) - Math.max(begin, c);
            }
        }
        return Arrays.stream(shares).map(most()).collect(Collectors.joining());
    }

    private static Function<double[], String> most() {
        int idle = LETTERS.indexOf(IDLE);
        return shares -> {
            shares[idle] = 1 - Arrays.stream(shares).sum();
            int most = 0;
            for (int kind = 1; kind < shares.length; kind++) {
                most = shares[kind] > shares[most] ? kind : most;
            }
            return LETTERS.substring(most, most + 1);
        };
    }
}
