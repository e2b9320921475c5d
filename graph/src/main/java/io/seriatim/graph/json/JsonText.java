package io.seriatim.graph.json;

/** A text. */
public final class JsonText extends JsonValue {
    private final String text;

    JsonText(JsonSource source, int offset, String text) {
        super(source, offset);
        this.text = text;
    }

    @Override
    String kind() {
        return "a text";
    }

    @Override
    public String text() {
        return text;
    }
}
