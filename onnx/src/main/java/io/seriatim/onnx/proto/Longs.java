package io.seriatim.onnx.proto;

import java.util.Arrays;
import java.util.Objects;

/** A list of numbers that grows while a file is read. */
public final class Longs {
    private long[] values = new long[4];
    private int size;

    void add(long value) {
        if (size == values.length) {
            values = Arrays.copyOf(values, size * 2);
        }
        values[size++] = value;
    }

    /** The number of numbers. */
    public int size() {
        return size;
    }

    /** A number. */
    public long get(int index) {
        return values[Objects.checkIndex(index, size)];
    }

    /** All numbers. */
    public long[] toArray() {
        return Arrays.copyOf(values, size);
    }
}
