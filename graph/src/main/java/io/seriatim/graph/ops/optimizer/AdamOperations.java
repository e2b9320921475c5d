package io.seriatim.graph.ops.optimizer;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Update;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The optimizers that keep two moments of the gradient and the powers of two decay rates. */
public final class AdamOperations {
    private AdamOperations() {
    }

    public static void register(Operations registry) {
        define("adam").in("Beta1Tensor?", "Beta2Tensor?", "EpsilonTensor?").attr("epsilon", 1e-8f)
                .attr("lazy_mode", false)
                .attr("min_row_size_to_use_multithread", 1000L).attr("use_global_beta_pow", false)
                .lower(l -> adam(l, 0))
                .register(registry);
        define("adamw").in("Beta1Tensor?", "Beta2Tensor?", "EpsilonTensor?").attr("epsilon", 1e-8f).attr("lr_ratio", 1f)
                .attr("coeff", 0.01f).attr("with_decay", false).attr("lazy_mode", false)
                .attr("min_row_size_to_use_multithread", 1000L)
                .attr("use_global_beta_pow", false).lower(l -> adam(l, decayOf(l.attrs())))
                .register(registry);
        define("lamb").required("weight_decay", Attribute.Real.class).attr("epsilon", 1e-6f).attr("always_adapt", false)
                .lower(AdamOperations::lamb).register(registry);
    }

    private static Operation.Builder define(String type) {
        return OptimizerOperations.define(type, "Moment1", "Moment2").in("Beta1Pow", "Beta2Pow", "SkipUpdate?")
                .out("Beta1PowOut?", "Beta2PowOut?").attr("beta1", 0.9f).attr("beta2", 0.999f)
                .infer(AdamOperations::infer);
    }

    private static void infer(Inference inference) {
        OptimizerOperations.infer(inference, "Moment1", "Moment2");
        for (String power : List.of("Beta1Pow", "Beta2Pow")) {
            long size = Inference.size(inference.dims(power));
            inference.require(size == 1 || size < 0, "%s must be one number, but are %d", power, size);
            inference.same(power, power + "Out");
        }
        if (inference.has("SkipUpdate")) {
            inference.require(inference.dtype("SkipUpdate") == DType.BOOL, "SkipUpdate must be bool, but is %s",
                    inference.dtype("SkipUpdate"));
            long size = Inference.size(inference.dims("SkipUpdate"));
            inference.require(size == 1 || size < 0, "SkipUpdate must be one element, but are %d", size);
        }
    }

    /** As Paddle's on a processor, where the ratio scales the decay only. */
    private static float decayOf(Attrs attrs) {
        return attrs.getBool("with_decay") ? attrs.getFloat("coeff") * attrs.getFloat("lr_ratio") : 0;
    }

    private static void adam(Lowering l, float decay) {
        boolean ofTensors = l.has("Beta1Tensor") || l.has("Beta2Tensor") || l.has("EpsilonTensor");
        OptimizerStep step = new OptimizerStep(l, !ofTensors && !l.isRows("Grad"));
        Operand moment1 = step.state("Moment1", "Moment1Out");
        Operand moment2 = step.state("Moment2", "Moment2Out");
        boolean global = l.attrs().getBool("use_global_beta_pow");
        Operand power1 = global ? step.kept("Beta1Pow", "Beta1PowOut") : step.state("Beta1Pow", "Beta1PowOut");
        Operand power2 = global ? step.kept("Beta2Pow", "Beta2PowOut") : step.state("Beta2Pow", "Beta2PowOut");
        if (ofTensors) {
            new OfTensors(l, step).run(decay, moment1, moment2, power1, power2);
        } else if (l.isRows("Grad")) {
            ofRows(l, step, decay, List.of(moment1, moment2, power1, power2));
        } else {
            step.update(update(l, decay), moment1, moment2, power1, power2);
        }
    }

    /** A gradient of rows: as in Paddle, the powers of the next step count already in this one. */
    private static void ofRows(Lowering l, OptimizerStep step, float decay, List<Operand> states) {
        Operand power1 = states.get(2);
        Operand power2 = states.get(3);
        if (!l.attrs().getBool("use_global_beta_pow")) {
            l.into(Copy.PLAIN, List.of(l.linear(power1, l.attrs().getFloat("beta1"), 0)), List.of(power1));
            l.into(Copy.PLAIN, List.of(l.linear(power2, l.attrs().getFloat("beta2"), 0)), List.of(power2));
        }
        Operand[] used = {states.get(0), states.get(1), l.copy(power1), l.copy(power2)};
        decay(l, step, decay);
        if (l.attrs().getBool("lazy_mode")) {
            step.updateRows(update(l, 0), used);
        } else {
            step.update(update(l, 0), used);
        }
    }

