package io.seriatim.train.report;

import io.seriatim.executor.trace.Markup;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The drawing of the network. If it would make the page too large, a smaller one replaces it. */
final class GraphPart {
    private static final int MOST_CHARACTERS = 1_200_000;

    private GraphPart() {
    }

    static String of(Program main) {
        return of(main, MOST_CHARACTERS);
    }

    static String of(Program main, int most) {
        String count = Markup.count(operations(main).size()) + " operations";
        String whole = main.toSvg();
        if (whole.length() <= most) {
            return drawing(count + ": forward blue, backward orange, optimizer green.", whole);
        }
        Program forward = main.copyForTest();
        String part = forward.toSvg();
        if (part.length() <= most) {
            return drawing(
                    count + ", too many to draw; these are the " + Markup.count(operations(forward).size())
                            + " of the forward part.",
                    part);
        }
        return table(count + ", too many to draw; these are their types.", main);
    }

    private static List<OpDesc> operations(Program program) {
        return program.blocks().stream().map(Block::ops).flatMap(List::stream).toList();
    }

    private static String drawing(String text, String svg) {
        return """
                <section class="graph">
                <div class="hover"><output>%s</output><button class="in" type="button" hidden="hidden">Zoom in</button>\
                <button class="out" type="button" hidden="hidden">Zoom out</button>\
                <button class="fit" type="button" hidden="hidden">Fit</button>\
                <button class="whole" type="button" hidden="hidden">Full size</button></div>
                <div class="canvas" tabindex="0">%s</div>
                </section>
                """.formatted(Markup.text(text), legal(svg));
    }

    /** Removes characters that XML cannot represent, which names of variables may contain. */
    private static String legal(String markup) {
        return markup.codePoints().map(c -> Markup.isLegal(c) ? c : 0xFFFD)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    }

    private static String table(String text, Program main) {
        Map<String, Long> types = operations(main).stream()
                .collect(Collectors.groupingBy(OpDesc::type, TreeMap::new, Collectors.counting()));
        StringBuilder part = new StringBuilder("<section>\n<p>").append(Markup.text(text))
                .append("</p>\n<table><thead><tr><th class=\"l\">Type</th><th>Operations</th></tr></thead><tbody>\n");
        types.entrySet().stream().sorted(Comparator.comparingLong((Map.Entry<String, Long> each) -> -each.getValue()))
                .forEach(each -> part.append("<tr><td class=\"l name\">").append(Markup.text(each.getKey()))
                        .append("</td><td>")
                        .append(Markup.count(each.getValue())).append("</td></tr>\n"));
        return part.append("</tbody></table>\n</section>\n").toString();
    }
}
