package io.seriatim.graph.translate;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Appends operations to a block, and knows the types of their results at once. */
public final class BlockBuilder {
    private final ModelBuilder model;
    private final Block block;
    private final @Nullable BlockBuilder parent;

    BlockBuilder(ModelBuilder model, Block block, @Nullable BlockBuilder parent) {
        this.model = model;
        this.block = block;
        this.parent = parent;
    }

    /**
     * The model that is being built.
     *
     * @return the same for all blocks
     */
    public ModelBuilder model() {
        return model;
    }

    /**
     * The block of the program.
     *
     * @return what {@link #op} appends to
     */
    public Block block() {
        return block;
    }

    /**
     * The builder of the block around this one.
     *
     * @return null for the main block
     */
    public @Nullable BlockBuilder parent() {
        return parent;
    }

    /**
     * Creates a block below this one, which an operation of control flow will run.
     *
     * @return a builder of an empty block
     */
    public BlockBuilder child() {
        return new BlockBuilder(model, model.block(block), this);
    }

    /**
     * Remembers how far the program is built.
     *
     * @return takes back what is appended to this block and to those below it from now on; values that were made in
     *         between are not to be used then
     */
    public Runnable checkpoint() {
        ModelBuilder.Mark mark = model.mark(block);
        return () -> model.takeBack(mark);
    }

    /**
     * Begins an operation.
     *
     * @param type
     *            its type, for instance {@code relu}
     * @return its builder
     */
    public OpAppender op(String type) {
        return new OpAppender(this, type);
    }

    /**
     * Declares a variable that operations will write through {@link OpAppender#to}.
     *
     * @param type
     *            its kind, type and dimensions
     * @return the variable
     */
    public Ref declare(ArgType type) {
        return declared(fresh(), type);
    }

    /**
     * Declares a variable of a name that messages show.
     *
     * @param hint
     *            the wish for its name
     * @param type
     *            its kind, type and dimensions
     * @return the variable
     */
    public Ref declare(String hint, ArgType type) {
        return declared(model.fresh(hint), type);
    }

    private Ref declared(String name, ArgType type) {
        block.put(VarDesc.of(name, type.varType()));
        return new Ref(name, type);
    }

    /**
     * Declares a variable of a kind that has no tensor, such as the scopes of a loop.
     *
     * @param varType
     *            its kind
     * @return its name
     */
    public String declare(VarType varType) {
        String name = fresh();
        block.put(VarDesc.of(name, varType));
        return name;
    }

    String fresh() {
        return model.result();
    }

    /** Infers, computes or appends an operation. */
    OpDesc append(OpDesc op, boolean canCompute) {
        OpDesc complete = Appender.complete(op, Roles.FORWARD);
        Map<String, List<@Nullable ArgType>> types = Operations.system().get(op.type()).infer(complete,
                new KnownValues(new Appender.BuildTime(block, complete), complete));
        if (canCompute && model.constants().covers(complete, model.program(), types)) {
            model.constants().compute(complete).forEach((name, value) -> model.constants().add(name, value, false));
            return complete;
        }
        complete.inputNames().forEach(model::use);
        Appender.declare(block, complete, types);
        block.add(complete);
        return complete;
    }

    Ref ref(String name) {
        Tensor value = model.constants().find(name);
        if (value != null) {
            return new Ref(name, ArgType.dense(value.dtype(), value.shape().dims()));
        }
        VarDesc desc = block.get(name);
        VarType.TensorType tensor = desc.tensor();
        return new Ref(name, switch (desc.type()) {
            case VarType.Rows _ -> ArgType.rows(tensor.dtype(), -1, tensor.shape());
            case VarType.TensorArray _ -> ArgType.array(tensor.dtype(), tensor.shape());
            default -> ArgType.dense(tensor.dtype(), tensor.shape());
        });
    }

    /** The types of variables, and the values of those that are constants. */
    private final class KnownValues implements Inference.Source {
        private final Appender.BuildTime types;
        private final OpDesc op;

        KnownValues(Appender.BuildTime types, OpDesc op) {
            this.types = types;
            this.op = op;
        }

        private @Nullable Tensor value(String slot, int index) {
            return model.constants().find(op.input(slot).get(index));
        }

        @Override
        public @Nullable ArgType type(String slot, int index) {
            Tensor value = value(slot, index);
            return value == null
                    ? types.type(slot, index)
                    : ArgType.dense(value.dtype(), value.shape().dims());
        }

        @Override
        public long @Nullable [] values(String slot, int index) {
            Tensor value = value(slot, index);
            return value == null || value.dtype().isDifferentiable() ? null : value.toLongArray();
        }

