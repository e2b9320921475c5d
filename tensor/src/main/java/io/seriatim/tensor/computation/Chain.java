package io.seriatim.tensor.computation;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Split;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Elementwise functions one after the other in one pass over memory: intermediate results stay in the processor's
 * cache. Inputs broadcast to the common shape of the outputs. Values are numbered: first the inputs, then the results
 * of the steps.
 *
 * <p>
 * Values are of floating-point types; sums, differences and products also of int32. Each value has the type that the
 * step's own computation would give it and is rounded to it, so a chain gives to the bit what the portable kernels of
 * its steps give one by one. The other kernels give that too where {@link #isExact} says so; elsewhere (exponentials,
 * and what is made of them) they may differ in the last digits. Worth it are steps that are also {@link #isCheap
 * cheap}: sums, products, comparisons, relu, roots, casts. Of the others the library computes many elements several
 * times faster on their own.
 *
 * @param inputs
 *            how many tensors come in
 * @param steps
 *            in order; each uses inputs and results of earlier steps
 * @param outputs
 *            the values that go out, in order: results of steps, each once
 */
public record Chain(int inputs, List<Step> steps, List<Integer> outputs) implements Computation {
    /** Inputs and steps together are not more. */
    public static final int MOST_VALUES = KernelContext.SLOTS;

    /** In place of the number of an operand that is left out. */
    public static final int ABSENT = -1;

    /** One function. */
    public sealed interface Step {
        /**
         * The values that it uses.
         *
         * @return their numbers, {@link #ABSENT} for those that are left out
         */
        List<Integer> operands();
    }

    /**
     * A function of one value.
     *
     * @param function
     *            the function
     * @param x
     *            the number of its operand
     */
    public record Apply(Unary function, int x) implements Step {
        @Override
        public List<Integer> operands() {
            return List.of(x);
        }
    }

    /**
     * A function of two values.
     *
     * @param function
     *            the function
     * @param x
     *            the number of its left operand
     * @param y
     *            the number of its right operand
     */
    public record Combine(Binary.Function function, int x, int y) implements Step {
        @Override
        public List<Integer> operands() {
            return List.of(x, y);
        }
    }

    /**
     * The gradient of a function of one value.
     *
     * @param gradient
     *            the function's gradient
     * @param x
     *            the number of the function's input, or {@link #ABSENT}
     * @param y
     *            the number of the function's result, or {@link #ABSENT}
     * @param dy
     *            the number of the gradient of the result
     */
    public record Grad(UnaryGrad gradient, int x, int y, int dy) implements Step {
        @Override
        public List<Integer> operands() {
            return List.of(x, y, dy);
        }
    }

    /**
     * A change of type: of a floating-point number, or of a whole number or bool of up to 16 bits, to a floating-point
     * number; of int32 to float32; of float32 to a whole number of 8 bits; or of one to int32.
     *
     * @param to
     *            the type
     * @param x
     *            the number of its operand
     */
    public record Cast(DType to, int x) implements Step {
        @Override
        public List<Integer> operands() {
            return List.of(x);
        }
    }

    /**
     * A choice, as of {@link Where}.
     *
     * @param condition
     *            the number of a bool
     * @param x
     *            the number of the value where the condition is true
     * @param y
     *            the number of the value elsewhere
     */
    public record Select(int condition, int x, int y) implements Step {
        @Override
        public List<Integer> operands() {
            return List.of(condition, x, y);
        }
    }

