package io.seriatim.examples.architecture;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * A layered drawing (Sugiyama et al., 1981) of packages: each package is in a row above all packages that it imports,
 * within the box of its module. All arrows to one package share a line, which passes intermediate rows at dummy nodes.
 * Positions depend on the sources only, so the same sources give the same file.
 */
final class PackageDrawing {
    private static final int MOST_IN_ROW = 8;
    private static final int ORDER_SWEEPS = 40;
    private static final int PLACE_SWEEPS = 200;
    private static final int HEIGHT = 26;
    private static final int ROW_GAP = 30;
    private static final int MODULE_GAP = 34;
    private static final int MARGIN = 24;
    private static final int LETTER = 7;
    private static final int PADDING = 18;
    private static final int GAP = 14;
    private static final int LINE_GAP = 9;
    private static final int TITLE_LEFT = 104;
    private static final int WORDS = 18;
    private static final List<String> COLOURS = List.of("#1b6ca8", "#b3541e", "#2e7d32", "#7b3fa0", "#a61c3c",
            "#00796b", "#5d4037", "#455a64", "#827717", "#37474f");

    /** A package, or a dummy node where a line to a package passes a row. */
    private static final class Node {
        final String target;
        final boolean isPackage;
        final int row;
        final double width;
        final List<Node> above = new ArrayList<>();
        final List<Node> below = new ArrayList<>();
        double x;

        Node(String target, boolean isPackage, int row) {
            this.target = target;
            this.isPackage = isPackage;
            this.row = row;
            width = isPackage ? target.length() * LETTER + PADDING : 0;
        }

        /** The minimum distance between the centres of neighbours. */
        double distance(Node right) {
            return (width + right.width) / 2 + (isPackage || right.isPackage ? GAP : LINE_GAP);
        }
    }

    /** The rows of a module, counted from the bottom of the drawing. */
    private record Band(String module, int firstRow, int lastRow, String colour) {
    }

    private final PackageImports imports;
    private final Map<String, Set<String>> arrows;
    /** The imports that close a cycle, as text, because their arrows would point upwards. */
    private final List<String> upwards = new ArrayList<>();
    private final List<Band> bands = new ArrayList<>();
    private final Map<String, Integer> rowOf = new LinkedHashMap<>();
    private final Map<String, String> colourOf = new HashMap<>();
    private final List<List<Node>> rows = new ArrayList<>();

    private PackageDrawing(PackageImports imports) {
        this.imports = imports.withoutCycles();
        arrows = this.imports.reduced();
        imports.imports().forEach((from, targets) -> targets.stream()
                .filter(to -> !this.imports.imports().getOrDefault(from, Set.of()).contains(to))
                .forEach(to -> upwards.add(from + " → " + to)));
    }

    /** Draws packages; imports that close a cycle are listed at the end instead. */
    static String of(PackageImports imports) {
        PackageDrawing drawing = new PackageDrawing(imports);
        drawing.assignRows();
        drawing.makeNodes();
        drawing.order();
        drawing.place();
        return drawing.svg();
    }

    /** Assigns rows: a package is above the packages of its module that it imports; a row that is too long is split. */
    private void assignRows() {
        int next = 0;
        for (Map.Entry<String, List<String>> module : imports.modules().entrySet()) {
            if (module.getValue().isEmpty()) {
                continue;
            }
            Map<Integer, List<String>> layers = new TreeMap<>();
            Map<String, Integer> depths = new HashMap<>();
            for (String each : module.getValue()) {
                layers.computeIfAbsent(depth(each, module.getValue(), depths), _ -> new ArrayList<>()).add(each);
            }
            int first = next;
            for (List<String> layer : layers.values()) {
                int parts = (layer.size() + MOST_IN_ROW - 1) / MOST_IN_ROW;
                for (int i = 0; i < layer.size(); i++) {
                    rowOf.put(layer.get(i), next + i * parts / layer.size());
                }
                next += parts;
            }
            String colour = COLOURS.get(bands.size() % COLOURS.size());
            module.getValue().forEach(each -> colourOf.put(each, colour));
            bands.add(new Band(module.getKey(), first, next - 1, colour));
        }
        for (int i = 0; i < next; i++) {
            rows.add(new ArrayList<>());
        }
    }

