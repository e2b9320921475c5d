package io.seriatim.graph.json;

import io.seriatim.tensor.FileFormatException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Values with names. Files of models consist of many objects with few members, hence two short arrays, not a map. */
public final class JsonObject extends JsonValue {
    private static final int SEARCHED_IN_ORDER = 8;

    private final String[] names;
    private final JsonValue[] values;
    private @Nullable Map<String, JsonValue> index;

    JsonObject(JsonSource source, int offset, String[] names, JsonValue[] values) {
        super(source, offset);
        this.names = names;
        this.values = values;
    }

    /**
     * The names of its members.
     *
     * @return in the order of the file
     */
    public List<String> names() {
        return List.of(names);
    }

    /**
     * A member that may be missing.
     *
     * @param name
     *            its name
     * @return null if there is none
     */
    public @Nullable JsonValue find(String name) {
        if (names.length > SEARCHED_IN_ORDER) {
            return indexed().get(name);
        }
        for (int i = 0; i < names.length; i++) {
            if (names[i].equals(name)) {
                return values[i];
            }
        }
        return null;
    }

    private Map<String, JsonValue> indexed() {
        Map<String, JsonValue> known = index;
        if (known == null) {
            known = HashMap.newHashMap(names.length);
            for (int i = 0; i < names.length; i++) {
                known.put(names[i], values[i]);
            }
            index = known;
        }
        return known;
    }

    /**
     * A member.
     *
     * @param name
     *            its name
     * @return its value
     * @throws FileFormatException
     *             if there is none
     */
    public JsonValue get(String name) throws FileFormatException {
        JsonValue found = find(name);
        if (found == null) {
            throw error("this object has a member \"" + name + "\", but there are only "
                    + List.of(names).stream().limit(SEARCHED_IN_ORDER).map(JsonSource::shown).toList());
        }
        return found;
    }

    /** The name of a member that occurs more than once, or null. */
    @Nullable
    String duplicate() {
        if (names.length > SEARCHED_IN_ORDER) {
            Map<String, Integer> seen = HashMap.newHashMap(names.length);
            for (int i = 0; i < names.length; i++) {
                if (seen.put(names[i], i) != null) {
                    return names[i];
                }
            }
            return null;
        }
        for (int i = 1; i < names.length; i++) {
            for (int j = 0; j < i; j++) {
                if (names[i].equals(names[j])) {
                    return names[i];
                }
            }
        }
        return null;
    }

    @Override
    String kind() {
        return "an object";
    }

    @Override
    public JsonObject object() {
        return this;
    }
}
