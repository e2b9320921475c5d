package io.seriatim.graph;

import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The size and cost of a program. The numbers are estimates from the shapes in the program, with unknown dimensions
 * replaced by a batch size.
 *
 * @param blocks
 *            how many blocks
 * @param operations
 *            how many operations of each type, by name
 * @param unknown
 *            types that this run-time does not know, in order
 * @param parameters
 *            how many trained variables; in programs that do not say which are trained, as those for inference, all
 *            tensors that outlive a run
 * @param parameterElements
 *            their elements; the largest number if there are as many or more, as for bytes
 * @param persistentBytes
 *            the memory of all variables that outlive a run
 * @param temporaryBytes
 *            the memory of all others together, as if none were reused
 * @param flops
 *            floating-point operations of a run: two for each multiplication and addition of products and convolutions,
 *            one for each element that another operation computes
 */
public record ProgramSummary(int blocks, Map<String, Integer> operations, List<String> unknown, int parameters,
        long parameterElements,
        long persistentBytes, long temporaryBytes, double flops) {
    /**
     * Of a program.
     *
     * @param program
     *            any
     * @param batch
     *            what stands for unknown dimensions, from 1
     * @return its summary
     */
    public static ProgramSummary of(Program program, long batch) {
        Map<String, Integer> types = new TreeMap<>();
        double flops = 0;
        long temporary = 0;
        long persistent = 0;
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                types.merge(op.type(), 1, Integer::sum);
                flops += flops(block, op, batch);
            }
            for (VarDesc desc : block.vars()) {
                long bytes = bytes(desc, batch);
                persistent = desc.isPersistable() ? sum(persistent, bytes) : persistent;
                temporary = desc.isPersistable() ? temporary : sum(temporary, bytes);
            }
        }
        List<VarDesc> parameters = program.parameters().isEmpty() ? program.persistables() : program.parameters();
        long elements = parameters.stream().mapToLong(desc -> count(desc.type().tensorType(), batch)).reduce(0,
                ProgramSummary::sum);
        List<String> unknown = types.keySet().stream().filter(type -> Operations.system().find(type) == null).toList();
        return new ProgramSummary(program.blocks().size(), types, unknown, parameters.size(), elements, persistent,
                temporary,
                flops);
    }

    /** Estimates that overflow become the largest number. */
    private static long sum(long a, long b) {
        return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
    }

    private static long product(long a, long b) {
        return a != 0 && b > Long.MAX_VALUE / a ? Long.MAX_VALUE : a * b;
    }

    /** Exact, and the largest number if there are more. */
    private static long count(VarType.@Nullable TensorType type, long batch) {
        if (type == null || type.dims().contains(0L)) {
            return 0;
        }
        long elements = 1;
        for (long dim : type.dims()) {
            elements = product(elements, dim < 0 ? batch : dim);
        }
        return elements;
    }

    private static double elements(VarType.@Nullable TensorType type, long batch) {
        if (type == null) {
            return 0;
        }
        double elements = 1;
        for (long dim : type.dims()) {
            elements *= dim < 0 ? batch : dim;
        }
        return elements;
    }

    /**
     * The memory of a variable.
     *
     * @param desc
     *            any
     * @param batch
     *            what stands for unknown dimensions, from 1
     * @return in bytes; 0 if it is no tensor, the largest number if there are as many or more
     */
    public static long bytes(VarDesc desc, long batch) {
        VarType.TensorType type = desc.type().tensorType();
        DType dtype = type == null ? null : DataTypes.find(type.dataType());
        return dtype == null ? 0 : product(count(type, batch), dtype.bytes());
    }

    /**
     * The cost of an operation, as of all in {@link #flops()}.
     *
     * @param block
     *            the block with the variables
     * @param op
     *            any operation
     * @param batch
     *            what stands for unknown dimensions, from 1
     * @return floating-point operations
     */
    public static double flops(Block block, OpDesc op, long batch) {
        boolean gradient = op.type().endsWith("_grad");
        String type = gradient ? op.type().substring(0, op.type().length() - "_grad".length()) : op.type();
        int products = gradient ? (int) op.outputs().values().stream().filter(names -> !names.isEmpty()).count() : 1;
        return switch (type) {
            case "matmul", "matmul_v2", "mul", "bmm" -> products * product(block, op, gradient, batch);
            case "conv2d", "depthwise_conv2d" ->
                products * convolution(block, op, gradient ? "Output@GRAD" : "Output", batch);
            case "conv2d_transpose" -> products * convolution(block, op, "Input", batch);
            case "feed", "fetch", "fetch_v2", "reshape2", "shape" -> 0;
            default -> op.outputNames().stream().mapToDouble(name -> elementsOf(block, name, batch)).sum();
        };
    }

    private static double elementsOf(Block block, @Nullable String name, long batch) {
        VarDesc desc = name == null ? null : block.find(name);
        return desc == null ? 0 : elements(desc.type().tensorType(), batch);
    }

    private static @Nullable String first(List<String> names) {
        return names.isEmpty() ? null : names.getFirst();
    }

    /**
     * Two for each element of the result and each index of the inner dimension: √(x·y·out) elements give m·n·k times
     * the batch.
     */
    private static double product(Block block, OpDesc op, boolean gradient, long batch) {
        double x = elementsOf(block, first(op.input("X")), batch);
        double y = elementsOf(block, first(op.input("Y")), batch);
        double out = elementsOf(block, first(gradient ? op.input("Out@GRAD") : op.output("Out")), batch);
        String name = first(op.input("Y"));
        VarDesc desc = name == null ? null : block.find(name);
        VarType.TensorType type = desc == null ? null : desc.type().tensorType();
        if (type == null || type.dims().size() < 2 || out == 0) {
            return 2 * x;
        }
        double columns = type.dims().size() == 2 ? y / inner(op, type) : Math.max(1, type.dims().getLast());
        return 2 * out * (type.dims().size() == 2 ? y / columns : Math.max(1, Math.sqrt(x * y / out)));
    }

    private static double inner(OpDesc op, VarType.TensorType type) {
        boolean transposed = op.attribute("trans_y") instanceof Attribute.Bool(boolean value) && value;
        return Math.max(1, type.dims().get(transposed ? 1 : 0));
    }

    private static double convolution(Block block, OpDesc op, String slot, long batch) {
        List<String> names = op.outputs().containsKey(slot) ? op.output(slot) : op.input(slot);
        String filter = first(op.input("Filter"));
        VarDesc desc = filter == null ? null : block.find(filter);
        VarType.TensorType type = desc == null ? null : desc.type().tensorType();
        if (type == null || type.dims().isEmpty()) {
            return 0;
        }
        return 2 * elementsOf(block, first(names), batch) * elements(type, batch) / Math.max(1, type.dims().getFirst());
    }
}