    private int depth(String name, List<String> module, Map<String, Integer> depths) {
        Integer known = depths.get(name);
        if (known == null) {
            known = arrows.getOrDefault(name, Set.of()).stream().filter(module::contains)
                    .mapToInt(each -> depth(each, module, depths) + 1).max().orElse(0);
            depths.put(name, known);
        }
        return known;
    }

    private void makeNodes() {
        Map<String, Map<Integer, Node>> nodes = new HashMap<>();
        rowOf.forEach((name, row) -> node(nodes, name, row));
        arrows.forEach((from, targets) -> targets.forEach(to -> {
            Node upper = node(nodes, from, row(from));
            for (int row = row(from) - 1; row >= row(to); row--) {
                Node lower = node(nodes, to, row);
                if (!upper.below.contains(lower)) {
                    upper.below.add(lower);
                    lower.above.add(upper);
                }
                upper = lower;
            }
        }));
    }

    private int row(String name) {
        return Objects.requireNonNull(rowOf.get(name), name);
    }

    private Node node(Map<String, Map<Integer, Node>> nodes, String target, int row) {
        return nodes.computeIfAbsent(target, _ -> new HashMap<>()).computeIfAbsent(row, _ -> {
            Node node = new Node(target, row == row(target), row);
            rows.get(row).add(node);
            return node;
        });
    }

    /** Reduces crossings: sorts each row by the mean positions of the neighbours, downwards and upwards in turn. */
    private void order() {
        rows.forEach(row -> row.sort(Comparator.comparing(node -> node.target)));
        rows.forEach(PackageDrawing::number);
        for (int sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
            boolean down = sweep % 2 == 0;
            for (int i = 0; i < rows.size(); i++) {
                List<Node> row = rows.get(down ? rows.size() - 1 - i : i);
                Map<Node, Double> means = new HashMap<>();
                row.forEach(node -> means.put(node, mean(down ? node.above : node.below, node.x)));
                row.sort(Comparator.comparing(means::get));
                number(row);
            }
        }
    }

    /** Positions are compared as fractions of the row. */
    private static void number(List<Node> row) {
        for (int i = 0; i < row.size(); i++) {
            row.get(i).x = (i + 0.5) / row.size();
        }
    }

    private static double mean(List<Node> nodes, double otherwise) {
        return nodes.stream().mapToDouble(node -> node.x).average().orElse(otherwise);
    }

    /** Moves each node as near to its neighbours as the order of its row permits. */
    private void place() {
        for (List<Node> row : rows) {
            double x = 0;
            for (int i = 0; i < row.size(); i++) {
                x += i == 0 ? 0 : row.get(i - 1).distance(row.get(i));
                row.get(i).x = x;
            }
            double half = x / 2;
            row.forEach(node -> node.x -= half);
        }
        for (int sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
            boolean down = sweep % 2 == 0;
            for (int i = 0; i < rows.size(); i++) {
                settle(rows.get(down ? rows.size() - 1 - i : i));
            }
        }
        double left = rows.stream().flatMap(List::stream).mapToDouble(node -> node.x - node.width / 2).min().orElse(0);
        rows.forEach(row -> row.forEach(node -> node.x += TITLE_LEFT + MARGIN - left));
    }

    /**
     * Moves each node to the mean of its neighbours, subject to the minimum distances in the row, with the least sum of
     * squared deviations (isotonic regression by pooling adjacent violators).
     */
    private static void settle(List<Node> row) {
        int n = row.size();
        double[] offset = new double[n];
        double[] mean = new double[n];
        int[] size = new int[n];
        int pools = 0;
        for (int i = 0; i < n; i++) {
            Node node = row.get(i);
            offset[i] = i == 0 ? 0 : offset[i - 1] + row.get(i - 1).distance(node);
            mean[pools] = (mean(node.above, node.x) + mean(node.below, node.x)) / 2 - offset[i];
            size[pools++] = 1;
            while (pools > 1 && mean[pools - 2] > mean[pools - 1]) {
                int both = size[pools - 2] + size[pools - 1];
                mean[pools - 2] = (mean[pools - 2] * size[pools - 2] + mean[pools - 1] * size[pools - 1]) / both;
                size[pools - 2] = both;
                pools--;
            }
        }
        int next = 0;
        for (int pool = 0; pool < pools; pool++) {
            for (int i = 0; i < size[pool]; i++) {
                row.get(next).x = mean[pool] + offset[next];
                next++;
            }
        }
    }

