package io.seriatim.executor;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.MemoryPlan;
import io.seriatim.executor.schedule.Streams;
import io.seriatim.graph.util.LayeredEdge;
import io.seriatim.graph.util.Printable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Draws a plan: the graph of its tasks in layers, and the allocations in each arena over the order of tasks. */
final class PlanSvg {
    private static final int MOST_TASKS = 400;
    private static final int COLUMNS = 10;
    private static final int WIDTH = 170;
    private static final int HEIGHT = 26;
    private static final int GAP_X = 18;
    private static final int GAP_Y = 30;
    private static final int BEND = GAP_Y / 3;
    private static final LayeredEdge EDGES = new LayeredEdge(WIDTH + GAP_X, GAP_X, GAP_Y, BEND);
    private static final int LEFT = 14;
    private static final int COLORS = 6;
    private static final int ARENA_HEIGHT = 260;
    private static final int ARENA_WIDTH = 860;
    private static final int LETTER = 7;
    private static final String STYLE =
            """
                    <style>
                    .back{fill:#fff} text{fill:#222} .note{fill:#555} .frame{fill:none;stroke:#999}
                    .edge{fill:none;stroke:#999} .stream{stroke:#ddd} .event{stroke:#c2410c;stroke-dasharray:6 3} .memory{stroke:#7c3aed;stroke-dasharray:1 3;stroke-width:1.5}
                    .box{stroke:#666} .interpreted{stroke-dasharray:4 2}
                    .c0{fill:#dbe9ff} .c1{fill:#e7f6df} .c2{fill:#fff1d6} .c3{fill:#f3e1ff} .c4{fill:#d7f4f1} .c5{fill:#ffe0e0}
                    @media (prefers-color-scheme: dark){
                    .back{fill:#16181d} text{fill:#e6e6e6} .note{fill:#a8a8a8} .frame{stroke:#777}
                    .edge{stroke:#777} .stream{stroke:#3a3a3a} .event{stroke:#fb923c} .memory{stroke:#a78bfa}
                    .box{stroke:#8a8a8a}
                    .c0{fill:#24395c} .c1{fill:#2b4a24} .c2{fill:#574319} .c3{fill:#46295c} .c4{fill:#17494a} .c5{fill:#5c2a2a}
                    }
                    </style>
                    """;

    private final PlanView view;
    private final CompiledPlan plan;
    private final int tasks;
    private final StringBuilder lines = new StringBuilder();
    private final StringBuilder boxes = new StringBuilder();
    private int bottom = LEFT;
    private int right = LEFT + ARENA_WIDTH;

    PlanSvg(PlanView view) {
        this.view = view;
        this.plan = view.plan();
        this.tasks = Math.min(MOST_TASKS, plan.tasks().size());
    }

    String svg() {
        head();
        layers();
        plan.memory().arenas().forEach(this::arena);
        return String.format(Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\" viewBox=\"0 0 %1$d %2$d\""
                        + " font-family=\"Helvetica, sans-serif\" font-size=\"11\">%n",
                right + LEFT, bottom + LEFT) + STYLE + "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n" + lines
                + boxes
                + "</svg>\n";
    }

    private void head() {
        int all = plan.tasks().size();
        note(tasks == all
                ? "Tasks: " + all + ", each below its dependencies"
                : "Tasks: the first " + tasks + " of " + all + ", each below its dependencies");
        int x = LEFT;
        List<String> lanes = new ArrayList<>();
        if (Arrays.stream(plan.streams().stream()).anyMatch(stream -> stream < 0)) {
            lanes.add("host");
        }
        plan.streams().streams().forEach(key -> lanes.add(key.toString()));
        for (String lane : lanes) {
            int stream = plan.streams().streams().stream().map(Streams.Key::toString).toList().indexOf(lane);
            boxes.append(
                    String.format(Locale.ROOT, "<rect class=\"box %s\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/>",
                            color(stream), x,
                            bottom + 4));
            text("", x + 17, bottom + 14, lane);
            x += 30 + LETTER * lane.length();
        }
        x = legend(x, "edge", "must come before");
        if (!plan.streams().isHostOnly()) {
            x = legend(x, "edge stream", "same stream");
            x = legend(x, "edge event", "event");
        }
        right = Math.max(right, legend(x, "edge memory", "shares memory"));
        bottom += 30;
    }

    private int legend(int x, String style, String what) {
        lines.append(String.format(Locale.ROOT, "<path class=\"%s\" d=\"M%d %dh24\"/>%n", style, x, bottom + 10));
        text("", x + 30, bottom + 14, what);
        return x + 44 + LETTER * what.length();
    }

    private static String color(int stream) {
        return "c" + (stream < 0 ? 0 : 1 + stream % (COLORS - 1));
    }

    private void note(String note) {
        text("note", LEFT, bottom + 12, note);
        bottom += 18;
    }

