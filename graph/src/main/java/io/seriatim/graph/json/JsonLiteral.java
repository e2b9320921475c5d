package io.seriatim.graph.json;

import io.seriatim.tensor.FileFormatException;
import org.jspecify.annotations.Nullable;

/** True, false or null. */
public final class JsonLiteral extends JsonValue {
    private final @Nullable Boolean value;

    JsonLiteral(JsonSource source, int offset, @Nullable Boolean value) {
        super(source, offset);
        this.value = value;
    }

    @Override
    String kind() {
        return String.valueOf(value);
    }

    @Override
    public boolean bool() throws FileFormatException {
        return value == null ? super.bool() : value;
    }

    @Override
    public boolean isNull() {
        return value == null;
    }
}