    /**
     * Copies the lists and checks the numbers.
     *
     * @throws IllegalArgumentException
     *             if there are no inputs, no outputs or too many values, or if a number is not that of an earlier value
     */
    public Chain {
        steps = List.copyOf(steps);
        outputs = List.copyOf(outputs);
        if (inputs < 1 || steps.isEmpty() || inputs + steps.size() > MOST_VALUES) {
            throw error("it needs an input, a step, and not more than " + MOST_VALUES + " of both, but has " + inputs
                    + " and " + steps.size());
        }
        for (int i = 0; i < steps.size(); i++) {
            for (int operand : steps.get(i).operands()) {
                boolean absent = operand == ABSENT && steps.get(i) instanceof Grad(var _, var _, var _, var dy)
                        && dy != ABSENT;
                if (!absent && (operand < 0 || operand >= inputs + i)) {
                    throw error("step " + i + " (" + steps.get(i) + ") must use values from 0 to " + (inputs + i - 1));
                }
            }
        }
        if (outputs.isEmpty() || (outputs.size() > 1 && new HashSet<>(outputs).size() != outputs.size())) {
            throw error("each output must be named once, but they are " + outputs);
        }
        for (int output : outputs) {
            if (output < inputs || output >= inputs + steps.size()) {
                throw error("an output must be the result of a step, a value from " + inputs + " to "
                        + (inputs + steps.size() - 1) + ", but is " + output);
            }
        }
    }

    private static IllegalArgumentException error(String rule) {
        return new IllegalArgumentException("chain: " + rule);
    }

    /**
     * With the last step's result as its output.
     *
     * @param inputs
     *            how many tensors come in
     * @param steps
     *            in order
     * @return the computation
     */
    public static Chain of(int inputs, Step... steps) {
        return new Chain(inputs, List.of(steps), List.of(inputs + steps.length - 1));
    }

    @Override
    public String operation() {
        return "chain";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... given) {
        TensorSpec[] values = values(given);
        Shape whole = values[0].shape();
        for (int i = 1; i < inputs; i++) {
            whole = whole.broadcast(values[i].shape());
        }
        TensorSpec[] results = new TensorSpec[outputs.size()];
        for (int i = 0; i < results.length; i++) {
            results[i] = values[outputs.get(i)];
            if (!results[i].shape().equals(whole)) {
                throw error("output " + i + " must have the shape that the inputs broadcast to, " + whole
                        + ", but has " + results[i].shape() + "; the inputs are " + Arrays.toString(given));
            }
        }
        return results;
    }

    /**
     * The specs of all values.
     *
     * @param given
     *            the inputs, or inputs and outputs
     * @return by number
     * @throws IllegalArgumentException
     *             if a step does not fit its operands
     */
    public TensorSpec[] values(@Nullable TensorSpec... given) {
        Operands in = Operands.of(operation(), Arrays.copyOf(given, Math.min(given.length, inputs)), inputs, inputs);
        TensorSpec[] values = new TensorSpec[inputs + steps.size()];
        for (int i = 0; i < inputs; i++) {
            TensorSpec known = in.optional(i);
            values[i] = (known == null ? in.get(i, "number " + i) : known).rowMajor();
        }
        for (int i = 0; i < steps.size(); i++) {
            try {
                values[inputs + i] = result(steps.get(i), values);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("chain: step " + i + " (" + steps.get(i) + "): " + e.getMessage(),
                        e);
            }
        }
        return values;
    }

    private static TensorSpec result(Step step, TensorSpec[] values) {
        return switch (step) {
            case Apply(var function, var x) -> {
                boolean logic = function.function() == Unary.Function.LOGICAL_NOT && values[x].dtype() == DType.BOOL;
                fits(logic || values[x].dtype().isFloating(), values[x]);
                yield function.infer(values[x])[0];
            }
            case Combine(var function, var x, var y) -> {
                fits(values[x].dtype().isFloating() || (values[x].dtype() == DType.BOOL && function.isTest())
                        || (values[x].dtype() == DType.INT32 && isOfSums(function)), values[x]);
                yield Binary.of(function).infer(values[x], values[y])[0];
            }
            case Grad(var gradient, var x, var y, var dy) ->
                gradient.infer(x == ABSENT ? null : values[x], y == ABSENT ? null : values[y], values[dy])[0];
            case Cast(var to, var x) -> {
                boolean sums = to == DType.FLOAT32 && values[x].dtype() == DType.INT32;
                fits(sums || isSmall(values[x].dtype()), values[x]);
                boolean narrows = (to == DType.INT8 || to == DType.UINT8) && values[x].dtype() == DType.FLOAT32;
                boolean widens = to == DType.INT32
                        && (values[x].dtype() == DType.INT8 || values[x].dtype() == DType.UINT8);
                if (!to.isFloating() && !narrows && !widens) {
                    throw error("a cast must be to a floating-point type, of float32 to int8 or uint8, or of these to "
                            + "int32, but is of " + values[x].dtype() + " to " + to);
                }
                yield values[x].with(to);
            }
            case Select(var condition, var x, var y) -> {
                fits(values[x].dtype().isFloating(), values[x]);
                yield new Where().infer(values[condition], values[x], values[y])[0];
            }
        };
    }