    private void layers() {
        int[] layer = new int[tasks];
        List<List<Integer>> layers = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            for (int before : plan.before()[i]) {
                layer[i] = Math.max(layer[i], layer[before] + 1);
            }
            while (layers.size() <= layer[i]) {
                layers.add(new ArrayList<>());
            }
            layers.get(layer[i]).add(i);
        }
        int[] x = new int[tasks];
        int[] y = new int[tasks];
        for (List<Integer> all : layers) {
            for (int i = 0; i < all.size(); i++) {
                x[all.get(i)] = LEFT + i % COLUMNS * (WIDTH + GAP_X);
                y[all.get(i)] = bottom + i / COLUMNS * (HEIGHT + BEND);
            }
            bottom += (all.size() - 1) / COLUMNS * (HEIGHT + BEND) + HEIGHT + GAP_Y;
        }
        for (int i = 0; i < tasks; i++) {
            for (PlanView.Edge edge : view.edges(i)) {
                edge(edge, i, x, y);
            }
            box(i, x[i], y[i]);
        }
    }

    private void edge(PlanView.Edge edge, int to, int[] x, int[] y) {
        int fromX = x[edge.from()] + WIDTH / 2;
        int fromY = y[edge.from()] + HEIGHT;
        int toX = x[to] + WIDTH / 2;
        String style = edge.reason() == PlanView.Reason.MEMORY
                ? " memory"
                : edge.event() ? " event" : edge.reason() == PlanView.Reason.STREAM ? " stream" : "";
        lines.append(
                String.format(Locale.ROOT,
                        "<path class=\"edge%s\" d=\"%s\"><title>%s</title></path>%n", style,
                        EDGES.path(fromX, fromY, toX, y[to], edge.from()),
                        escaped(edge.from() + " before " + to + ": " + edge.reason().name().toLowerCase(Locale.ROOT)
                                + (edge.event() ? ", event" : ""))));
    }

    private void box(int index, int x, int y) {
        Task task = plan.tasks().get(index);
        right = Math.max(right, x + WIDTH + GAP_X);
        String details = index + " " + Printable.of(task.name()) + "\non " + view.lane(index) + "\n"
                + view.kernels(task) + "\nreads "
                + labels(task.reads())
                + "\nwrites " + labels(task.writes());
        boxes.append(String.format(Locale.ROOT,
                "<g><title>%s</title><rect class=\"box %s%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>",
                escaped(details), color(plan.streams().stream()[index]),
                task instanceof Task.Interpreted ? " interpreted" : "", x, y,
                WIDTH,
                HEIGHT));
        boxes.append(String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>%n",
                x + WIDTH / 2,
                y + HEIGHT / 2 + 4, escaped(shortened(index + " " + Printable.of(task.name()), WIDTH))));
    }

    private String labels(int[] values) {
        return Arrays.stream(values).mapToObj(value -> Printable.of(plan.values().name(value)))
                .collect(Collectors.joining(", "));
    }

    /** Draws an arena: the x axis is the order of tasks, the y axis the offset in the arena. */
    private void arena(Place place, long bytes) {
        if (bytes == 0) {
            return;
        }
        note(String.format(Locale.ROOT, "Arena of %s: %,d bytes upwards, tasks 0 to %,d to the right", place, bytes,
                tasks - 1));
        boxes.append(String.format(Locale.ROOT,
                "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>%n", LEFT, bottom,
                ARENA_WIDTH,
                ARENA_HEIGHT));
        MemoryPlan memory = plan.memory();
        for (int value : view.memories()) {
            if (memory.offsets()[value] >= 0 && place.equals(view.place(value))) {
                lies(bytes, memory.offsets()[value], view.bytes(value), view.lifetimes().first()[value],
                        view.lifetimes().last(value),
                        Printable.of(plan.values().name(value)), value);
            }
        }
        for (int i = 0; i < tasks; i++) {
            if (plan.tasks().get(i) instanceof Task.Compute compute && compute.place().equals(place)) {
                for (int j = 0; j < memory.temporaries()[i].length; j++) {
                    lies(bytes, memory.temporaries()[i][j], compute.temporaries().get(j).bytes(), i, i,
                            "temporary of " + compute.name(),
                            i);
                }
            }
        }
        bottom += ARENA_HEIGHT + 20;
    }

    private void lies(long arena, long offset, long bytes, int first, int last, String name, int number) {
        if (first >= tasks) {
            return;
        }
        double step = (double) ARENA_WIDTH / tasks;
        double scale = (double) ARENA_HEIGHT / arena;
        double x = LEFT + first * step;
        double width = (Math.min(last, tasks - 1) - first + 1) * step;
        double height = Math.max(1, bytes * scale);
        double y = bottom + ARENA_HEIGHT - offset * scale - height;
        String span = first == last ? "task " + first : "tasks " + first + " to " + last;
        String details = String.format(Locale.ROOT, "%s%n%s%nbytes %,d to %,d", name, span, offset, offset + bytes);
        boxes.append(String.format(Locale.ROOT,
                "<g><title>%s</title><rect class=\"box c%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                escaped(details),
                number % COLORS, x, y, width, height));
        if (width > 5 * LETTER && height >= 12) {
            boxes.append(String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>",
                    x + width / 2,
                    y + height / 2 + 4, escaped(shortened(name, (int) width))));
        }
        boxes.append("</g>\n");
    }

    private void text(String style, int x, int y, String text) {
        boxes.append(
                String.format(Locale.ROOT, "<text%s x=\"%d\" y=\"%d\">%s</text>%n",
                        style.isEmpty() ? "" : " class=\"" + style + "\"", x, y,
                        escaped(text)));
    }

    private static String shortened(String text, int width) {
        int most = Math.max(1, width / LETTER - 1);
        return text.length() <= most ? text : text.substring(0, most - 1) + "…";
    }

    private static String escaped(String text) {
        return Printable.lines(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"",
                "&quot;");
    }
}