        @Override
        public double @Nullable [] numbers(String slot, int index) {
            Tensor value = value(slot, index);
            return value == null || value.dtype().isComplex() ? null : value.toDoubleArray();
        }

        @Override
        public boolean isForRun() {
            return false;
        }
    }

    /**
     * Gives a value another shape with the same elements in row-major order.
     *
     * @param x
     *            any value
     * @param dims
     *            the new dimensions; 0 copies one, one −1 is computed
     * @return the result
     */
    public Ref reshape(Ref x, long... dims) {
        int[] shape = new int[dims.length];
        for (int i = 0; i < dims.length; i++) {
            shape[i] = Math.toIntExact(dims[i]);
        }
        return op("reshape2").in("X", x).attr("shape", shape).out("Out");
    }

    /**
     * Permutes the axes.
     *
     * @param x
     *            any value
     * @param axes
     *            for each axis of the result, the axis of the operand
     * @return the result
     */
    public Ref transpose(Ref x, int... axes) {
        return op("transpose2").in("X", x).attr("axis", axes).out("Out");
    }

    /**
     * Inserts axes of length 1.
     *
     * @param x
     *            any value
     * @param axes
     *            their places in the result
     * @return the result
     */
    public Ref unsqueeze(Ref x, int... axes) {
        return op("unsqueeze2").in("X", x).attr("axes", axes).out("Out");
    }

    /**
     * Removes axes of length 1.
     *
     * @param x
     *            any value
     * @param axes
     *            their places
     * @return the result
     */
    public Ref squeeze(Ref x, int... axes) {
        return op("squeeze2").in("X", x).attr("axes", axes).out("Out");
    }

    /**
     * Converts the elements.
     *
     * @param x
     *            any value
     * @param dtype
     *            the type wanted
     * @return the operand itself, if it has the type
     */
    public Ref cast(Ref x, DType dtype) {
        return x.dtype() == dtype
                ? x
                : op("cast").in("X", x).attr("in_dtype", x.dtype()).attr("out_dtype", dtype).out("Out");
    }

    /**
     * Joins values along an axis.
     *
     * @param axis
     *            counts from the end if negative
     * @param parts
     *            at least one
     * @return the result
     */
    public Ref concat(int axis, List<Ref> parts) {
        return parts.size() == 1 ? parts.getFirst() : op("concat").in("X", parts).attr("axis", axis).out("Out");
    }

    /**
     * An operation of two operands with broadcasting as in NumPy.
     *
     * @param type
     *            for instance {@code elementwise_add}
     * @param x
     *            the first operand
     * @param y
     *            the second operand
     * @return the result
     */
    public Ref binary(String type, Ref x, Ref y) {
        return op(type).in("X", x).in("Y", y).attr("axis", -1).out("Out");
    }

    /**
     * An operation of one operand without attributes.
     *
     * @param type
     *            for instance {@code relu}
     * @param x
     *            the operand
     * @return the result
     */
    public Ref unary(String type, Ref x) {
        return op(type).in("X", x).out("Out");
    }

    /**
     * The shape of a value, as a tensor.
     *
     * @param x
     *            any value
     * @return int32 of one dimension
     */
    public Ref shape(Ref x) {
        return op("shape").in("Input", x).out("Out");
    }

    /**
     * The elements between two places of an axis.
     *
     * @param x
     *            any value
     * @param axis
     *            counts from the end if negative
     * @param from
     *            the first place; counts from the end if negative
     * @param to
     *            the place after the last; counts from the end if negative, and may exceed the axis
     * @return the result
     */
    public Ref slice(Ref x, int axis, long from, long to) {
        return op("slice").in("Input", x).attr("axes", new int[]{axis < 0 ? axis + x.rank() : axis})
                .attr("starts", new int[]{Math.toIntExact(from)})
                .attr("ends", new int[]{(int) Math.min(to, Integer.MAX_VALUE)}).out("Out");
    }

    /**
     * The length of an axis, as a tensor.
     *
     * @param x
     *            any value
     * @param axis
     *            from 0 on
     * @return int64, one element
     */
    public Ref length(Ref x, int axis) {
        return cast(slice(shape(x), 0, axis, axis + 1L), DType.INT64);
    }

    /**
     * Whole numbers that are known.
     *
     * @param dtype
     *            their type
     * @param values
     *            the numbers
     * @return of one dimension
     */
    public Ref integers(DType dtype, long... values) {
        return model.constant("constant", Tensor.of(dtype, values, values.length));
    }

    /**
     * A number that is known.
     *
     * @param dtype
     *            its type, not complex
     * @param value
     *            the number
     * @return without dimensions
     */
    public Ref scalar(DType dtype, double value) {
        return model.constant("constant", Tensor.of(dtype, new double[]{value}));
    }
}
