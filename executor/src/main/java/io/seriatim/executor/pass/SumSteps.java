package io.seriatim.executor.pass;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a chain that make levels of 8 bits from sums in int32: numbers are subtracted, the difference is cast to
 * float32, multiplied and shifted, functions follow, then the result is divided, rounded, shifted by a zero point,
 * clipped to the levels of a type and cast to it. Only the next of these steps uses each of the values.
 */
final class SumSteps {
    /** In place of the number of an input: the levels. */
    static final int LEVELS = -1;

    private final Chain chain;
    private final TensorSpec[] specs;
    /** Which values depend on the sums. */
    private final boolean[] depends;
    private final Set<Integer> used = new HashSet<>();
    private final List<Integer> less = new ArrayList<>();
    private final List<Integer> more = new ArrayList<>();
    private final List<Integer> shifts = new ArrayList<>();
    private final List<Unary> functions = new ArrayList<>();
    private int factor = Chain.ABSENT;
    private int divisor = Chain.ABSENT;
    private int zero = Chain.ABSENT;
    /** The value that is reached so far. */
    private int at;

    /**
     * Some steps as a chain of their own.
     *
     * @param chain
     *            the steps
     * @param inputs
     *            for each input the number of the one that it was, or {@link #LEVELS}
     */
    record Part(Chain chain, List<Integer> inputs) {
    }

    private SumSteps(Chain chain, int sums, TensorSpec[] specs) {
        this.chain = chain;
        this.specs = specs;
        this.at = sums;
        depends = new boolean[chain.inputs() + chain.steps().size()];
        depends[sums] = true;
        for (int i = 0; i < chain.steps().size(); i++) {
            for (int operand : chain.steps().get(i).operands()) {
                depends[chain.inputs() + i] |= operand != Chain.ABSENT && depends[operand];
            }
        }
    }

    /** Returns the steps that begin with an input; null if they do not make levels. */
    static @Nullable SumSteps of(Chain chain, int sums, TensorSpec[] arguments) {
        SumSteps steps = new SumSteps(chain, sums, chain.values(arguments));
        return steps.find() ? steps : null;
    }

    private boolean find() {
        Chain.Step step = next();
        while (step instanceof Chain.Combine(var function, var x, var y) && x != y) {
            if (function != Binary.Function.ADD && (function != Binary.Function.SUBTRACT || x != at)) {
                return false;
            }
            (function == Binary.Function.ADD ? more : less).add(other(x, y));
            step = go(step);
        }
        if (!(step instanceof Chain.Cast(var to, var _)) || to != DType.FLOAT32) {
            return false;
        }
        step = go(step);
        if (!(step instanceof Chain.Combine(var function, var x, var y)) || function != Binary.Function.MULTIPLY
                || x == y) {
            return false;
        }
        factor = other(x, y);
        step = go(step);
        while (step instanceof Chain.Combine(var next, var left, var right) && next == Binary.Function.ADD
                && left != right) {
            shifts.add(other(left, right));
            step = go(step);
        }
        while (step instanceof Chain.Apply(var unary, var _) && unary.function() != Unary.Function.ROUND) {
            functions.add(unary);
            step = go(step);
        }
        return quantizes(step);
    }

    private boolean quantizes(Chain.@Nullable Step first) {
        Chain.Step step = first;
        if (step instanceof Chain.Combine(var function, var x, var y)) {
            if (function != Binary.Function.DIVIDE || x != at || specs[y].shape().size() != 1) {
                return false;
            }
            divisor = y;
            step = go(step);
        }
        if (!(step instanceof Chain.Apply(var unary, var _)) || unary.function() != Unary.Function.ROUND) {
            return false;
        }
        step = go(step);
        if (step instanceof Chain.Combine(var function, var x, var y)) {
            if (function != Binary.Function.ADD || x == y || specs[other(x, y)].shape().size() != 1) {
                return false;
            }
            zero = other(x, y);
            step = go(step);
        }
        if (!(step instanceof Chain.Apply(var clip, var _)) || clip.function() != Unary.Function.CLIP) {
            return false;
        }
        step = go(step);
        if (!(step instanceof Chain.Cast(var to, var _)) || (to != DType.INT8 && to != DType.UINT8)) {
            return false;
        }
        int least = to == DType.INT8 ? Byte.MIN_VALUE : 0;
        at = chain.inputs() + chain.steps().indexOf(step);
        return clip.alpha() == least && clip.beta() == least + 255 && areIndependent();
    }

    private boolean areIndependent() {
        List<Integer> all = new ArrayList<>(less);
        all.addAll(more);
        all.addAll(shifts);
        all.addAll(List.of(factor, divisor, zero));
        return all.stream().noneMatch(value -> value != Chain.ABSENT && depends[value]);
    }

    /** Returns the only step that uses the value that is reached; null if there are several, or if it goes out. */
    private Chain.@Nullable Step next() {
        Chain.Step only = null;
        for (Chain.Step step : chain.steps()) {
            if (step.operands().contains(at)) {
                if (only != null) {
                    return null;
                }
                only = step;
            }
        }
        return chain.outputs().contains(at) ? null : only;
    }

