package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gated recurrent units over sequences of different lengths, whose inputs have been multiplied with weights before. */
public final class GruOperations {
    private static final String TYPE = "gru";

    private GruOperations() {
    }

    public static void register(Operations registry) {
        Operation.define(TYPE).in("Input", "H0?", "Weight", "Bias?")
                .out("BatchGate~", "BatchResetHiddenPrev~", "BatchHidden~", "Hidden").attr("activation", "tanh")
                .attr("gate_activation", "sigmoid").attr("is_reverse", false).attr("origin_mode", false)
                .readsLod("Input").sharesLod("Input", "Hidden").infer(GruOperations::infer).lower(GruOperations::lower)
                .differentiateAs(SequenceSteps::gru, SequenceSteps.LENGTHS)
                .grad(TYPE + "_grad(Input, H0, Weight, Bias, BatchGate, BatchResetHiddenPrev, BatchHidden, Hidden, "
                        + "Hidden@GRAD) -> Input@GRAD, H0@GRAD, Weight@GRAD, Bias@GRAD", GruOperations::gradient)
                .register(registry);
    }

    private static void infer(Inference inference) {
        Checks.floating(inference, "Input", "Weight");
        GateFunction.require(inference, "activation", "gate_activation");
        long[] weight = inference.dims("Weight");
        inference.require(
                weight.length == 2 && weight[0] != 0
                        && (weight[0] < 0 || weight[1] < 0 || (weight[1] / 3 == weight[0] && weight[1] % 3 == 0)),
                "Weight must have the shape [width, 3 · width], but has %s", Numbers.text(weight));
        long width = weight[0];
        Checks.shape(inference, "Input", -1, weight[1]);
        if (inference.has("Bias")) {
            Checks.floating(inference, "Input", "Bias");
            Checks.shape(inference, "Bias", 1, weight[1]);
        }
        long sequences = inference.sequences("Input");
        if (inference.has("H0")) {
            Checks.floating(inference, "Input", "H0");
            Checks.shape(inference, "H0", sequences, width);
        }
        long[] input = inference.dims("Input");
        inference.same("Input", "BatchGate");
        for (String slot : List.of("BatchResetHiddenPrev", "BatchHidden", "Hidden")) {
            inference.set(slot, inference.dtype("Input"), input[0], width);
        }
    }

    private static SequenceBatch batch(boolean backwards, @Nullable Tensor lod, Tensor rows) {
        return SequenceBatch.of(SequenceOffsets.of(TYPE, "Input", lod, rows.shape().dim(0)), backwards);
    }

    /** The attributes. */
    private record Settings(boolean backwards, GateFunction ofGates, GateFunction ofCandidates, boolean origin) {
        static Settings of(Lowering l) {
            return new Settings(l.attrs().getBool("is_reverse"), GateFunction.of(l.attrs(), "gate_activation"),
                    GateFunction.of(l.attrs(), "activation"), l.attrs().getBool("origin_mode"));
        }

        GruSequences sequences(SequenceBatch batch, int width, double[] weights) {
            return new GruSequences(batch, width, weights, ofGates, ofCandidates, origin);
        }
    }

    private static void lower(Lowering l) {
        Settings settings = Settings.of(l);
        Operand input = l.in("Input");
        Operand weight = l.in("Weight");
        int width = Math.toIntExact(weight.dim(0));
        TensorSpec states = TensorSpec.of(input.dtype(), input.dim(0), width);
        l.call(TYPE, (in, out) -> {
            Tensor x = Checks.tensor(in, 0);
            SequenceBatch batch = batch(settings.backwards, in.get(4), x);
            double[] gates = batch.ordered(x.toDoubleArray(), 3 * width);
            if (in.get(2) != null) {
                double[] bias = Checks.tensor(in, 2).toDoubleArray();
                Arrays.setAll(gates, i -> gates[i] + bias[i % bias.length]);
            }
            double[] reset = new double[WorkingMemory.length(batch.rows.length, width)];
            double[] hidden = new double[reset.length];
            settings.sequences(batch, width, Checks.tensor(in, 1).toDoubleArray()).forward(gates,
                    batch.firstStates(in.get(3), width), reset, hidden);
            Elements.write(gates, Checks.tensor(out, 0));
            Elements.write(reset, Checks.tensor(out, 1));
            Elements.write(hidden, Checks.tensor(out, 2));
            Elements.write(batch.restored(hidden, width), Checks.tensor(out, 3));
        }, Arrays.asList(input, weight, l.optional("Bias"), l.optional("H0"), l.lod("Input")),
                List.of(l.outputOrTemporary("BatchGate", input.spec()),
                        l.outputOrTemporary("BatchResetHiddenPrev", states),
                        l.outputOrTemporary("BatchHidden", states), l.output("Hidden")));
    }

    private static void gradient(Lowering l) {
        Settings settings = Settings.of(l);
        Operand weight = l.in("Weight");
        int width = Math.toIntExact(weight.dim(0));
        TensorSpec first = TensorSpec.of(weight.dtype(), l.has("H0") ? l.in("H0").dim(0) : 0, width);
        l.call(TYPE + "_grad", (in, out) -> {
            Tensor hidden = Checks.tensor(in, 4);
            SequenceBatch batch = batch(settings.backwards, in.get(6), hidden);
            double[] weights = Checks.tensor(in, 0).toDoubleArray();
            double[] gates = Checks.tensor(in, 2).toDoubleArray();
            double[] firstHidden = batch.firstStates(in.get(1), width);
            double[] ofGates = new double[gates.length];
            double[] ofWeights = new double[weights.length];
            double[] ofFirst = new double[firstHidden.length];
            settings.sequences(batch, width, weights).backward(gates, firstHidden, Checks.tensor(in, 3).toDoubleArray(),
                    hidden.toDoubleArray(), batch.ordered(Checks.tensor(in, 5).toDoubleArray(), width), ofGates,
                    ofWeights, ofFirst);
            double[] ofBias = new double[3 * width];
            for (int i = 0; i < ofGates.length; i++) {
                ofBias[i % ofBias.length] += ofGates[i];
            }
            Elements.write(batch.restored(ofGates, 3 * width), Checks.tensor(out, 0));
            Elements.write(ofWeights, Checks.tensor(out, 1));
            Elements.write(ofBias, Checks.tensor(out, 2));
            if (in.get(1) != null) {
                Elements.write(batch.restoredStates(ofFirst, width), Checks.tensor(out, 3));
            }
        }, Arrays.asList(weight, l.optional("H0"), l.in("BatchGate"), l.in("BatchResetHiddenPrev"),
                l.in("BatchHidden"), l.in("Hidden@GRAD"), l.lod("Input")),
                List.of(l.outputOrTemporary("Input@GRAD", l.in("Input").spec()),
                        l.outputOrTemporary("Weight@GRAD", weight.spec()),
                        l.outputOrTemporary("Bias@GRAD", TensorSpec.of(weight.dtype(), 1, 3L * width)),
                        l.outputOrTemporary("H0@GRAD", first)));
    }
}
