package io.seriatim.tensor.internal.ffi;

import java.util.Arrays;
import java.util.Locale;

/** The values of {@code dnnl_status_t}. */
public enum DnnlStatus {
    /** The function did what it was asked for. */
    SUCCESS(0),
    /** An allocation failed, or a limit of the library was reached. */
    OUT_OF_MEMORY(1),
    /** An argument is wrong by itself, or does not fit the others. */
    INVALID_ARGUMENTS(2),
    /** The library has no implementation for these arguments on this processor. */
    UNIMPLEMENTED(3),
    /** There is no other implementation after this one. */
    LAST_IMPL_REACHED(4),
    /** The primitive or the engine failed while it ran. */
    RUNTIME_ERROR(5),
    /** The object has nothing of what was queried. */
    NOT_REQUIRED(6),
    /** The graph is not valid. */
    INVALID_GRAPH(7),
    /** The operation of a graph is not valid. */
    INVALID_GRAPH_OP(8),
    /** The shape of a tensor in a graph is not valid. */
    INVALID_SHAPE(9),
    /** The type of a tensor in a graph is not valid. */
    INVALID_DATA_TYPE(10),
    /** A number that is not known here: the library is newer than this binding. */
    UNKNOWN(-1);

    private final int code;

    DnnlStatus(int code) {
        this.code = code;
    }

    static DnnlStatus of(int code) {
        return Arrays.stream(values()).filter(status -> status.code == code).findFirst().orElse(UNKNOWN);
    }

    /** The name as oneDNN's documentation writes it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
