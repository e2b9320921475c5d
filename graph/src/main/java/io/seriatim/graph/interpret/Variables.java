package io.seriatim.graph.interpret;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The values of one environment: the variables of a layout by index, others by name. */
final class Variables {
    private static final @Nullable Object[] NONE = {};

    private final @Nullable StepLayout layout;
    private final @Nullable Object[] slots;
    /** By name, an array with the value, which is null after the variable was removed. */
    private final Map<String, @Nullable Object[]> others = new HashMap<>();

    /** Where a variable's value is as long as the environment is used. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Place(@Nullable Object[] array, int index) {
        @Nullable
        Object get() {
            return array[index];
        }

        void set(Object value) {
            array[index] = value;
        }
    }

    Variables(@Nullable StepLayout layout) {
        this.layout = layout;
        this.slots = layout == null ? NONE : new Object[layout.size()];
    }

    @Nullable
    StepLayout layout() {
        return layout;
    }

    private int index(String name) {
        return layout == null ? -1 : layout.index(name);
    }

    /** Returns a value of the layout; null if there is none. */
    @Nullable
    Object get(int index) {
        return slots[index];
    }

    void put(int index, Object value) {
        slots[index] = value;
    }

    @Nullable
    Object get(String name) {
        int index = index(name);
        if (index >= 0) {
            return slots[index];
        }
        @Nullable
        Object @Nullable [] there = others.get(name);
        return there == null ? null : there[0];
    }

    void put(String name, Object value) {
        place(name).set(value);
    }

    void remove(String name) {
        int index = index(name);
        if (index >= 0) {
            slots[index] = null;
            return;
        }
        @Nullable
        Object @Nullable [] there = others.get(name);
        if (there != null) {
            there[0] = null;
        }
    }

    Place place(String name) {
        int index = index(name);
        return index >= 0 ? new Place(slots, index) : new Place(others.computeIfAbsent(name, _ -> new Object[1]), 0);
    }

    void removeIf(Predicate<Object> condition) {
        removeIf(slots, condition);
        others.values().forEach(each -> removeIf(each, condition));
    }

    private static void removeIf(@Nullable Object[] values, Predicate<Object> condition) {
        for (int i = 0; i < values.length; i++) {
            Object value = values[i];
            if (value != null && condition.test(value)) {
                values[i] = null;
            }
        }
    }

    /** Returns the names of the variables that have a value. */
    Set<String> names() {
        Set<String> names = new TreeSet<>();
        if (layout != null) {
            layout.names().stream().filter(name -> get(name) != null).forEach(names::add);
        }
        others.forEach((name, value) -> {
            if (Objects.nonNull(value[0])) {
                names.add(name);
            }
        });
        return names;
    }
}