    private Chain.@Nullable Step go(Chain.Step step) {
        int number = chain.steps().indexOf(step);
        used.add(number);
        at = chain.inputs() + number;
        return next();
    }

    private int other(int x, int y) {
        return x == at ? y : x;
    }

    DType levels() {
        return specs[at].dtype();
    }

    List<Unary> functions() {
        return functions;
    }

    /** Returns whether the levels are all that the chain computes. */
    boolean isWhole() {
        return chain.outputs().equals(List.of(at));
    }

    /** Returns the factor of the sums, divided by the scale of the levels if that follows directly. */
    Part factor(boolean divided) {
        Builder builder = new Builder();
        int value = builder.copied(factor);
        return builder.part(divided && divisor != Chain.ABSENT
                ? builder.add(new Chain.Combine(Binary.Function.DIVIDE, value, builder.copied(divisor)))
                : value);
    }

    /** Returns what is added to the scaled sums, divided likewise, with the zero point then; null for nothing. */
    @Nullable
    Part shift(boolean divided) {
        Builder builder = new Builder();
        int sum = Chain.ABSENT;
        for (int each : shifts) {
            sum = builder.plus(sum, builder.copied(each), Binary.Function.ADD);
        }
        sum = builder.plus(sum, builder.scaled(more), Binary.Function.ADD);
        sum = builder.plus(sum, builder.scaled(less), Binary.Function.SUBTRACT);
        if (divided && sum != Chain.ABSENT && divisor != Chain.ABSENT) {
            sum = builder.add(new Chain.Combine(Binary.Function.DIVIDE, sum, builder.copied(divisor)));
        }
        if (divided && zero != Chain.ABSENT) {
            sum = builder.plus(sum, builder.copied(zero), Binary.Function.ADD);
        }
        return sum == Chain.ABSENT ? null : builder.part(sum);
    }

    /** Returns the factor that divides by the scale of the levels; null if nothing divides. */
    @Nullable
    Part reciprocal() {
        if (divisor == Chain.ABSENT) {
            return null;
        }
        Builder builder = new Builder();
        return builder.part(builder.add(new Chain.Apply(Unary.of(Unary.Function.RECIPROCAL),
                builder.copied(divisor))));
    }

    /** Returns the zero point; null if there is none. */
    @Nullable
    Part zeroPoint() {
        if (zero == Chain.ABSENT) {
            return null;
        }
        Builder builder = new Builder();
        return builder.part(builder.copied(zero));
    }

    /** Returns the steps that do not make the levels. */
    Part rest() {
        Builder builder = new Builder();
        builder.known.put(at, builder.input(LEVELS));
        return builder.part(chain.outputs().stream().map(builder::copied).toArray(Integer[]::new));
    }

    /** Copies steps to a chain of their own. Steps have negative numbers until all inputs are known. */
    private final class Builder {
        private static final int FIRST = -2;

        private final List<Integer> inputs = new ArrayList<>();
        private final List<Chain.Step> steps = new ArrayList<>();
        private final Map<Integer, Integer> known = new HashMap<>();

        int input(int number) {
            inputs.add(number);
            return inputs.size() - 1;
        }

        int add(Chain.Step step) {
            steps.add(step);
            return FIRST - (steps.size() - 1);
        }

        /** Returns the number of a value of the other chain, with the steps that it needs. */
        int copied(int value) {
            Integer old = known.get(value);
            if (old != null || value == Chain.ABSENT) {
                return old == null ? value : old;
            }
            int copy = value < chain.inputs()
                    ? input(value)
                    : add(ElementwiseChain.renumbered(chain.steps().get(value - chain.inputs()), this::copied));
            known.put(value, copy);
            return copy;
        }

        /** Returns a sum or difference; an absent value is 0. */
        int plus(int x, int y, Binary.Function function) {
            if (y == Chain.ABSENT) {
                return x;
            }
            if (x != Chain.ABSENT) {
                return add(new Chain.Combine(function, x, y));
            }
            return function == Binary.Function.ADD ? y : add(new Chain.Apply(Unary.of(Unary.Function.NEGATE), y));
        }

        /** Returns the sum of some numbers in int32, as float32, times the factor; absent if there are none. */
        int scaled(List<Integer> numbers) {
            int sum = Chain.ABSENT;
            for (int each : numbers) {
                sum = plus(sum, copied(each), Binary.Function.ADD);
            }
            return sum == Chain.ABSENT
                    ? sum
                    : add(new Chain.Combine(Binary.Function.MULTIPLY, add(new Chain.Cast(DType.FLOAT32, sum)),
                            copied(factor)));
        }

        Part part(Integer... outputs) {
            List<Integer> results = new ArrayList<>();
            for (int output : outputs) {
                // The output of a chain is the result of a step.
                results.add(output < 0 ? output : add(new Chain.Cast(DType.FLOAT32, output)));
            }
            IntUnaryOperator numbers = value -> value > FIRST ? value : inputs.size() + FIRST - value;
            return new Part(new Chain(inputs.size(),
                    steps.stream().map(step -> ElementwiseChain.renumbered(step, numbers)).toList(),
                    results.stream().map(numbers::applyAsInt).toList()), inputs);
        }
    }
}