    /** Whether a function of whole numbers keeps the last 32 bits of its results. */
    private static boolean isOfSums(Binary.Function function) {
        return switch (function) {
            case ADD, SUBTRACT, MULTIPLY -> true;
            default -> false;
        };
    }

    private static void fits(boolean holds, TensorSpec operand) {
        if (!holds) {
            throw error("it has no arithmetic for " + operand + " in a chain: cast it, or compute it on its own");
        }
    }

    /** Whether a float holds each value exactly, or it is a floating-point type. */
    private static boolean isSmall(DType dtype) {
        return switch (dtype) {
            case FLOAT32, FLOAT64, FLOAT16, BFLOAT16, INT8, INT16, UINT8, UINT16, BOOL -> true;
            case INT32, INT64, UINT32, UINT64, COMPLEX64, COMPLEX128 -> false;
        };
    }

    /**
     * Whether every kernel gives a step's result to the bit as the chain does: see {@link Unary#isExact}.
     *
     * @param step
     *            its index
     * @param given
     *            the inputs
     * @return false where the last digits may differ
     */
    public boolean isExact(int step, @Nullable TensorSpec... given) {
        return isExact(steps.get(step), values(given));
    }

    private static boolean isExact(Step step, TensorSpec[] values) {
        return switch (step) {
            case Apply(var function, var x) -> function.isExact(values[x].dtype());
            case Combine(var function, var x, var _) -> Binary.of(function).isExact(values[x].dtype());
            case Grad(var gradient, var x, var _, var dy) -> x == ABSENT || gradient.isExact(values[dy].dtype());
            case Cast _,Select _ -> true;
        };
    }

    /**
     * Whether every kernel gives every step's result to the bit as the chain does, so that it does not show in the
     * results whether steps are chained.
     *
     * @param given
     *            the inputs
     * @return false where the last digits may differ
     */
    public boolean isExact(@Nullable TensorSpec... given) {
        TensorSpec[] values = values(given);
        for (Step step : steps) {
            if (!isExact(step, values)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether a step takes about as long as it takes to read its operands, in plain Java: then it costs next to nothing
     * in a chain.
     *
     * @param step
     *            of a chain
     * @return false for powers, exponentials and other functions of more than a few instructions
     */
    public static boolean isCheap(Step step) {
        return switch (step) {
            case Apply(var unary, var _) -> switch (unary.function()) {
                case RELU, LEAKY_RELU, CLIP, HARD_SIGMOID, SQRT, SQUARE, ABS, LINEAR, NEGATE, RECIPROCAL, ROUND -> true;
                default -> false;
            };
            case Combine(var function, var _, var _) -> switch (function) {
                case ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, PRELU -> true;
                default -> false;
            };
            case Grad(var gradient, var x, var _, var _) -> switch (gradient.function()) {
                case RELU -> true;
                case SIGMOID, TANH -> x == ABSENT;
                default -> false;
            };
            case Cast _,Select _ -> true;
        };
    }

    /** True for every input: a tile of each is read before the tile of a result is written. */
    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return Operands.alike(input, inputs, arguments);
    }

    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec out = arguments[inputs];
        return out == null ? List.of() : Split.elementwise(out.shape(), arguments);
    }
}
