package io.seriatim.graph.json;

import io.seriatim.tensor.FileFormatException;
import java.util.List;

/** Values in order. */
public final class JsonArray extends JsonValue {
    private final JsonValue[] values;

    JsonArray(JsonSource source, int offset, JsonValue[] values) {
        super(source, offset);
        this.values = values;
    }

    /**
     * Its elements.
     *
     * @return in order
     */
    public List<JsonValue> values() {
        return List.of(values);
    }

    /**
     * The number of elements.
     *
     * @return from 0
     */
    public int size() {
        return values.length;
    }

    /**
     * An element.
     *
     * @param position
     *            from 0
     * @return its value
     * @throws FileFormatException
     *             if there are fewer
     */
    public JsonValue get(int position) throws FileFormatException {
        if (position < 0 || position >= values.length) {
            throw error("this array has an element " + position + ", but there are only " + values.length);
        }
        return values[position];
    }

    @Override
    String kind() {
        return "an array";
    }

    @Override
    public JsonArray array() {
        return this;
    }
}
