package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A chain of elementwise functions with its operands, which can be fused with others.
 *
 * @param inputs
 *            the distinct inputs
 * @param steps
 *            the steps, numbered as in a {@link Chain}
 * @param outputs
 *            the outputs
 * @param results
 *            for each output, the step that computes it
 */
record ElementwiseChain(List<Arg> inputs, List<Chain.Step> steps, List<Arg> outputs, List<Integer> results) {
    /** The minimum length of a strided row. Starting a row takes as long as some elements. */
    private static final int LEAST_ROW = 16;

    /**
     * Returns the chain of a stage; null if the stage is not elementwise, or if a step is not
     * {@link Chain#isCheap cheap} or not {@link Chain#isExact exact}.
     */
    static @Nullable ElementwiseChain of(Stage stage) {
        Arg first = stage.outputs().isEmpty() ? null : stage.outputs().getFirst();
        if (first == null || !isElementwise(stage.computation())) {
            return null;
        }
        // Levels of 8 bits enter and leave a chain by casts, and sums of their products enter it as int32; between them
        // it computes in float32.
        boolean sums = isSum(first);
        DType dtype = isByte(first) ? DType.FLOAT32 : first.spec().dtype();
        boolean mayHaveBytes = (dtype == DType.FLOAT32 || sums)
                && (stage.computation() instanceof Copy || stage.computation() instanceof Chain);
        if ((dtype != DType.FLOAT32 && dtype != DType.FLOAT64 && !sums) || (sums && !isOfSums(stage.computation()))) {
            return null;
        }
        Shape shape = first.spec().shape();
        List<Arg> inputs = new ArrayList<>();
        int[] numbers = new int[stage.inputs().size()];
        for (int i = 0; i < numbers.length; i++) {
            Arg arg = stage.inputs().get(i);
            numbers[i] = Chain.ABSENT;
            if (arg != null) {
                if (!fits(arg, dtype, mayHaveBytes) && !(mayHaveBytes && isSum(arg) && fits(arg, DType.INT32, false))) {
                    return null;
                }
                int known = inputs.indexOf(arg);
                numbers[i] = known < 0 ? inputs.size() : known;
                if (known < 0) {
                    inputs.add(arg);
                }
            }
        }
        List<Arg> outputs = new ArrayList<>();
        for (Arg out : stage.outputs()) {
            if (out == null || !fits(out, dtype, mayHaveBytes) || !out.spec().shape().equals(shape)) {
                return null;
            }
            outputs.add(out);
        }
        boolean moves = stage.computation() instanceof Copy && (isByte(first)
                ? inputs.stream().allMatch(ElementwiseChain::isByte)
                : sums && !inputs.stream().allMatch(ElementwiseChain::isByte));
        if (inputs.isEmpty() || moves) {
            return null;
        }
        ElementwiseChain links = links(stage.computation(), inputs, numbers, outputs);
        return links != null && links.isWorthIt() ? links : null;
    }

    /** Returns whether a chain may have a computation in int32. */
    private static boolean isOfSums(@Nullable Computation computation) {
        return switch (computation) {
            case Chain _,Copy _ -> true;
            case Binary binary -> switch (binary.function()) {
                case ADD, SUBTRACT, MULTIPLY -> true;
                default -> false;
            };
            case null, default -> false;
        };
    }

    /** Returns whether a computation may be a step of a chain. */
    private static boolean isElementwise(@Nullable Computation computation) {
        return switch (computation) {
            case Chain _,Unary _,UnaryGrad _,Copy _ -> true;
            case Binary binary -> binary.postOps().isEmpty();
            case null, default -> false;
        };
    }

    private static @Nullable ElementwiseChain links(@Nullable Computation computation, List<Arg> inputs, int[] numbers,
            List<Arg> outputs) {
        if (computation instanceof Chain chain) {
            IntUnaryOperator moved = number -> number < chain.inputs()
                    ? numbers[number]
                    : number - chain.inputs() + inputs.size();
            return new ElementwiseChain(inputs, chain.steps().stream().map(step -> renumbered(step, moved)).toList(),
                    outputs,
                    chain.outputs().stream().map(value -> value - chain.inputs()).toList());
        }
        Chain.Step step = step(computation, numbers, outputs.getFirst().spec().dtype());
        return step == null ? null : new ElementwiseChain(inputs, List.of(step), outputs, List.of(0));
    }

    private static Chain.@Nullable Step step(@Nullable Computation computation, int[] operands, DType to) {
        return switch (computation) {
            case Unary unary -> new Chain.Apply(unary, operands[0]);
            case UnaryGrad grad -> new Chain.Grad(grad, operands[0], operands[1], operands[2]);
            case Binary binary when binary.postOps().isEmpty() ->
                new Chain.Combine(binary.function(), operands[0], operands[1]);
            case Copy _ -> new Chain.Cast(to, operands[0]);
            case null, default -> null;
        };
    }

    /** Returns whether an operand are sums of products of levels, which a chain casts to float32. */
    private static boolean isSum(Arg arg) {
        return arg.spec().dtype() == DType.INT32;
    }

