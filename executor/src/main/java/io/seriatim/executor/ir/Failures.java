package io.seriatim.executor.ir;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.HeapMemory;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Builds the message for a failed operation: its name, the shapes of its inputs, the line that built it, and the cause.
 */
public final class Failures {
    /** The folders of PaddlePaddle's modules, and of the modules through which it calls the user's code. */
    private static final Pattern FRAMEWORK = Pattern.compile("[/\\\\](paddle|decorator)[/\\\\.]");
    private static final String BUILT = "; built at ";

    private Failures() {
    }

    /**
     * The failure of operations that run as one task.
     *
     * @param operations
     *            at least one; the message names the last one
     * @param shapes
     *            the type and shape of a value by its number
     * @param cause
     *            what was thrown
     */
    public static RunFailure of(List<Access> operations, Function<Integer, @Nullable String> shapes, Throwable cause) {
        Access access = operations.getLast();
        OpDesc op = access.op();
        StringJoiner inputs = new StringJoiner(", ");
        op.inputs().forEach((slot, names) -> names.forEach(name -> {
            int value = access.read(name);
            String shape = value < 0 ? null : shapes.apply(value);
            inputs.add(slot + "=" + name + (shape == null ? "" : " " + shape));
        }));
        List<String> stack = op.attribute("op_callstack") instanceof Attribute.Texts(List<String> lines)
                ? lines
                : List.of();
        String reason = reason(cause);
        String built = reason.contains(BUILT)
                ? ""
                : !stack.isEmpty()
                        ? BUILT + builtAt(stack)
                        : op.builtAt().isEmpty() ? "" : BUILT + String.join(", called at ", op.builtAt());
        return new RunFailure(op.type(),
                "Operation " + access.index() + " (" + op.type() + ", inputs " + inputs + ", outputs "
                        + op.outputNames() + ") failed: " + reason + built,
                cause, stack,
                operations.stream().flatMap(each -> each.op().inputNames().stream()).collect(Collectors.toSet()));
    }

    /**
     * Returns the innermost line of a Python call stack that is outside of the framework; in another format, the first
     * line.
     */
    private static String builtAt(List<String> stack) {
        List<String> frames = stack.stream().map(String::strip).filter(line -> line.startsWith("File \"")).toList();
        List<String> users = frames.stream().filter(frame -> !FRAMEWORK.matcher(frame).find()).toList();
        return users.isEmpty() ? frames.isEmpty() ? stack.getFirst().strip() : frames.getLast() : users.getLast();
    }

    private static String reason(Throwable cause) {
        String message = cause instanceof OutOfMemoryError e ? HeapMemory.advice(e) : cause.getMessage();
        return message != null
                ? message
                : cause instanceof InterruptedException ? "its thread was interrupted" : cause.toString();
    }

    /** Formats type and shape, for example {@code float32[2, 3]}. */
    public static String shape(TensorSpec spec) {
        return spec.dtype() + "" + spec.shape();
    }
}
