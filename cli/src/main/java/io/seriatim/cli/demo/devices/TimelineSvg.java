package io.seriatim.cli.demo.devices;

import io.seriatim.engine.Recorder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Draws operations as bars on their lanes. Bars that overlap on one lane get rows of their own. */
final class TimelineSvg implements Recorder {
    private static final int WIDTH = 1400;
    private static final int LEFT = 110;
    private static final int ROW = 22;
    private static final int NARROWEST_NAME = 40;
    private static final double CHARACTER = 6.2;

    private final Queue<OpRecord> records = new ConcurrentLinkedQueue<>();

    @Override
    public void ended(OpRecord op) {
        records.add(op);
    }

    int operations() {
        return records.size();
    }

    /** Returns the fraction of the time of copies that overlaps with computation on any device, from 0 to 1. */
    double overlap() {
        List<OpRecord> computations = records.stream().filter(op -> !op.lane().place().equals("cpu") && !isCopy(op))
                .sorted(Comparator.comparingLong(OpRecord::started)).toList();
        long copies = 0;
        long hidden = 0;
        for (OpRecord copy : records) {
            if (isCopy(copy)) {
                copies += copy.ended() - copy.started();
                long covered = copy.started();
                for (OpRecord computation : computations) {
                    long from = Math.max(covered, computation.started());
                    long to = Math.min(copy.ended(), computation.ended());
                    if (to > from) {
                        hidden += to - from;
                        covered = to;
                    }
                }
            }
        }
        return copies == 0 ? 0 : hidden / (double) copies;
    }

    private static boolean isCopy(OpRecord op) {
        return op.name().startsWith("copy ");
    }

    /** Returns an SVG drawing. */
    String svg() {
        Map<String, List<List<OpRecord>>> lanes = lanes();
        long from = records.stream().mapToLong(OpRecord::started).min().orElse(0);
        long to = records.stream().mapToLong(OpRecord::ended).max().orElse(1);
        double scale = (WIDTH - LEFT - 10) / (double) Math.max(1, to - from);
        StringBuilder bars = new StringBuilder();
        int y = 30;
        for (Map.Entry<String, List<List<OpRecord>>> lane : lanes.entrySet()) {
            bars.append(String.format(Locale.ROOT, "<text x='8' y='%d'>%s</text>%n", y + 15, lane.getKey()));
            for (List<OpRecord> row : lane.getValue()) {
                for (OpRecord op : row) {
                    bar(bars, op, LEFT + (op.started() - from) * scale,
                            Math.max(0.6, (op.ended() - op.started()) * scale), y);
                }
                y += ROW;
            }
            bars.append(String.format(Locale.ROOT, "<line x1='0' x2='%d' y1='%d' y2='%d' stroke='#ccc'/>%n", WIDTH,
                    y + 2, y + 2));
            y += 6;
        }
        String title = String.format(Locale.ROOT,
                "%,d operations in %.1f ms; %.0f %% of the time of copies overlaps with computation",
                records.size(), (to - from) / 1e6, 100 * overlap());
        return String.format(Locale.ROOT, """
                <svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' font-size='12'>
                <rect width='100%%' height='100%%' fill='white'/>
                <text x='8' y='18'>%s</text>
                %s</svg>
                """, WIDTH, y + 10, title, bars);
    }

    private static void bar(StringBuilder out, OpRecord op, double x, double width, int y) {
        String colour = isCopy(op) ? "#e8a33d" : op.lane().place().equals("cpu") ? "#7aa974" : "#5b8dd6";
        out.append(String.format(Locale.ROOT,
                "<rect x='%.2f' y='%d' width='%.2f' height='%d' fill='%s' stroke='white' "
                        + "stroke-width='0.4'><title>%s, %.3f ms</title></rect>%n",
                x, y, width,
                ROW - 4, colour, escaped(op.name()), (op.ended() - op.started()) / 1e6));
        int fits = (int) ((width - 4) / CHARACTER);
        if (width >= NARROWEST_NAME && fits > 2) {
            String name = op.name().length() <= fits ? op.name() : op.name().substring(0, fits - 1) + "…";
            out.append(String.format(Locale.ROOT, "<text x='%.2f' y='%d' fill='white' font-size='11'>%s</text>%n",
                    x + 3, y + 13,
                    escaped(name)));
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&apos;");
    }

    /** Assigns the bars of each lane to rows in which no two bars overlap. */
    private Map<String, List<List<OpRecord>>> lanes() {
        Map<String, List<List<OpRecord>>> lanes = new TreeMap<>();
        records.stream().sorted(Comparator.comparingLong(OpRecord::started)).forEach(op -> {
            List<List<OpRecord>> rows = lanes.computeIfAbsent(op.lane().toString(), _ -> new ArrayList<>());
            List<OpRecord> free = rows.stream().filter(row -> row.getLast().ended() <= op.started()).findFirst()
                    .orElse(null);
            if (free == null) {
                free = new ArrayList<>();
                rows.add(free);
            }
            free.add(op);
        });
        return lanes;
    }
}
