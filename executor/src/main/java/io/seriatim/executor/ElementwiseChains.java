package io.seriatim.executor;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.Chain;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Copy;
import io.seriatim.tensor.kernel.Unary;
import io.seriatim.tensor.kernel.UnaryGrad;
import io.seriatim.tensor.kernel.Where;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Elementwise operations one after the other become one pass over memory, as far as each costs next to nothing and gives the same bits in company as alone. */
final class ElementwiseChains implements Fusion.Rule {
    /** A stage as a chain: its steps, and which argument each input of the chain is. */
    private record Steps(List<Chain.Step> steps, List<Arg> inputs) {
    }

    @Override
    public @Nullable Stage joined(Stage first, Stage second, int input) {
        Steps before = steps(first);
        Steps after = steps(second);
        Arg between = first.outputs().getFirst();
        Arg out = second.outputs().size() == 1 ? second.outputs().getFirst() : null;
        if (before == null || after == null || out == null || between == null || !out.isDense()
                || !out.spec().shape().equals(between.spec().shape())) {
            return null;
        }
        List<Arg> inputs = new ArrayList<>(before.inputs());
        List<Integer> numbers = new ArrayList<>();
        for (Arg arg : after.inputs()) {
            if (arg.equals(between)) {
                numbers.add(-1);
            } else {
                int known = inputs.indexOf(arg);
                numbers.add(known < 0 ? inputs.size() : known);
                if (known < 0) {
                    inputs.add(arg);
                }
            }
        }
        int firstSteps = before.steps().size();
        if (inputs.size() + firstSteps + after.steps().size() > Chain.MOST_VALUES) {
            return null;
        }
        List<Chain.Step> steps = new ArrayList<>();
        int moved = inputs.size() - before.inputs().size();
        before.steps().forEach(step -> steps.add(renumbered(step, number -> number < before.inputs().size() ? number : number + moved)));
        int last = inputs.size() + firstSteps - 1;
        after.steps().forEach(step -> steps.add(renumbered(step, number -> number >= after.inputs().size()
                ? number - after.inputs().size() + inputs.size() + firstSteps
                : numbers.get(number) < 0 ? last : numbers.get(number))));
        Chain chain = new Chain(inputs.size(), steps, List.of(inputs.size() + steps.size() - 1));
        TensorSpec[] specs = inputs.stream().map(Arg::spec).toArray(TensorSpec[]::new);
        return chain.isExact(specs) && chain.steps().stream().allMatch(Chain::isCheap)
                ? Stage.of(second.access(), chain, new ArrayList<>(inputs), out)
                : null;
    }

    /** Null for what is no chain. */
    private @Nullable Steps steps(Stage stage) {
        Arg out = stage.outputs().size() == 1 ? stage.outputs().getFirst() : null;
        if (out == null || stage.inputs().contains(null) || !isFloating(out)
                || !stage.inputs().stream().allMatch(arg -> isDense(arg, out))) {
            return null;
        }
        List<Arg> inputs = new ArrayList<>();
        List<Integer> numbers = new ArrayList<>();
        for (Arg arg : stage.inputs()) {
            if (arg != null) {
                if (!inputs.contains(arg)) {
                    inputs.add(arg);
                }
                numbers.add(inputs.indexOf(arg));
            }
        }
        if (stage.computation() instanceof Chain chain) {
            return numbers.size() == inputs.size() && chain.outputs().size() == 1
                    && chain.outputs().getFirst() == chain.inputs() + chain.steps().size() - 1
                            ? new Steps(chain.steps(), inputs)
                            : null;
        }
        Chain.Step step = step(stage.computation(), numbers, out.spec().dtype());
        return step == null ? null : new Steps(List.of(step), inputs);
    }

    private static Chain.@Nullable Step step(@Nullable Computation computation, List<Integer> operands, DType to) {
        return switch (computation) {
            case Unary unary -> new Chain.Apply(unary, operands.getFirst());
            case Binary binary when binary.postOps().isEmpty() -> new Chain.Combine(binary.function(), operands.get(0), operands.get(1));
            case Copy _ -> new Chain.Cast(to, operands.getFirst());
            case null, default -> null;
        };
    }

    private static boolean isFloating(Arg arg) {
        return arg.spec().dtype() == DType.FLOAT32 || arg.spec().dtype() == DType.FLOAT64;
    }

    /** Operands of the result's shape, and such as broadcast to it without odd strides. */
    private static boolean isDense(@Nullable Arg arg, Arg out) {
        return arg != null && arg.spec().isRowMajor() && arg.spec().dtype() == out.spec().dtype();
    }

    private static Chain.Step renumbered(Chain.Step step, IntUnaryOperator numbers) {
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
