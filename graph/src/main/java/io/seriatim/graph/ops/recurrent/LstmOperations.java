package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Long short-term memory over sequences of different lengths, whose inputs have been multiplied with weights before.
 */
public final class LstmOperations {
    private static final String TYPE = "lstm";

    private LstmOperations() {
    }

    public static void register(Operations registry) {
        Operation.define(TYPE).in("Input", "H0?", "C0?", "Weight", "Bias")
                .out("Hidden", "Cell", "BatchGate~", "BatchCellPreAct~").attr("use_peepholes", true)
                .attr("is_reverse", false).attr("is_test", false).attr("gate_activation", "sigmoid")
                .attr("cell_activation", "tanh").attr("candidate_activation", "tanh").readsLod("Input")
                .sharesLod("Input", "Hidden").sharesLod("Input", "Cell").infer(LstmOperations::infer)
                .lower(LstmOperations::lower)
                .differentiateAs(SequenceSteps::lstm, SequenceSteps.LENGTHS)
                .grad(TYPE + "_grad(Input, H0, C0, Weight, Bias, Hidden, Cell, BatchGate, BatchCellPreAct, Hidden@GRAD)"
                        + " -> Input@GRAD, H0@GRAD, C0@GRAD, Weight@GRAD, Bias@GRAD", LstmOperations::gradient)
                .register(registry);
    }

    private static void infer(Inference inference) {
        Checks.floating(inference, "Input", "Weight", "Bias");
        GateFunction.require(inference, "gate_activation", "cell_activation", "candidate_activation");
        long[] weight = inference.dims("Weight");
        inference.require(
                weight.length == 2 && weight[0] != 0
                        && (weight[0] < 0 || weight[1] < 0 || (weight[1] / 4 == weight[0] && weight[1] % 4 == 0)),
                "Weight must have the shape [width, 4 · width], but has %s", Numbers.text(weight));
        long width = weight[0];
        Checks.shape(inference, "Input", -1, weight[1]);
        boolean peepholes = inference.attrs().getBool("use_peepholes");
        Checks.shape(inference, "Bias", 1, width < 0 ? -1 : (peepholes ? 7 : 4) * width);
        inference.require(inference.has("H0") == inference.has("C0"), "needs both H0 and C0, or neither");
        long sequences = inference.sequences("Input");
        for (String slot : List.of("H0", "C0")) {
            if (inference.has(slot)) {
                Checks.floating(inference, "Input", slot);
                Checks.shape(inference, slot, sequences, width);
            }
        }
        long[] input = inference.dims("Input");
        inference.set("Hidden", inference.dtype("Input"), input[0], width);
        inference.set("Cell", inference.dtype("Input"), input[0], width);
        inference.set("BatchGate", inference.dtype("Input"), input[0], weight[1]);
        inference.set("BatchCellPreAct", inference.dtype("Input"), input[0], width);
    }

    /** The attributes. */
    private record Settings(boolean peepholes, boolean backwards, GateFunction ofGates, GateFunction ofCells,
            GateFunction ofCandidates) {
        static Settings of(Lowering l) {
            return new Settings(l.attrs().getBool("use_peepholes"), l.attrs().getBool("is_reverse"),
                    GateFunction.of(l.attrs(), "gate_activation"), GateFunction.of(l.attrs(), "cell_activation"),
                    GateFunction.of(l.attrs(), "candidate_activation"));
        }

        SequenceBatch batch(@Nullable Tensor lod, long rows) {
            return SequenceBatch.of(SequenceOffsets.of(TYPE, "Input", lod, rows), backwards);
        }

        LstmSequences sequences(SequenceBatch batch, int width, double[] weights, double[] bias) {
            double[] checks = peepholes ? Arrays.copyOfRange(bias, 4 * width, 7 * width) : new double[3 * width];
            return new LstmSequences(batch, width, weights, checks, ofGates, ofCells, ofCandidates);
        }
    }

