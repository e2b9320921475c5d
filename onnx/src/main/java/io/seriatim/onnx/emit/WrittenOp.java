package io.seriatim.onnx.emit;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An operation that is being written: its operands, its attributes, and the graph to which nodes are appended. */
public final class WrittenOp {
    /** Writes a block as the graph that a node runs. */
    public interface Blocks {
        /**
         * Appends the operations of a block.
         *
         * @param block
         *            its number
         * @param into
         *            a graph without nodes
         */
        void write(int block, OutGraph into);
    }

    private final OpDesc op;
    private final Attrs attrs;
    private final Block block;
    private final OutGraph graph;
    private final int opset;
    private final Blocks blocks;

    /**
     * Creates it.
     *
     * @param op
     *            the operation
     * @param attrs
     *            its attributes with their defaults
     * @param block
     *            where it stands
     * @param graph
     *            where nodes are appended
     * @param opset
     *            the version of ONNX's operators that is written
     * @param blocks
     *            writes the blocks that it runs
     */
    public WrittenOp(OpDesc op, Attrs attrs, Block block, OutGraph graph, int opset, Blocks blocks) {
        this.op = op;
        this.attrs = attrs;
        this.block = block;
        this.graph = graph;
        this.opset = opset;
        this.blocks = blocks;
    }

    /** The operation as it stands in the program. */
    public OpDesc desc() {
        return op;
    }

    /** The block in which it stands. */
    public Block block() {
        return block;
    }

    /** Writes blocks that it runs. */
    public Blocks blocks() {
        return blocks;
    }

    /** Where nodes are appended. */
    public OutGraph graph() {
        return graph;
    }

    /** Its attributes. */
    public Attrs attrs() {
        return attrs;
    }

    /** The version of ONNX's operators that is written. */
    public int opset() {
        return opset;
    }

    /** Whether there is an operand. */
    public boolean has(String slot) {
        return !op.input(slot).isEmpty();
    }

    /** The number of operands of a slot. */
    public int count(String slot) {
        return op.input(slot).size();
    }

    /** The value of an operand. */
    public String in(String slot) {
        return in(slot, 0);
    }

    /** The value of an operand. */
    public String in(String slot, int index) {
        List<String> names = op.input(slot);
        if (index >= names.size()) {
            throw error("needs an operand in slot %s", slot);
        }
        return graph.get(names.get(index));
    }

    /** The values of all operands of a slot. */
    public List<String> ins(String slot) {
        return op.input(slot).stream().map(graph::get).toList();
    }

    private VarType.TensorType tensor(String name) {
        VarType.TensorType tensor = block.get(name).type().tensorType();
        if (tensor == null || !(block.get(name).type() instanceof VarType.Dense)) {
            throw error("variable '%s' is no dense tensor, which ONNX does not have", name);
        }
        return tensor;
    }

    /** The dimensions of an operand, −1 where unknown. */
    public long[] dims(String slot) {
        return tensor(op.input(slot).getFirst()).shape();
    }

    /** The number of dimensions of an operand. */
    public int rank(String slot) {
        return dims(slot).length;
    }

    /** The type of an operand. */
    public DType dtype(String slot) {
        return tensor(op.input(slot).getFirst()).dtype();
    }

    /** The type of a result. */
    public DType outType(String slot) {
        return tensor(op.output(slot).getFirst()).dtype();
    }

    /** The dimensions of a result, −1 where unknown. */
    public long[] outDims(String slot) {
        return tensor(op.output(slot).getFirst()).shape();
    }

    /** An axis counted from the front. */
    public int axis(long axis, int rank) {
        return (int) (axis < 0 ? axis + rank : axis);
    }

    /** Sets a result. */
    public void out(String slot, String value) {
        out(slot, 0, value);
    }

    /** Sets a result; nothing if the operation does not want it. */
    public void out(String slot, int index, String value) {
        List<String> names = op.output(slot);
        if (index < names.size()) {
            graph.set(names.get(index), value);
        }
    }

    /** Appends a node of one result without attributes. */
    public String node(String type, String... operands) {
        return node(type, Map.of(), operands);
    }

    /** Appends a node of one result. */
    public String node(String type, Map<String, Object> attributes, String... operands) {
        return nodes(type, 1, attributes, List.of(operands)).getFirst();
    }

    /** Appends a node of several results. */
    public List<String> nodes(String type, int results, Map<String, Object> attributes, List<String> operands) {
        int end = operands.size();
        while (end > 0 && operands.get(end - 1).isEmpty()) {
            end--;
        }
        List<String> given = operands.subList(0, end);
        List<String> problems = graph.problems(type, given, attributes);
        if (!problems.isEmpty()) {
            throw error("needs what ONNX does not have: %s", String.join(", ", problems));
        }
        return graph.node(type, given, results, attributes);
    }

    /** Whole numbers of one dimension. */
    public String ints(long... values) {
        return graph.constant(Tensor.of(values, values.length));
    }

    /** A number without dimensions. */
    public String scalar(DType dtype, double value) {
        return graph.constant(Tensor.of(dtype, new double[]{value}));
    }

    /** Converts the elements of a value. */
    public String cast(String value, DType dtype) {
        return node("Cast", Map.of("to", ElementTypes.number(dtype)), value);
    }

    /** Converts the elements of a value to whole numbers of 64 bits of one dimension. */
    public String int64s(String value) {
        return node("Reshape", cast(value, DType.INT64), ints(-1));
    }

    /**
     * Whole numbers that are an attribute, one operand or a list of operands.
     *
     * @param attribute
     *            the attribute, which counts if there is no operand
     * @param tensor
     *            the slot of one operand
     * @param list
     *            the slot of a list of operands
     * @return of one dimension
     */
    public String numbers(String attribute, String tensor, String list) {
        if (!list.isEmpty() && has(list)) {
            List<String> parts = new ArrayList<>();
            // Each is one number, however it is declared: those who infer shapes need the count.
            ins(list).forEach(part -> parts.add(node("Reshape", cast(part, DType.INT64), ints(1))));
            return parts.size() == 1
                    ? parts.getFirst()
                    : node("Concat", Map.of("axis", 0), parts.toArray(String[]::new));
        }
        if (tensor.isEmpty() || !has(tensor)) {
            return ints(attrs.getLongs(attribute));
        }
        // ONNX Runtime merges a Reshape that makes a vector of sizes with the one that reads them, and stops.
        return rank(tensor) == 1 ? cast(in(tensor), DType.INT64) : int64s(in(tensor));
    }

    /** An operation that cannot be written; the message names it. */
    @FormatMethod
    public UnwritableException error(String format, @Nullable Object... arguments) {
        List<String> results = op.outputNames();
        return new UnwritableException("operation '" + op.type() + "'"
                + (results.isEmpty() ? "" : " (result '" + results.getFirst() + "')") + " "
                + String.format(Locale.ROOT, format, arguments));
    }
}
