package io.seriatim.graph.op;

import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects the steps of an operation whose shapes are known. It is written like the formula:
 * {@code l.out("Out", l.run(Unary.of(EXP), l.in("X")))}. The result of a step goes to temporary memory, or directly to
 * an output if it becomes that output unchanged.
 */
public final class Lowering extends LoweringSteps {
    /** The rule that lowers an operation to steps. */
    @FunctionalInterface
    public interface Rule {
        /**
         * Adds the steps.
         *
         * @param lowering
         *            where they go
         */
        void lower(Lowering lowering);
    }

    /**
     * Of an operation.
     *
     * @param op
     *            its description
     * @param schema
     *            its schema
     * @param inputs
     *            types of its inputs, all dimensions known
     * @param outputs
     *            what was inferred
     * @param random
     *            Paddle's random numbers, or null for those of the run-time
     */
    public Lowering(OpDesc op, Operation schema, Inference.Source inputs, Map<String, List<@Nullable ArgType>> outputs,
            @Nullable PaddleRandom random) {
        super(op, schema, inputs, outputs, random);
    }

    /**
     * With another element type.
     *
     * @param operand
     *            what is cast
     * @param dtype
     *            to which type
     * @return the operand itself if it has the type
     */
    public Operand cast(Operand operand, DType dtype) {
        return operand.dtype() == dtype ? operand : run(new Copy(dtype), operand);
    }

    /**
     * The same elements with other dimensions.
     *
     * @param operand
     *            which elements
     * @param dims
     *            as many elements
     * @return a view, or a copy if that needs one
     */
    public Operand reshape(Operand operand, long... dims) {
        return (operand.isRowMajor() ? operand : copy(operand)).reshape(dims);
    }

    /**
     * Expands to a shape.
     *
     * @param operand
     *            what is expanded
     * @param shape
     *            to which shape
     * @return a view, only to be read
     */
    public Operand expand(Operand operand, Shape shape) {
        return operand.expand(shape);
    }

    /**
     * A function of each element.
     *
     * @param function
     *            which
     * @param x
     *            the elements
     * @return the result
     */
    public Operand unary(Unary.Function function, Operand x) {
        return run(Unary.of(function), x);
    }

    /**
     * x scaled and moved.
     *
     * @param x
     *            the elements
     * @param scale
     *            the factor
     * @param bias
     *            is added
     * @return scale · x + bias
     */
    public Operand linear(Operand x, double scale, double bias) {
        return run(new Unary(Unary.Function.LINEAR, (float) scale, (float) bias), x);
    }

    /**
     * A function of two elements, which broadcast.
     *
     * @param function
     *            which
     * @param x
     *            the left one
     * @param y
     *            the right one
     * @return the result
     */
    public Operand binary(Binary.Function function, Operand x, Operand y) {
        return run(Binary.of(function), x, y);
    }
}