    private static void lower(Lowering l) {
        Settings settings = Settings.of(l);
        Operand weight = l.in("Weight");
        int width = Math.toIntExact(weight.dim(0));
        Operand input = l.in("Input");
        TensorSpec states = TensorSpec.of(input.dtype(), input.dim(0), width);
        l.call(TYPE, (in, out) -> {
            Tensor x = Checks.tensor(in, 0);
            SequenceBatch batch = settings.batch(in.get(5), x.shape().dim(0));
            double[] bias = Checks.tensor(in, 2).toDoubleArray();
            double[] gates = batch.ordered(x.toDoubleArray(), 4 * width);
            for (int i = 0; i < gates.length; i++) {
                gates[i] += bias[i % (4 * width)];
            }
            int size = batch.rows.length * width;
            double[] hidden = new double[size];
            double[] cells = new double[size];
            double[] active = new double[size];
            settings.sequences(batch, width, Checks.tensor(in, 1).toDoubleArray(), bias).forward(gates,
                    batch.firstStates(in.get(3), width), batch.firstStates(in.get(4), width), hidden, cells, active);
            Elements.write(batch.restored(hidden, width), Checks.tensor(out, 0));
            Elements.write(batch.restored(cells, width), Checks.tensor(out, 1));
            Elements.write(gates, Checks.tensor(out, 2));
            Elements.write(active, Checks.tensor(out, 3));
        }, Arrays.asList(input, weight, l.in("Bias"), l.optional("H0"), l.optional("C0"), l.lod("Input")),
                List.of(l.output("Hidden"), l.outputOrTemporary("Cell", states),
                        l.outputOrTemporary("BatchGate", input.spec()),
                        l.outputOrTemporary("BatchCellPreAct", states)));
    }

    private static void gradient(Lowering l) {
        Settings settings = Settings.of(l);
        Operand weight = l.in("Weight");
        int width = Math.toIntExact(weight.dim(0));
        long sequences = l.has("H0") ? l.in("H0").dim(0) : 0;
        TensorSpec first = TensorSpec.of(weight.dtype(), sequences, width);
        l.call(TYPE + "_grad", (in, out) -> {
            Tensor hidden = Checks.tensor(in, 5);
            SequenceBatch batch = settings.batch(in.get(10), hidden.shape().dim(0));
            double[] weights = Checks.tensor(in, 1).toDoubleArray();
            double[] bias = Checks.tensor(in, 2).toDoubleArray();
            double[] firstHidden = batch.firstStates(in.get(3), width);
            double[] firstCells = batch.firstStates(in.get(4), width);
            LstmSequences.Saved saved = new LstmSequences.Saved(Checks.tensor(in, 7).toDoubleArray(),
                    batch.ordered(hidden.toDoubleArray(), width),
                    batch.ordered(Checks.tensor(in, 6).toDoubleArray(), width), Checks.tensor(in, 8).toDoubleArray());
            LstmSequences.Gradients to = new LstmSequences.Gradients(new double[saved.gates().length],
                    new double[weights.length], new double[3 * width], new double[firstHidden.length],
                    new double[firstCells.length]);
            settings.sequences(batch, width, weights, bias).backward(saved, firstHidden, firstCells,
                    batch.ordered(Checks.tensor(in, 9).toDoubleArray(), width), to);
            double[] ofBias = new double[bias.length];
            for (int i = 0; i < to.gates().length; i++) {
                ofBias[i % (4 * width)] += to.gates()[i];
            }
            System.arraycopy(to.checks(), 0, ofBias, 4 * width, bias.length - 4 * width);
            Elements.write(batch.restored(to.gates(), 4 * width), Checks.tensor(out, 0));
            Elements.write(to.weights(), Checks.tensor(out, 1));
            Elements.write(ofBias, Checks.tensor(out, 2));
            if (in.get(3) != null) {
                Elements.write(batch.restoredStates(to.firstHidden(), width), Checks.tensor(out, 3));
                Elements.write(batch.restoredStates(to.firstCells(), width), Checks.tensor(out, 4));
            }
        }, Arrays.asList(l.in("Input"), weight, l.in("Bias"), l.optional("H0"), l.optional("C0"), l.in("Hidden"),
                l.in("Cell"), l.in("BatchGate"), l.in("BatchCellPreAct"), l.in("Hidden@GRAD"), l.lod("Input")),
                List.of(l.outputOrTemporary("Input@GRAD", l.in("Input").spec()),
                        l.outputOrTemporary("Weight@GRAD", weight.spec()),
                        l.outputOrTemporary("Bias@GRAD", l.in("Bias").spec()), l.outputOrTemporary("H0@GRAD", first),
                        l.outputOrTemporary("C0@GRAD", first)));
    }
}