    private static boolean isByte(Arg arg) {
        return arg.spec().dtype() == DType.INT8 || arg.spec().dtype() == DType.UINT8;
    }

    /**
     * Returns whether an operand has the given type, or one of 8 bits where it may, and rows that vector instructions
     * can read directly. The operation has already checked that its shape can be broadcast.
     */
    private static boolean fits(Arg arg, DType dtype, boolean mayBeByte) {
        TensorSpec spec = arg.spec();
        return (spec.dtype() == dtype || (mayBeByte && isByte(arg))) && switch (spec.layout()) {
            case Layout.RowMajor _ -> true;
            case Layout.Opaque _ -> false;
            case Layout.Strided strided -> {
                int last = spec.shape().rank() - 1;
                yield spec.isRowMajor()
                        || (last >= 0 && strided.strides()[last] == 1 && spec.shape().dim(last) >= LEAST_ROW);
            }
        };
    }

    /** Returns the common shape of all outputs. */
    Shape shape() {
        return outputs.getFirst().spec().shape();
    }

    /** Returns whether the chain does more than copy. */
    boolean computes() {
        return !steps.stream().allMatch(Chain.Cast.class::isInstance);
    }

    private boolean isWorthIt() {
        if (inputs.size() + steps.size() > Chain.MOST_VALUES) {
            return false;
        }
        for (Chain.Step step : steps) {
            if (!Chain.isCheap(step)) {
                return false;
            }
        }
        TensorSpec[] specs = new TensorSpec[inputs.size()];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = inputs.get(i).spec();
        }
        return chain().isExact(specs);
    }

    /**
     * Returns the composition of this chain and a second one. The second uses the results of this one directly; all
     * outputs are kept. Null if there are too many values.
     */
    @Nullable
    ElementwiseChain then(ElementwiseChain second) {
        List<Arg> all = new ArrayList<>(inputs);
        // For each input of the second chain: the number of an input of the composition, or −1 − i for step i of this
        // chain.
        int[] from = new int[second.inputs.size()];
        for (int i = 0; i < from.length; i++) {
            Arg arg = second.inputs.get(i);
            int given = outputs.indexOf(arg);
            int known = all.indexOf(arg);
            from[i] = given >= 0 ? -1 - results.get(given) : known < 0 ? all.size() : known;
            if (given < 0 && known < 0) {
                all.add(arg);
            }
        }
        if (all.size() + steps.size() + second.steps.size() > Chain.MOST_VALUES) {
            return null;
        }
        int own = all.size();
        List<Chain.Step> both = new ArrayList<>();
        steps.forEach(step -> both
                .add(renumbered(step, number -> number < inputs.size() ? number : number - inputs.size() + own)));
        second.steps.forEach(step -> both.add(renumbered(step, number -> {
            if (number >= from.length) {
                return number - from.length + own + steps.size();
            }
            return from[number] < 0 ? own - 1 - from[number] : from[number];
        })));
        List<Arg> out = new ArrayList<>(outputs);
        out.addAll(second.outputs);
        List<Integer> where = new ArrayList<>(results);
        second.results.forEach(result -> where.add(result + steps.size()));
        return new ElementwiseChain(all, both, out, where);
    }

    /** Returns the chain without an output that no other task reads. */
    ElementwiseChain without(Arg output) {
        int at = outputs.indexOf(output);
        List<Arg> out = new ArrayList<>(outputs);
        List<Integer> where = new ArrayList<>(results);
        out.remove(at);
        where.subList(at, at + 1).clear();
        return new ElementwiseChain(inputs, steps, out, where);
    }

    private Chain chain() {
        return new Chain(inputs.size(), steps, results.stream().map(result -> result + inputs.size()).toList());
    }

    /** Returns the chain as a stage. */
    Stage stage(Access access) {
        return new Stage(access, new Step.Work.Compute(chain()), new ArrayList<>(inputs), new ArrayList<>(outputs),
                null);
    }

    /** Returns a step with other numbers for its operands. */
    static Chain.Step renumbered(Chain.Step step, IntUnaryOperator numbers) {
        return switch (step) {
            case Chain.Apply(Unary function, int x) -> new Chain.Apply(function, numbers.applyAsInt(x));
            case Chain.Combine(Binary.Function function, int x, int y) ->
                new Chain.Combine(function, numbers.applyAsInt(x), numbers.applyAsInt(y));
            case Chain.Cast(DType to, int x) -> new Chain.Cast(to, numbers.applyAsInt(x));
            case Chain.Grad(UnaryGrad gradient, int x, int y, int dy) ->
                new Chain.Grad(gradient, absent(x, numbers), absent(y, numbers), numbers.applyAsInt(dy));
            case Chain.Select(int condition, int x, int y) ->
                new Chain.Select(numbers.applyAsInt(condition), numbers.applyAsInt(x), numbers.applyAsInt(y));
        };
    }

    private static int absent(int number, IntUnaryOperator numbers) {
        return number == Chain.ABSENT ? number : numbers.applyAsInt(number);
    }
}
