package io.seriatim.graph.program;

import io.seriatim.graph.util.LayeredEdge;
import io.seriatim.graph.util.Printable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Draws the operations of a program in layers: each below all that it reads from. Blocks stand one below the other. */
final class ProgramSvg {
    private static final int WIDTH = 150;
    private static final int HEIGHT = 26;
    private static final int GAP_X = 18;
    private static final int GAP_Y = 34;
    private static final LayeredEdge EDGES = new LayeredEdge(WIDTH + GAP_X, GAP_X, GAP_Y, GAP_Y / 2);

    private final StringBuilder boxes = new StringBuilder();
    private final StringBuilder lines = new StringBuilder();
    private int bottom = 10;
    private int right = 400;

    private ProgramSvg() {
    }

    static String of(Program program) {
        ProgramSvg svg = new ProgramSvg();
        program.blocks().forEach(svg::block);
        return String.format(Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"Helvetica, "
                        + "sans-serif\" font-size=\"11\">%n"
                        + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n",
                svg.right + 20, svg.bottom + 20) + svg.lines + svg.boxes + "</svg>\n";
    }

    private void block(Block block) {
        text(10, bottom + 14,
                "block " + block.index()
                        + (block.forward() == Block.NONE ? "" : ", gradient of block " + block.forward()),
                "#555");
        int top = bottom + 24;
        Map<String, Integer> writer = new HashMap<>();
        int[] layer = new int[block.ops().size()];
        List<Integer> filled = new ArrayList<>();
        int[] x = new int[layer.length];
        for (int i = 0; i < layer.length; i++) {
            for (String name : block.ops().get(i).inputNames()) {
                Integer from = writer.get(name);
                layer[i] = from == null ? layer[i] : Math.max(layer[i], layer[from] + 1);
            }
            while (filled.size() <= layer[i]) {
                filled.add(0);
            }
            x[i] = filled.get(layer[i]);
            filled.set(layer[i], x[i] + 1);
            edges(block.ops().get(i), i, writer, layer, x, top);
            box(block.ops().get(i), x[i], layer[i], top);
            for (String name : block.ops().get(i).outputNames()) {
                writer.put(name, i);
            }
        }
        bottom = top + filled.size() * (HEIGHT + GAP_Y) + 10;
    }

    private void edges(OpDesc op, int index, Map<String, Integer> writer, int[] layer, int[] x, int top) {
        op.inputNames().stream().distinct().forEach(name -> {
            Integer from = writer.get(name);
            if (from != null) {
                int x1 = 10 + x[from] * (WIDTH + GAP_X) + WIDTH / 2;
                int y1 = top + layer[from] * (HEIGHT + GAP_Y) + HEIGHT;
                int x2 = 10 + x[index] * (WIDTH + GAP_X) + WIDTH / 2;
                int y2 = top + layer[index] * (HEIGHT + GAP_Y);
                lines.append(String.format(Locale.ROOT,
                        "<path d=\"%s\" fill=\"none\" stroke=\"#999\"><title>%s</title></path>%n",
                        EDGES.path(x1, y1, x2, y2, from), escaped(name)));
            }
        });
    }

    private void box(OpDesc op, int column, int row, int top) {
        int x = 10 + column * (WIDTH + GAP_X);
        int y = top + row * (HEIGHT + GAP_Y);
        right = Math.max(right, x + WIDTH);
        boolean known = OperationTypes.system().isKnown(op.type());
        String fill = !known
                ? "#ffd6d6"
                : Roles.isTraining(op) ? (Roles.of(op) & Roles.OPTIMIZE) != 0 ? "#e7f6df" : "#fff1d6" : "#dbe9ff";
        boxes.append(String.format(Locale.ROOT,
                "<g><title>%s</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" "
                        + "stroke=\"#666\"/>",
                escaped(op.toString()),
                x, y, WIDTH, HEIGHT, fill));
        String type = Printable.of(op.type());
        String label = type.length() > 22 ? type.substring(0, 21) + "…" : type;
        boxes.append(String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>%n",
                x + WIDTH / 2,
                y + HEIGHT / 2 + 4, escaped(known ? label : "? " + label)));
    }

    private void text(int x, int y, String text, String color) {
        boxes.append(String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>%n", x, y, color,
                escaped(text)));
    }

    private static String escaped(String text) {
        return Printable.of(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"",
                "&quot;");
    }
}
