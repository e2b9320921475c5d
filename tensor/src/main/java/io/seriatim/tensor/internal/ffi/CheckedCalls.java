package io.seriatim.tensor.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Calls of oneDNN's functions by name. A status other than success becomes a {@link DnnlException} that names the
 * function and the arguments.
 */
@SuppressWarnings("restricted")
final class CheckedCalls {
    /** The names of {@code dnnl_data_type_t}, in its order. */
    private static final String[] TYPES = {"undefined", "f16", "bf16", "f32", "s32", "s8", "u8", "f64"};

    /** The function that asks primitive descriptors. */
    static final String QUERY = "dnnl_primitive_desc_query";

    private final SymbolLookup symbols;
    private final Map<String, MemorySegment> functions = new ConcurrentHashMap<>();

    CheckedCalls(SymbolLookup symbols) {
        this.symbols = symbols;
    }

    private MemorySegment function(String name) {
        return functions.computeIfAbsent(name, symbols::findOrThrow);
    }

    /** Calls a function that returns a status; not for the hot path. */
    DnnlStatus status(String name, @Nullable Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            return DnnlStatus.of((int) any(name, ValueLayout.JAVA_INT, arena, arguments));
        }
    }

    /** Calls a function that returns an int which is no status. */
    int integer(String name, @Nullable Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            return (int) any(name, ValueLayout.JAVA_INT, arena, arguments);
        }
    }

    /** Calls a function that returns a pointer or a size. */
    long pointer(String name, @Nullable Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            return any(name, ValueLayout.JAVA_LONG, arena, arguments);
        }
    }

    /** Calls any function. Arguments are handles or null, segments, arrays of longs, and numbers. */
    private long any(String name, ValueLayout result, Arena arena, @Nullable Object... arguments) {
        StringBuilder parameters = new StringBuilder(arguments.length);
        Object[] passed = new Object[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            passed[i] = switch (arguments[i]) {
                case null -> 0L;
                case Handle handle -> handle.address();
                case MemorySegment segment -> segment.address();
                case long[] values -> arena.allocateFrom(ValueLayout.JAVA_LONG, values).address();
                case Long number -> number;
                case Integer number -> number;
                case Float number -> number;
                default -> throw new IllegalArgumentException("no type of C for " + arguments[i]);
            };
            parameters.append(passed[i] instanceof Integer ? 'i' : passed[i] instanceof Float ? 'f' : 'p');
        }
        return Calls.any(function(name), result, parameters.toString(), passed);
    }

    /** Calls a function that returns a status, which must be success; not for the hot path. */
    void call(String name, @Nullable Object... arguments) {
        DnnlStatus status = status(name, arguments);
        require(status, () -> failure(name, status, arguments));
    }

    /** Throws unless a function succeeded. */
    static void require(DnnlStatus status, Supplier<DnnlException> failure) {
        if (status != DnnlStatus.SUCCESS) {
            throw failure.get();
        }
    }

    /** The exception for a failed call. */
    DnnlException failure(String name, DnnlStatus status, @Nullable Object... arguments) {
        return new DnnlException(name, status,
                Arrays.stream(arguments).map(this::text).collect(Collectors.joining(", ", "(", ")")));
    }

    private String text(@Nullable Object argument) {
        return switch (argument) {
            case null -> "none";
            case MemoryDescriptor descriptor -> text(descriptor);
            case Dnnl.NativeEngine _ -> "cpu";
            case Handle handle -> handle.getClass().getSimpleName();
            case MemorySegment _ -> "out";
            case long[] values -> Arrays.toString(values);
            default -> argument.toString();
        };
    }

    /** The type, the dimensions and the strides. */
    private String text(MemoryDescriptor descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            int type = queried(descriptor, DnnlConstants.QUERY_DATA_TYPE, out) ? out.get(ValueLayout.JAVA_INT, 0) : -1;
            if (type < 0 || type >= TYPES.length || !queried(descriptor, DnnlConstants.QUERY_DIMENSIONS, out)) {
                return "invalid memory descriptor";
            }
            long bytes = (long) out.get(ValueLayout.JAVA_INT, 0) * Long.BYTES;
            return TYPES[type] + " " + text(descriptor, DnnlConstants.QUERY_LENGTHS, bytes, out)
                    + " strides " + text(descriptor, DnnlConstants.QUERY_STRIDES, bytes, out);
        }
    }

    private String text(MemoryDescriptor descriptor, int query, long bytes, MemorySegment out) {
        return queried(descriptor, query, out)
                ? Arrays.toString(MemorySegment.ofAddress(out.get(ValueLayout.JAVA_LONG, 0)).reinterpret(bytes)
                        .toArray(ValueLayout.JAVA_LONG))
                : "chosen by the library";
    }

    private boolean queried(MemoryDescriptor descriptor, int query, MemorySegment out) {
        return status("dnnl_memory_desc_query", descriptor, query, out) == DnnlStatus.SUCCESS;
    }

    /** Returns a number that a memory descriptor has; {@code out} is of eight bytes. */
    int integer(MemoryDescriptor descriptor, int query, MemorySegment out) {
        call("dnnl_memory_desc_query", descriptor, query, out);
        return out.get(ValueLayout.JAVA_INT, 0);
    }

    /** Returns numbers that a memory descriptor has; {@code out} is of eight bytes. */
    MemorySegment numbers(MemoryDescriptor descriptor, int query, long count, MemorySegment out) {
        call("dnnl_memory_desc_query", descriptor, query, out);
        return MemorySegment.ofAddress(out.get(ValueLayout.JAVA_LONG, 0)).reinterpret(count * Long.BYTES);
    }

    /** Returns what a primitive descriptor has; 0 if it has none. */
    long queried(PrimitiveDescriptor primitive, int query, int index) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            DnnlStatus status = status(QUERY, primitive, query, index, out);
            return switch (status) {
                case SUCCESS -> out.get(ValueLayout.JAVA_LONG, 0);
                case NOT_REQUIRED, UNIMPLEMENTED -> 0;
                default -> throw failure(QUERY, status, primitive, query, index);
            };
        }
    }

    /** Returns the name of the implementation that was chosen. */
    String implementation(PrimitiveDescriptor primitive) {
        long text = queried(primitive, DnnlConstants.QUERY_IMPL_INFO, 0);
        return text == 0 ? "" : MemorySegment.ofAddress(text).reinterpret(256).getString(0);
    }

    /** Changes a primitive descriptor to the next implementation; returns false if there is no other one. */
    boolean nextImplementation(PrimitiveDescriptor primitive) {
        DnnlStatus status = status("dnnl_primitive_desc_next_impl", primitive);
        if (status != DnnlStatus.SUCCESS && status != DnnlStatus.LAST_IMPL_REACHED) {
            throw failure("dnnl_primitive_desc_next_impl", status, primitive);
        }
        return status == DnnlStatus.SUCCESS;
    }

    /** Creates an object: the function writes its address to its first parameter. */
    long create(String name, @Nullable Object... arguments) {
        Created created = attempt(name, arguments);
        require(created.status(), () -> failure(name, created.status(), arguments));
        return created.address();
    }

    /** The status of a creation, and the address of what was created. */
    private record Created(DnnlStatus status, long address) {
    }

    private Created attempt(String name, @Nullable Object... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            @Nullable
            Object[] all = new Object[arguments.length + 1];
            all[0] = out;
            System.arraycopy(arguments, 0, all, 1, arguments.length);
            DnnlStatus status = status(name, all);
            return new Created(status, out.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    /** Describes a primitive of the engine; null if the library has no implementation. */
    @Nullable
    PrimitiveDescriptor tryDescribe(String name, @Nullable Object... arguments) {
        Created created = attempt(name, arguments);
        if (created.status() == DnnlStatus.UNIMPLEMENTED) {
            return null;
        }
        require(created.status(), () -> failure(name, created.status(), arguments));
        return new PrimitiveDescriptor(created.address());
    }
}
