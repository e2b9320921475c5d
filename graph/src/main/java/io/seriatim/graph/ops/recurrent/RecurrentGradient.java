package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.convolution.ConvolutionOperations;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.computation.network.RecurrenceGrad;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The gradient of a recurrent network, from the last layer to the first. */
final class RecurrentGradient {
    private static final MatMul TRANSPOSED = new MatMul(true, false, false, List.of());
    private static final Reduction OVER_ROWS = new Reduction(Reduction.Function.SUM, List.of(0), false);

    private final Lowering l;
    private final RecurrentNetwork network;
    private final Operand reserve;
    private final @Nullable Operand kept;

    RecurrentGradient(Lowering l) {
        this.l = l;
        Operand input = l.in("Input");
        network = RecurrentNetwork.of(l.attrs(), input.shape().dims());
        reserve = l.in("Reserve");
        kept = RecurrentOperations.drops(l.attrs())
                ? RecurrentOperations.kept(l, l.in("DropoutState"), input.dtype())
                : null;
    }

    private Operand masked(Operand values) {
        return kept == null ? values : l.binary(Function.MULTIPLY, values, kept);
    }

    void lower() {
        Operand dy = l.optional("Out@GRAD");
        for (int layer = network.layers() - 1; layer >= 0; layer--) {
            Operand input = layer == 0 ? l.in("Input") : masked(network.output(reserve, layer - 1));
            Operand dinput = layer(layer, input, dy);
            if (dinput == null) {
                return;
            }
            Operand gradient = dinput.reshape(input.shape().dims());
            if (layer == 0) {
                l.out("Input@GRAD", gradient);
            } else {
                dy = masked(gradient);
            }
        }
    }

    /** The gradients of a layer's weights, and that of its input, as rows; null if the latter is not wanted. */
    private @Nullable Operand layer(int layer, Operand input, @Nullable Operand dy) {
        Operand rows = RecurrentOperations.matrix(l, input);
        Operand sum = null;
        for (int direction = 0; direction < network.directions(); direction++) {
            int row = network.row(layer, direction);
            Operand dgates = direction(layer, direction, rows, dy);
            if (layer > 0 || l.wants("Input@GRAD")) {
                sum = ConvolutionOperations.sum(l, sum,
                        l.run(MatMul.PLAIN, dgates, l.in("WeightList", network.weights(row, false))));
            }
        }
        return sum;
    }

    /** The gradient of the gates' input part, as rows. */
    private Operand direction(int layer, int direction, Operand input, @Nullable Operand dy) {
        int row = network.row(layer, direction);
        Recurrence recurrence = network.recurrence(direction, l.has("SequenceLength"));
        Operand y = layer == network.layers() - 1 ? l.in("Out") : network.output(reserve, layer);
        List<@Nullable Operand> in = new ArrayList<>();
        in.add(network.direction(y, direction));
        if (network.cell().saved() > 0) {
            in.add(network.saved(reserve, row));
        }
        in.add(network.ofState(l.in("WeightList", network.weights(row, true))));
        for (int i = 0; i < network.states(); i++) {
            in.add(l.in("PreState", i).select(0, row));
        }
        RecurrentOperations.addMore(l, network, row, in);
        if (l.has("SequenceLength")) {
            in.add(l.in("SequenceLength"));
        }
        in.add(dy == null ? null : network.direction(dy, direction));
        for (int i = 0; i < network.states(); i++) {
            in.add(i < l.count("State@GRAD") ? l.in("State@GRAD", i).select(0, row) : null);
        }
        TensorSpec gates = TensorSpec.of(y.dtype(), network.steps(), network.batch(), network.gates());
        Operand dx = l.temporary(gates);
        Operand before = l.temporary(TensorSpec.of(y.dtype(), network.steps(), network.batch(), network.size()));
        List<@Nullable Operand> out = new ArrayList<>(List.of(dx, before));
        for (int i = 0; i < network.states(); i++) {
            out.add(l.wants("PreState@GRAD", i) ? l.output("PreState@GRAD", i).select(0, row) : null);
        }
        Operand du = dx;
        if (network.cell() == Recurrence.Cell.GRU) {
            du = l.temporary(gates);
            out.add(du);
        }
        if (network.cell() == Recurrence.Cell.PEEPHOLE_LSTM) {
            int peepholes = network.peepholes(row);
            out.add(l.wants("WeightList@GRAD", peepholes) ? l.output("WeightList@GRAD", peepholes) : null);
        }
        l.into(new RecurrenceGrad(recurrence), in, out);
        Operand rows = RecurrentOperations.matrix(l, dx);
        parameters(network.weights(row, false), network.bias(row, false), rows, input);
        Operand state = RecurrentOperations.matrix(l, before);
        int weights = network.weights(row, true);
        int bias = network.bias(row, true);
        if (network.cell() == Recurrence.Cell.RESET_GRU) {
            bias(bias, rows);
            if (l.wants("WeightList@GRAD", weights)) {
                Operand gradient = l.output("WeightList@GRAD", weights);
                long from = network.resetFrom();
                // The last part of what is saved is the states that were reset.
                Operand reset = RecurrentOperations.matrix(l, network.saved(reserve, row))
                        .slice(1, network.gates(), network.gates() + network.size());
                l.into(TRANSPOSED, List.of(rows.slice(1, 0, from), state), List.of(network.ofState(gradient)));
                l.into(TRANSPOSED, List.of(rows.slice(1, from, network.gates()), reset),
                        List.of(network.ofReset(gradient)));
            }
        } else {
            parameters(weights, bias, RecurrentOperations.matrix(l, du), state);
        }
        return rows;
    }

    /** The gradients of weights and bias from those of their product, and what was multiplied. */
    private void parameters(int weights, int bias, Operand gradient, Operand factor) {
        if (l.wants("WeightList@GRAD", weights)) {
            l.out("WeightList@GRAD", weights, l.run(TRANSPOSED, gradient, factor));
        }
        bias(bias, gradient);
    }

    private void bias(int bias, Operand gradient) {
        if (l.wants("WeightList@GRAD", bias)) {
            l.out("WeightList@GRAD", bias, l.run(OVER_ROWS, gradient));
        }
    }
}
