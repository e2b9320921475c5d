package io.seriatim.onnx.emit;

import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The writers of operations, by type. */
public final class OpWriters {
    /** Writes an operation as nodes. */
    @FunctionalInterface
    public interface OpWriter {
        /** Appends the nodes, and sets the results. */
        void write(WrittenOp op);
    }

    private final Map<String, OpWriter> writers = new HashMap<>();

    /** Creates a registry without writers. */
    public OpWriters() {
        // The map is filled by the families.
    }

    /** Adds the writer of a type. */
    public void add(String type, OpWriter writer) {
        if (writers.put(type, writer) != null) {
            throw new IllegalStateException("Operation " + type + " has two writers");
        }
    }

    /** The types that have a writer. */
    public SortedSet<String> types() {
        return new TreeSet<>(writers.keySet());
    }

    /** The writer of a type; null if there is none. */
    public @Nullable OpWriter find(String type) {
        return writers.get(type);
    }
}
