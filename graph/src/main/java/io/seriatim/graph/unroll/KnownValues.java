package io.seriatim.graph.unroll;

import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Computes the few whole numbers that count the iterations of loops, or follow from their number. */
final class KnownValues {
    private static final long MOST_ELEMENTS = 64;
    private static final Set<String> WITHOUT_INPUTS = Set.of("fill_constant", "assign_value");
    private static final Set<String> FOLDED = Set.of("assign", "cast", "concat", "elementwise_add", "elementwise_sub",
            "elementwise_mul", "elementwise_min", "elementwise_max", "elementwise_floordiv", "elementwise_mod", "equal",
            "not_equal", "less_than", "less_equal", "greater_than", "greater_equal", "logical_and", "logical_or",
            "logical_not", "logical_xor", "gather", "increment", "scale", "reshape2", "squeeze2", "unsqueeze2", "slice",
            "onnx_slice", "where");

    private final Interpreter interpreter;

    KnownValues(Interpreter interpreter) {
        this.interpreter = interpreter;
    }

    /** Whether the results of an operation may be known if its operands are. */
    static boolean isFolded(OpDesc op) {
        return FOLDED.contains(op.type()) || (WITHOUT_INPUTS.contains(op.type()) && op.inputNames().isEmpty()
                && size(op) <= MOST_ELEMENTS && op.attribute("dtype") instanceof Attribute.Int(int dtype)
                && isWhole(DataTypes.dtype(dtype)));
    }

    private static long size(OpDesc op) {
        long size = 1;
        long[] dims = switch (op.attribute("shape")) {
            case Attribute.Int64s(var longs) -> longs.stream().mapToLong(each -> each).toArray();
            case Attribute.Ints(var ints) -> ints.stream().mapToLong(each -> each).toArray();
            case null, default -> new long[]{MOST_ELEMENTS + 1};
        };
        for (long dim : dims) {
            size = dim < 0 || dim > MOST_ELEMENTS ? MOST_ELEMENTS + 1 : Math.min(size * dim, MOST_ELEMENTS + 1);
        }
        return size;
    }

    /**
     * The results of an operation, by name; null if one cannot be known.
     *
     * @param operands
     *            the values of all its inputs
     */
    @Nullable
    Map<String, Tensor> results(Block block, int index, Map<String, Tensor> operands) {
        BlockSession session = interpreter.session(block, Map.of(), 0, inner -> {
            throw new IllegalStateException("Arithmetic of whole numbers runs no blocks, but runs " + inner.block());
        });
        operands.forEach(session::set);
        try {
            session.run(index);
        } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
            // It is an error of the runs that reach the operation.
            return null;
        }
        Map<String, Tensor> results = new HashMap<>();
        for (String name : block.ops().get(index).outputNames()) {
            if (name.equals(GradientRule.EMPTY)) {
                continue;
            }
            Object found = session.find(name);
            // What has the shape of an operand has no elements.
            if (!(found instanceof Tensor tensor) || tensor.shape().size() > MOST_ELEMENTS
                    || !isWhole(tensor.dtype())) {
                return null;
            }
            results.put(name, tensor);
        }
        return results;
    }

    private static boolean isWhole(DType dtype) {
        return dtype == DType.BOOL || dtype == DType.INT32 || dtype == DType.INT64;
    }
}