    /** A step of a dense gradient, with numbers for its rates. */
    static void adam(Lowering l, OptimizerStep step) {
        boolean global = l.attrs().getBool("use_global_beta_pow");
        step.update(update(l, 0), step.state("Moment1", "Moment1Out"), step.state("Moment2", "Moment2Out"),
                global ? step.kept("Beta1Pow", "Beta1PowOut") : step.state("Beta1Pow", "Beta1PowOut"),
                global ? step.kept("Beta2Pow", "Beta2PowOut") : step.state("Beta2Pow", "Beta2PowOut"));
    }

    private static Update update(Lowering l, float decay) {
        return new Update.Adam(l.attrs().getFloat("beta1"), l.attrs().getFloat("beta2"), l.attrs().getFloat("epsilon"),
                decay);
    }

    /** The decay applies to all rows, even if only some are updated. */
    private static void decay(Lowering l, OptimizerStep step, float decay) {
        if (decay != 0) {
            Operand kept = l.binary(Binary.Function.MULTIPLY, step.param(), l.linear(step.rate(), -decay, 1));
            l.into(Copy.PLAIN, List.of(kept), List.of(step.param()));
        }
    }

    private static void lamb(Lowering l) {
        OptimizerStep step = new OptimizerStep(l);
        Attrs attrs = l.attrs();
        float decay = attrs.getFloat("weight_decay");
        // Without a decay the norms are not compared, and the step is Adam's.
        Update update = decay == 0 && !attrs.getBool("always_adapt")
                ? update(l, 0)
                : new Update.Lamb(attrs.getFloat("beta1"), attrs.getFloat("beta2"), attrs.getFloat("epsilon"), decay);
        step.update(update, step.state("Moment1", "Moment1Out"), step.state("Moment2", "Moment2Out"),
                step.state("Beta1Pow", "Beta1PowOut"),
                step.state("Beta2Pow", "Beta2PowOut"));
    }

    /** Adam with decay rates or an epsilon that are tensors, which the one-pass computation does not take. */
    private record OfTensors(Lowering l, OptimizerStep step) {
        void run(float decay, Operand moment1, Operand moment2, Operand power1, Operand power2) {
            Operand beta1 = number("Beta1Tensor", "beta1");
            Operand beta2 = number("Beta2Tensor", "beta2");
            Operand gradient = step.gradient();
            decay(l, step, decay);
            set(moment1, mix(beta1, moment1, gradient));
            set(moment2, mix(beta2, moment2, l.unary(Unary.Function.SQUARE, gradient)));
            Operand correction = l.unary(Unary.Function.SQRT, l.linear(power2, -1, 1));
            Operand rate = divide(multiply(step.rate(), correction), l.linear(power1, -1, 1));
            Operand divisor = l.binary(Binary.Function.ADD, l.unary(Unary.Function.SQRT, moment2),
                    multiply(number("EpsilonTensor", "epsilon"), correction));
            set(step.param(),
                    l.binary(Binary.Function.SUBTRACT, step.param(), multiply(rate, divide(moment1, divisor))));
            set(power1, multiply(power1, beta1));
            set(power2, multiply(power2, beta2));
            step.finish();
        }

        private Operand number(String slot, String attribute) {
            @Nullable
            Operand given = l.optional(slot);
            return given == null
                    ? l.number(step.dtype(), l.attrs().getDouble(attribute))
                    : l.cast(given, step.dtype()).reshape();
        }

        private Operand mix(Operand keep, Operand old, Operand fresh) {
            return l.binary(Binary.Function.ADD, multiply(keep, old), multiply(l.linear(keep, -1, 1), fresh));
        }

        private Operand multiply(Operand x, Operand y) {
            return l.binary(Binary.Function.MULTIPLY, x, y);
        }

        private Operand divide(Operand x, Operand y) {
            return l.binary(Binary.Function.DIVIDE, x, y);
        }

        private void set(Operand variable, Operand value) {
            l.into(Copy.PLAIN, List.of(value), List.of(variable));
        }
    }
}
