package io.seriatim.graph.json;

import io.seriatim.tensor.FileFormatException;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/** A number: its characters, converted when somebody asks, so that nothing is rounded twice. */
public final class JsonNumber extends JsonValue {
    /** The longest number that is shown in messages and converted to a whole number by way of decimals. */
    private static final int LONGEST = 64;

    private final int end;

    JsonNumber(JsonSource source, int offset, int end) {
        super(source, offset);
        this.end = end;
    }

    @Override
    String kind() {
        int length = end - offset();
        return "the number " + (length <= LONGEST
                ? source().ascii(offset(), end)
                : source().ascii(offset(), offset() + LONGEST) + "… of " + length + " characters");
    }

    /** Whether it is written without fraction and exponent. */
    private boolean isPlain() {
        byte[] bytes = source().bytes();
        for (int i = offset(); i < end; i++) {
            if (bytes[i] == '.' || bytes[i] == 'e' || bytes[i] == 'E') {
                return false;
            }
        }
        return true;
    }

    @Override
    public long int64() throws FileFormatException {
        if (end - offset() <= LONGEST) {
            String text = source().ascii(offset(), end);
            try {
                return isPlain() ? Long.parseLong(text) : new BigDecimal(text).longValueExact();
            } catch (ArithmeticException | NumberFormatException e) {
                throw notWhole(e);
            }
        }
        throw notWhole(null);
    }

    private FileFormatException notWhole(@Nullable RuntimeException cause) {
        FileFormatException error = error("a whole number of 64 bits is expected here, but this is " + kind());
        if (cause != null) {
            error.initCause(cause);
        }
        return error;
    }

    @Override
    public double float64() throws FileFormatException {
        double value = Double.parseDouble(source().ascii(offset(), end));
        if (Double.isInfinite(value)) {
            throw error("a number is in the range of float64, but this is " + kind());
        }
        return value;
    }
}
