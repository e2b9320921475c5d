package io.seriatim.graph.ops.optimizer;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.computation.network.Update;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Steps of several parameters, in one operation. */
public final class MergedOptimizerOperations {
    private MergedOptimizerOperations() {
    }

    public static void register(Operations registry) {
        define("merged_adam", "Moment1", "Moment2").in("Beta1Pow*", "Beta2Pow*").out("Beta1PowOut*", "Beta2PowOut*")
                .attr("beta1", 0.9f).attr("beta2", 0.999f).attr("epsilon", 1e-8f).attr("use_global_beta_pow", false)
                .infer(MergedOptimizerOperations::inferAdam).lower(l -> {
                    for (int i = 0; i < l.count("Param"); i++) {
                        AdamOperations.adam(l, new OptimizerStep(l, i));
                    }
                }).register(registry);
        define("merged_momentum", "Velocity").required("mu", Attribute.Real.class).attr("use_nesterov", false)
                .attr("regularization_method", new String[0]).attr("regularization_coeff", new float[0])
                .attr("rescale_grad", 1f).infer(MergedOptimizerOperations::inferMomentum).lower(l -> {
                    for (int i = 0; i < l.count("Param"); i++) {
                        momentum(l, i);
                    }
                }).register(registry);
    }

    private static Operation.Builder define(String type, String... accumulators) {
        Operation.Builder builder = Operation.define(type).in("Param*", "Grad*", "LearningRate*", "MasterParam*?")
                .out("ParamOut*", "MasterParamOut*?").attr("multi_precision", false);
        for (String accumulator : accumulators) {
            builder.in(accumulator + "*").out(accumulator + "Out*");
        }
        return builder;
    }

    private static void inferAdam(Inference inference) {
        infer(inference, "Moment1", "Moment2");
        int count = inference.count("Param");
        requireCount(inference, "LearningRate", count);
        for (String power : List.of("Beta1Pow", "Beta2Pow")) {
            requireCount(inference, power, count);
            for (int i = 0; i < count; i++) {
                requireOne(inference, power, i);
            }
            inference.sameEach(power, power + "Out");
        }
    }

    private static void inferMomentum(Inference inference) {
        infer(inference, "Velocity");
        int count = inference.count("Param");
        if (inference.count("LearningRate") != 1) {
            requireCount(inference, "LearningRate", count);
        }
        int methods = inference.attrs().getTexts("regularization_method").size();
        int factors = inference.attrs().getDoubles("regularization_coeff").length;
        inference.require(methods == 0 || (methods == count && factors == count),
                "regularization_method and regularization_coeff must be as many as the variables in Param, %d, "
                        + "but are %d and %d",
                count, methods, factors);
    }

    private static void infer(Inference inference, String... accumulators) {
        int count = inference.count("Param");
        List<String> slots = new ArrayList<>(List.of("Grad"));
        slots.addAll(Arrays.asList(accumulators));
        if (inference.has("MasterParam")) {
            slots.add("MasterParam");
        }
        for (String slot : slots) {
            requireCount(inference, slot, count);
            for (int i = 0; i < count; i++) {
                requireLikeParam(inference, slot, i);
            }
        }
        for (int i = 0; i < inference.count("LearningRate"); i++) {
            requireOne(inference, "LearningRate", i);
        }
        for (String slot : accumulators) {
            inference.sameEach(slot, slot + "Out");
        }
        inference.sameEach("Param", "ParamOut");
        inference.sameEach("MasterParam", "MasterParamOut");
    }

    private static void requireCount(Inference inference, String slot, int count) {
        inference.require(inference.count(slot) == count,
                "there must be as many variables in %s as in Param, %d, but are %d", slot, count,
                inference.count(slot));
    }

    private static void requireLikeParam(Inference inference, String slot, int index) {
        ArgType param = inference.in("Param", index);
        ArgType found = inference.in(slot, index);
        inference.require(found.kind() == ArgType.Kind.DENSE && found.dtype().isFloating() && fits(param, found),
                "variable %d of %s must be a floating-point tensor of its parameter's shape %s, but is %s", index,
                slot, Numbers.text(param.dims()), found);
    }

    private static boolean fits(ArgType param, ArgType found) {
        long[] dims = param.dims();
        long[] other = found.dims();
        boolean fits = dims.length == other.length;
        for (int i = 0; fits && i < dims.length; i++) {
            fits = dims[i] == other[i] || dims[i] < 0 || other[i] < 0;
        }
        return fits;
    }

    private static void requireOne(Inference inference, String slot, int index) {
        long size = Inference.size(inference.in(slot, index).dims());
        inference.require(size == 1 || size < 0, "variable %d of %s must be one number, but are %d", index, slot, size);
    }

    private static void momentum(Lowering l, int index) {
        OptimizerStep step = new OptimizerStep(l, index);
        Attrs attrs = l.attrs();
        List<String> methods = attrs.getTexts("regularization_method");
        boolean nesterov = attrs.getBool("use_nesterov");
        double[] factors = attrs.getDoubles("regularization_coeff");
        float decay = !methods.isEmpty() && methods.get(index).equals("l2_decay") ? (float) factors[index] : 0;
        Operand gradient = step.gradient();
        boolean several = l.count("LearningRate") > 1;
        // Otherwise Paddle computes each parameter with the kernel of the operation momentum, which does not rescale.
        if (!several && !nesterov && methods.isEmpty()) {
            gradient = l.linear(gradient, attrs.getFloat("rescale_grad"), 0);
        }
        Operand rate = l.cast(l.in("LearningRate", several ? index : 0), step.dtype());
        step.updateBy(gradient, rate, new Update.Momentum(attrs.getFloat("mu"), nesterov, decay),
                step.state("Velocity", "VelocityOut"));
    }
}
