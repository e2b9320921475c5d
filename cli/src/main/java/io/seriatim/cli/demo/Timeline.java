package io.seriatim.cli.demo;

import io.seriatim.engine.Recorder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Draws what each worker did: a row a thread, a column a stretch of time, a letter for the step that took most of it. */
final class Timeline implements Recorder {
    private static final char IDLE = '.';

    private final Queue<OpRecord> records = new ConcurrentLinkedQueue<>();

    @Override
    public void ended(OpRecord op) {
        records.add(op);
    }

    /** Forgets what was recorded. */
    void clear() {
        records.clear();
    }

    int operations() {
        return records.size();
    }

    /** The longest operations, which are most of the picture, get the capitals. */
    private static char letter(String operation) {
        return switch (operation) {
            case "compress", "read", "index", "hash" -> Character.toUpperCase(operation.charAt(0));
            default -> operation.charAt(0);
        };
    }

    /**
     * The picture.
     *
     * @param columns
     *            its width, in characters
     */
    List<String> lines(int columns) {
        List<String> lines = new ArrayList<>();
        if (records.isEmpty()) {
            return lines;
        }
        long from = records.stream().mapToLong(OpRecord::started).min().orElseThrow();
        long to = records.stream().mapToLong(OpRecord::ended).max().orElseThrow();
        double width = Math.max(1, (to - from) / (double) columns);
        Map<String, List<OpRecord>> byThread = new TreeMap<>();
        records.forEach(op -> byThread.computeIfAbsent(op.thread(), thread -> new ArrayList<>()).add(op));
        byThread.forEach((thread, ops) -> lines.add(String.format("%-16s %s", thread, row(ops, from, width, columns))));
        lines.add(String.format("%-16s %s%.1f ms; C compress, I index, H hash, R read, a append, l list, m merge, . idle", "",
                "whole width ", (to - from) / 1e6));
        return lines;
    }

    private static String row(List<OpRecord> ops, long from, double width, int columns) {
        double[] longest = new double[columns];
        char[] shown = new char[columns];
        java.util.Arrays.fill(shown, IDLE);
        for (OpRecord op : ops) {
            double begin = (op.started() - from) / width;
            double end = (op.ended() - from) / width;
            for (int c = (int) begin; c <= end && c < columns; c++) {
                double share = Math.min(end, c + 1.0) - Math.max(begin, c);
                if (share > longest[c]) {
                    longest[c] = share;
                    shown[c] = letter(op.name());
                }
            }
        }
        return new String(shown);
    }
}
