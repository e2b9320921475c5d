package io.seriatim.graph;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The variables of a network that the user asks for, by names of the user's choice. */
public final class Outputs {
    private final Map<String, Value> values;

    private Outputs(Map<String, Value> values) {
        this.values = Collections.unmodifiableMap(values);
    }

    /**
     * One.
     *
     * @param name
     *            its name
     * @param value
     *            the variable
     * @return the outputs
     */
    public static Outputs of(String name, Value value) {
        return new Outputs(new LinkedHashMap<>()).and(name, value);
    }

    /**
     * Two.
     *
     * @param name1
     *            a name
     * @param value1
     *            its variable
     * @param name2
     *            a name
     * @param value2
     *            its variable
     * @return the outputs
     */
    public static Outputs of(String name1, Value value1, String name2, Value value2) {
        return of(name1, value1).and(name2, value2);
    }

    /**
     * Three.
     *
     * @param name1
     *            a name
     * @param value1
     *            its variable
     * @param name2
     *            a name
     * @param value2
     *            its variable
     * @param name3
     *            a name
     * @param value3
     *            its variable
     * @return the outputs
     */
    public static Outputs of(String name1, Value value1, String name2, Value value2, String name3, Value value3) {
        return of(name1, value1, name2, value2).and(name3, value3);
    }

    /**
     * None.
     *
     * @return no outputs
     */
    public static Outputs none() {
        return new Outputs(new LinkedHashMap<>());
    }

    /**
     * One more.
     *
     * @param name
     *            its name
     * @param value
     *            the variable
     * @return these and that one
     */
    public Outputs and(String name, Value value) {
        Map<String, Value> more = new LinkedHashMap<>(values);
        if (name == null || value == null) {
            throw new IllegalArgumentException("An output has a name and a variable, but is " + name + " = " + value);
        }
        if (more.put(name, value) != null) {
            throw new IllegalArgumentException("There is an output '" + name + "' already");
        }
        return new Outputs(more);
    }

    /**
     * All by name.
     *
     * @return in order
     */
    public Map<String, Value> values() {
        return values;
    }

    /**
     * One by name.
     *
     * @param name
     *            its name
     * @return the variable
     */
    public Value get(String name) {
        Value value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("There is no output '" + name + "'; there are " + values.keySet());
        }
        return value;
    }
}
