package io.seriatim.graph.op;

import java.util.ArrayList;
import java.util.List;

/**
 * A slot of an operation: a named place for its variables.
 *
 * @param name
 *            its name
 * @param list
 *            whether it takes several variables
 * @param optional
 *            whether it may be left out
 * @param intermediate
 *            whether only the gradient reads it
 */
public record Slot(String name, boolean list, boolean optional, boolean intermediate) {
    /** Reads slots in the notation of {@link Operation#define}. */
    static List<Slot> parse(String[] notations) {
        List<Slot> slots = new ArrayList<>();
        for (String notation : notations) {
            String name = notation.replaceAll("[*?~]+$", "");
            String marks = notation.substring(name.length());
            slots.add(new Slot(name, marks.contains("*"), marks.contains("?"), marks.contains("~")));
        }
        return slots;
    }

    @Override
    public String toString() {
        return name + (list ? "*" : "") + (optional ? "?" : "") + (intermediate ? "~" : "");
    }
}
