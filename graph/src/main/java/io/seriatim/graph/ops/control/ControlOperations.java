package io.seriatim.graph.ops.control;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Copy;
import java.util.List;
import java.util.function.Predicate;

/**
 * Branches, loops and recurrences, which run blocks, and the operations that choose between their results. The
 * gradients of those that run blocks are made with the gradients of the blocks.
 */
public final class ControlOperations {
    private static final String[] NONE = {};

    private ControlOperations() {
    }

    public static void register(Operations registry) {
        branches(registry);
        loops(registry);
        recurrences(registry);
        selections(registry);
    }

    private static Operation.Builder control(String type) {
        return Operation.define(type).effect(Effect.CONTROL).required("sub_block", Attribute.BlockRef.class).attr(
                "skip_eager_deletion_vars",
                NONE);
    }

    private static void branches(Operations registry) {
        control("conditional_block").in("Cond*", "Input*?").out("Out*", "Scope").attr("is_scalar_condition", false)
                .keepsNothing().infer(inference -> condition(inference, "Cond")).register(registry);
        control("conditional_block_grad").in("Cond*?", "Input*?", "Out*", "Out@GRAD*", "Scope").out("Input@GRAD*")
                .attr("is_scalar_condition", false).register(registry);
    }

    private static void condition(Inference inference, String slot) {
        if (!inference.attrs().has("is_scalar_condition") || inference.attrs().getBool("is_scalar_condition")) {
            long size = Inference.size(inference.dims(slot));
            inference.require(inference.dtype(slot) == DType.BOOL && (size == 1 || size < 0),
                    "the condition must be one bool, but is %s",
                    inference.in(slot));
        }
    }

    private static void loops(Operations registry) {
        control("while").in("X*?", "Condition").out("Out*", "StepScopes").attr("is_test", false).keepsNothing()
                .infer(inference -> condition(inference, "Condition")).register(registry);
        control("while_grad").in("X*?", "Out*", "Out@GRAD*?", "StepScopes").out("X@GRAD*").attr("is_test", false)
                .attr("original_output_grad", NONE).register(registry);
    }

    private static void recurrences(Operations registry) {
        recurrence("recurrent").in("inputs*", "initial_states*?", "parameters*?").out("outputs*", "step_scopes")
                .register(registry);
        recurrence("recurrent_grad")
                .in("inputs*", "initial_states*?", "parameters*?", "outputs*", "outputs@GRAD*", "step_scopes",
                        "step_scopes@GRAD?")
                .out("inputs@GRAD*?", "initial_states@GRAD*?", "parameters@GRAD*?").register(registry);
        Operation.define("rnn_memory_helper").in("X").out("Out").attr("dtype", 5)
                .infer(inference -> inference.same("X", "Out"))
                .lower(l -> l.out("Out", l.run(Copy.PLAIN, l.in("X"))))
                .grad("rnn_memory_helper_grad(X, Out, Out@GRAD) -> X@GRAD",
                        l -> l.out("X@GRAD", l.run(Copy.PLAIN, l.in("Out@GRAD"))))
                .register(registry);
    }

    private static Operation.Builder recurrence(String type) {
        return control(type).attr("has_states", false).attr("ex_states", NONE).attr("states", NONE)
                .attr("reverse", false).attr("is_train",
                        true);
    }

    private static void selections(Operations registry) {
        Operation.define("select_input").in("X*", "Mask").out("Out").keepsNothing().infer(inference -> {
            mask(inference);
            inference.set("Out", 0, common(inference));
        }).grad("select_output(Mask, X=Out@GRAD) -> Out=X@GRAD").register(registry);
        // It writes one of its outputs; the others keep their values.
        Operation.define("select_output").in("X", "Mask").out("Out*").changesInPlace(op -> op.output("Out"))
                .infer(inference -> {
                    mask(inference);
                    for (int i = 0; i < inference.outputs("Out"); i++) {
                        inference.set("Out", i, inference.in("X"));
                    }
                }).grad(ControlOperations::ofChosen).register(registry);
    }

    /** Results of {@code select_output} that nothing wants have no gradient either. */
    private static List<OpDesc> ofChosen(OpDesc op, Predicate<String> wanted) {
        List<String> gradients = op.output("Out").stream()
                .map(name -> name.equals(GradientRule.EMPTY) ? name : GradientRule.gradient(name)).toList();
        String of = op.input("X").getFirst();
        return List.of(OpDesc.of("select_input").in("X", gradients).in("Mask", op.input("Mask"))
                .out("Out", wanted.test(of) ? GradientRule.gradient(of) : GradientRule.EMPTY).build());
    }

    private static void mask(Inference inference) {
        long size = Inference.size(inference.dims("Mask"));
        DType dtype = inference.dtype("Mask");
        inference.require(!dtype.isFloating() && (size == 1 || size < 0),
                "the mask must be one whole number or bool, but is %s",
                inference.in("Mask"));
    }

    /** The shape that all choices have in common; dimensions in which they differ are unknown. */
    private static ArgType common(Inference inference) {
        List<ArgType> choices = inference.present("X");
        ArgType first = choices.getFirst();
        long[] dims = first.dims();
        for (ArgType other : choices.subList(1, choices.size())) {
            inference.require(other.dtype() == first.dtype() && other.kind() == first.kind(),
                    "what is chosen between must be of one type, but is %s and %s", first, other);
            long[] more = other.dims();
            inference.require(more.length == dims.length,
                    "what is chosen between must have one number of dimensions, but has %s and %s",
                    Numbers.text(dims), Numbers.text(more));
            for (int k = 0; k < dims.length; k++) {
                dims[k] = dims[k] == more[k] ? dims[k] : -1;
            }
        }
        return switch (first.kind()) {
            case DENSE -> ArgType.dense(first.dtype(), dims);
            case ROWS -> ArgType.rows(first.dtype(), -1, dims);
            case ARRAY -> ArgType.array(first.dtype(), dims);
        };
    }
}
