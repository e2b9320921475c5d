package io.seriatim.executor.trace;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Assigns a colour number to each of the most expensive operation types, and one common number to all other types. The
 * style sheet of the page maps numbers to colours.
 */
final class Colours {
    static final int OTHERS = 7;

    private final Map<String, Integer> numbers = new HashMap<>();

    /** Creates the assignment from costs that are sorted in descending order. */
    Colours(List<Cost> types) {
        for (Cost cost : types) {
            if (numbers.size() < OTHERS) {
                numbers.putIfAbsent(cost.type(), numbers.size());
            }
        }
    }

    int of(String type) {
        return numbers.getOrDefault(type, OTHERS);
    }

    /** Returns the types that have a colour of their own, in order of their numbers. */
    List<String> named() {
        return numbers.entrySet().stream().sorted(Map.Entry.comparingByValue()).map(Map.Entry::getKey).toList();
    }
}
