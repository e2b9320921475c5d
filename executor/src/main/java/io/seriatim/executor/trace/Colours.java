package io.seriatim.executor.trace;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Gives the dearest types of operations a colour each, and all others one. The page's style sheet says which. */
final class Colours {
    static final int OTHERS = 7;

    private final Map<String, Integer> numbers = new HashMap<>();

    /** The dearest type first. */
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

    /** By number. */
    List<String> named() {
        return numbers.entrySet().stream().sorted(Map.Entry.comparingByValue()).map(Map.Entry::getKey).toList();
    }
}
