package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One step of an optimizer, in place and in one pass over memory. Inputs: the parameter p, its gradient g, the learning
 * rate lr (one element), the accumulators in the order that each record gives, all of p's type and shape but for those
 * of one element; and, if it may be left out, a bool of one element: where that is true in a run, nothing is changed.
 * There are no outputs: parameter and accumulators are changed. float32 or float64; for a 16-bit parameter the step
 * works on a float32 copy, from which it is cast. The formulas are those of PaddlePaddle's operations.
 */
public sealed interface Update extends Computation {
    /**
     * How many accumulators have p's shape: they follow the learning rate.
     *
     * @return from 0
     */
    int accumulators();

    /**
     * How many accumulators of one element follow those.
     *
     * @return from 0
     */
    default int scalars() {
        return 0;
    }

    /**
     * Which input says that the step is skipped.
     *
     * @return the index after the last accumulator's
     */
    default int skip() {
        return 3 + accumulators() + scalars();
    }

    @Override
    default boolean mutates(int input) {
        return input == 0 || (input > 2 && input < skip());
    }

    /** Along the outermost axis, unless it also changes numbers that belong to the whole. */
    @Override
    default List<Split> splits(@Nullable TensorSpec... arguments) {
        TensorSpec param = arguments[0];
        if (scalars() > 0 || param == null || param.shape().rank() == 0) {
            return List.of();
        }
        int[] axes = new int[arguments.length];
        axes[2] = Split.WHOLE;
        if (axes.length > skip()) {
            axes[skip()] = Split.WHOLE;
        }
        return List.of(Split.of(axes));
    }

    @Override
    default TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = skip();
        Operands in = Operands.of(operation(), inputs, count, count + 1);
        TensorSpec p = in.get(0, "param");
        in.require(p.dtype() == DType.FLOAT32 || p.dtype() == DType.FLOAT64,
                "the parameter must be float32 or float64, but is %s",
                p.dtype());
        for (int i = 1; i < count; i++) {
            TensorSpec spec = in.get(i, i == 1 ? "grad" : i == 2 ? "learning rate" : "accumulator " + (i - 3));
            boolean single = i == 2 || i >= 3 + accumulators();
            in.require(spec.dtype() == p.dtype(), "input %d must be %s as the parameter is, but is %s", i, p.dtype(),
                    spec.dtype());
            in.require(single ? spec.shape().size() == 1 : spec.shape().equals(p.shape()),
                    "input %d must have %s, but has the shape %s", i,
                    single ? "one element" : "the parameter's shape " + p.shape(), spec.shape());
            in.require(spec.isRowMajor() && p.isRowMajor(), "parameter, gradient and accumulators must be row-major");
        }
        TensorSpec skip = in.optional(count);
        if (skip != null) {
            in.require(skip.dtype() == DType.BOOL && skip.shape().size() == 1,
                    "what says whether the step is skipped must be one bool, but is %s", skip);
        }
        return new TensorSpec[0];
    }

    /** p − lr·g. */
    record Sgd() implements Update {
        @Override
        public String operation() {
            return "sgd";
        }

        @Override
        public int accumulators() {
            return 0;
        }
    }

    /**
     * Momentum. Accumulator v. With g' = g + decay·p: v = μv + g'; p − lr·v, or p − lr·(g' + μv) (Nesterov).
     *
     * @param mu
     *            μ
     * @param nesterov
     *            whether it looks ahead
     * @param decay
     *            the factor of L2 regularisation
     */
    record Momentum(float mu, boolean nesterov, float decay) implements Update {
        @Override
        public String operation() {
            return "momentum";
        }

        @Override
        public int accumulators() {
            return 1;
        }
    }

    /**
     * Adam (Kingma, Ba, 2015), and AdamW (Loshchilov, Hutter, 2019) with a decay. Accumulators m, v, then β₁ᵗ and β₂ᵗ
     * of one element, which are multiplied after the step. p·(1 − lr·decay) first; m = β₁m + (1−β₁)g; v = β₂v +
     * (1−β₂)g²; p − lr·√(1−β₂ᵗ)/(1−β₁ᵗ) · m / (√v + ε·√(1−β₂ᵗ)).
     *
     * @param beta1
     *            β₁
     * @param beta2
     *            β₂
     * @param epsilon
     *            ε
     * @param decay
     *            of AdamW; 0 for Adam
     */
    record Adam(float beta1, float beta2, float epsilon, float decay) implements Update {
        @Override
        public String operation() {
            return "adam";
        }

        @Override
        public int accumulators() {
            return 2;
        }

        @Override
        public int scalars() {
            return 2;
        }
    }

    /**
     * Adagrad. Accumulator m: m + g²; p − lr·g / (√m + ε).
     *
     * @param epsilon
     *            ε
     */
    record Adagrad(float epsilon) implements Update {
        @Override
        public String operation() {
            return "adagrad";
        }

        @Override
        public int accumulators() {
            return 1;
        }
    }

    /**
     * Adadelta (Zeiler, 2012). Accumulators G and U. G = ρG + (1−ρ)g²; u = −√((U+ε)/(G+ε))·g; U = ρU + (1−ρ)u²; p +
     * lr·u.
     *
     * @param rho
     *            ρ
     * @param epsilon
     *            ε
     */
    record Adadelta(float rho, float epsilon) implements Update {
        @Override
        public String operation() {
            return "adadelta";
        }

        @Override
        public int accumulators() {
            return 2;
        }
    }

    /**
     * Adamax (Kingma, Ba, 2015). Accumulators m and i, then β₁ᵗ of one element, which it leaves as it is. m = β₁m +
     * (1−β₁)g; i = max(|g|, β₂i + ε); p − lr/(1−β₁ᵗ)·m/i.
     *
     * @param beta1
     *            β₁
     * @param beta2
     *            β₂
     * @param epsilon
     *            ε
     */
    record Adamax(float beta1, float beta2, float epsilon) implements Update {
        @Override
        public String operation() {
            return "adamax";
        }

        @Override
        public int accumulators() {
            return 2;
        }

        @Override
        public int scalars() {
            return 1;
        }
    }

    /**
     * RMSProp (Tieleman, Hinton, 2012). Accumulators mom, s, mg. s = ρs + (1−ρ)g²; centered: mg = ρmg + (1−ρ)g; mom =
     * μ·mom + lr·g/√(s + ε), centered √(s − mg² + ε); p − mom.
     *
     * @param decay
     *            ρ
     * @param epsilon
     *            ε
     * @param momentum
     *            μ
     * @param centered
     *            whether the mean gradient is taken off
     */
    record RmsProp(float decay, float epsilon, float momentum, boolean centered) implements Update {
        @Override
        public String operation() {
            return "rmsprop";
        }

        @Override
        public int accumulators() {
            return 3;
        }
    }

    /**
     * Lamb (You et al., 2020). Accumulators m, v, then β₁ᵗ and β₂ᵗ of one element, which are multiplied after the step.
     * With m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ): d = m̂/(√v̂ + ε) + decay·p; p − lr·‖p‖/‖d‖·d, where the quotient is 1 if
     * either norm is 0.
     *
     * @param beta1
     *            β₁
     * @param beta2
     *            β₂
     * @param epsilon
     *            ε
     * @param decay
     *            of weights
     */
    record Lamb(float beta1, float beta2, float epsilon, float decay) implements Update {
        @Override
        public String operation() {
            return "lamb";
        }

        @Override
        public int accumulators() {
            return 2;
        }

        @Override
        public int scalars() {
            return 2;
        }
    }
}