    private int top(int row) {
        int above = 0;
        for (Band band : bands) {
            if (band.firstRow > row) {
                above++;
            }
        }
        return MARGIN + ROW_GAP / 2 + (rows.size() - 1 - row) * (HEIGHT + ROW_GAP) + above * MODULE_GAP;
    }

    private static long rounded(double value) {
        return Math.round(value);
    }

    private String svg() {
        double right = rows.stream().flatMap(List::stream).mapToDouble(node -> node.x + node.width / 2).max().orElse(0);
        long width = rounded(right) + 2 * MARGIN;
        int below = top(0) + HEIGHT + ROW_GAP / 2;
        int height = below + upwards.size() * WORDS + MARGIN;
        List<String> lines = new ArrayList<>();
        lines.add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + width + " " + height + "\" width=\""
                + width + "\" height=\"" + height
                + "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\">");
        lines.add("<title>Imports between the packages of all modules</title>");
        lines.add("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
        for (Band band : bands) {
            int y = top(band.lastRow) - ROW_GAP / 2;
            int bottom = top(band.firstRow) + HEIGHT + ROW_GAP / 2;
            lines.add("<rect x=\"" + MARGIN / 2 + "\" y=\"" + y + "\" width=\"" + (width - MARGIN) + "\" height=\""
                    + (bottom - y) + "\" rx=\"8\" fill=\"" + band.colour + "\" fill-opacity=\"0.07\" stroke=\""
                    + band.colour + "\" stroke-opacity=\"0.5\"/>");
            lines.add("<text x=\"" + MARGIN + "\" y=\"" + (y + 22) + "\" font-size=\"15\" font-weight=\"bold\" fill=\""
                    + band.colour + "\">" + band.module + "</text>");
        }
        rows.forEach(row -> row.forEach(node -> node.below.forEach(lower -> lines.add(line(node, lower)))));
        rows.forEach(row -> row.forEach(node -> draw(node, lines)));
        for (int i = 0; i < upwards.size(); i++) {
            lines.add("<text x=\"" + MARGIN + "\" y=\"" + (below + (i + 1) * WORDS) + "\" fill=\"#b00020\">cycle: "
                    + upwards.get(i) + "</text>");
        }
        lines.add("</svg>");
        return String.join("\n", lines) + "\n";
    }

    /** Draws a line from the bottom of a node to the top of one in the next row. */
    private String line(Node from, Node to) {
        long x1 = rounded(from.x);
        long x2 = rounded(to.x);
        int y1 = from.isPackage ? top(from.row) + HEIGHT : top(from.row) + HEIGHT / 2;
        int y2 = to.isPackage ? top(to.row) - 5 : top(to.row) + HEIGHT / 2;
        int middle = (y1 + y2) / 2;
        return "<path d=\"M" + x1 + " " + y1 + "C" + x1 + " " + middle + " " + x2 + " " + middle + " " + x2 + " " + y2
                + "\" fill=\"none\" stroke=\"" + colourOf.get(to.target) + "\" stroke-opacity=\"0.75\"/>";
    }

    private void draw(Node node, List<String> lines) {
        if (!node.isPackage) {
            return;
        }
        String colour = colourOf.get(node.target);
        int y = top(node.row);
        long x = rounded(node.x);
        if (!node.above.isEmpty()) {
            lines.add("<path d=\"M" + (x - 4) + " " + (y - 7) + "L" + x + " " + y + "L" + (x + 4) + " " + (y - 7)
                    + "Z\" fill=\"" + colour + "\"/>");
        }
        lines.add("<rect x=\"" + rounded(node.x - node.width / 2) + "\" y=\"" + y + "\" width=\"" + rounded(node.width)
                + "\" height=\"" + HEIGHT + "\" rx=\"4\" fill=\"#ffffff\" stroke=\"" + colour + "\"/>");
        lines.add("<text x=\"" + x + "\" y=\"" + (y + 17) + "\" text-anchor=\"middle\" fill=\"#222222\">"
                + node.target + "</text>");
    }
}
