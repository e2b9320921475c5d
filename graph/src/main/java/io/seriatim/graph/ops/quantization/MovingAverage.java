package io.seriatim.graph.ops.quantization;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** A scale that is the moving average of the largest magnitudes of batches: accum / state. */
final class MovingAverage {
    private static final List<String> STATE = List.of("InAccum", "InState");

    private MovingAverage() {
    }

    /** In a test, the scales and their state stay as they are, although they are named as outputs. */
    static OpDesc runForm(OpDesc op) {
        return isTest(op, false) ? without(op, "OutScale", "OutState", "OutAccum", "OutScales") : op;
    }

    static boolean isTest(OpDesc op, boolean byDefault) {
        return op.attribute("is_test") instanceof Attribute.Bool(boolean test) ? test : byDefault;
    }

    /** The operation without some outputs. */
    static OpDesc without(OpDesc op, String... slots) {
        Map<String, List<String>> outputs = new TreeMap<>(op.outputs());
        outputs.keySet().removeAll(Set.of(slots));
        return op.with(op.inputs(), outputs);
    }

    /** Checks the state, and gives the outputs the shapes of numbers. */
    static void infer(Inference inference, boolean tested) {
        for (String slot : STATE) {
            inference.require(tested || inference.has(slot), "in training it needs a variable in slot %s", slot);
            Levels.checkNumber(inference, slot);
        }
        DType dtype = inference.dtype("X");
        inference.set("OutState", dtype, 1);
        inference.set("OutAccum", dtype, 1);
    }

    /** Adds the largest magnitude of a batch, sets the outputs, and returns the scale. */
    static Operand step(Lowering l, Operand current) {
        Operand rate = l.number(current.dtype(), l.attrs().getFloat("moving_rate"));
        Operand state = l.binary(Binary.Function.ADD, slower(l, "InState", rate), l.number(current.dtype(), 1));
        Operand accum = l.binary(Binary.Function.ADD, slower(l, "InAccum", rate), current);
        Operand scale = l.binary(Binary.Function.DIVIDE, accum, state);
        l.out("OutState", state);
        l.out("OutAccum", accum);
        l.out("OutScale", scale);
        return scale;
    }

    private static Operand slower(Lowering l, String slot, Operand rate) {
        return l.binary(Binary.Function.MULTIPLY, rate, l.cast(l.in(slot), rate.dtype()).reshape(1));
    }
}
