package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A recurrent network as a step of operations for each of its cells, of which there are gradients of every order; a
 * {@code Recurrence} computes the same faster.
 */
final class RecurrentSteps {
    private static final MatMul WITH_BIAS = new MatMul(false, true, true, List.of());

    private final Lowering l;
    private final RecurrentNetwork network;

    RecurrentSteps(Lowering l) {
        this.l = l;
        network = RecurrentNetwork.of(l.attrs(), l.in("Input").shape().dims());
    }

    void lower() {
        Operand input = l.in("Input");
        Operand kept = RecurrentOperations.drops(l.attrs())
                ? RecurrentOperations.kept(l, RecurrentOperations.mask(l, network), input.dtype())
                : null;
        Operand output = input;
        for (int layer = 0; layer < network.layers(); layer++) {
            output = l.temporary(network.outputSpec(input.dtype()));
            for (int direction = 0; direction < network.directions(); direction++) {
                cells(layer, direction, input, network.direction(output, direction));
            }
            input = kept == null ? output : l.binary(Function.MULTIPLY, output, kept);
        }
        l.out("Out", output);
    }

    private void cells(int layer, int direction, Operand input, Operand output) {
        int row = network.row(layer, direction);
        Operand gates = l.run(WITH_BIAS, RecurrentOperations.matrix(l, input),
                l.in("WeightList", network.weights(row, false)), l.in("WeightList", network.bias(row, false)))
                .reshape(network.steps(), network.batch(), network.gates());
        List<Term> states = new ArrayList<>();
        for (int i = 0; i < network.states(); i++) {
            states.add(new Term(l, l.in("PreState", i).select(0, row)));
        }
        for (long i = 0; i < network.steps(); i++) {
            long step = network.isBackwards(direction) ? network.steps() - 1 - i : i;
            Operand u = l.run(WITH_BIAS, states.getFirst().operand(),
                    network.ofState(l.in("WeightList", network.weights(row, true))),
                    network.ofState(l.in("WeightList", network.bias(row, true))));
            List<Term> next = cell(row, new Term(l, gates.select(0, step)), new Term(l, u), states);
            Term within = within(step);
            Term y = within == null ? next.getFirst() : within.orZero(next.getFirst());
            l.into(Copy.PLAIN, List.of(y.operand()), List.of(output.select(0, step)));
            for (int s = 0; s < states.size(); s++) {
                states.set(s, within == null ? next.get(s) : within.choose(next.get(s), states.get(s)));
            }
        }
        for (int s = 0; s < states.size(); s++) {
            if (l.wants("State", s)) {
                l.into(Copy.PLAIN, List.of(states.get(s).operand()), List.of(l.output("State", s).select(0, row)));
            }
        }
    }

    /** Which sequences have a step, [batch, 1]; null if all do. */
    private @Nullable Term within(long step) {
        return l.has("SequenceLength")
                ? new Term(l, l.in("SequenceLength").unsqueeze(1)).isAbove((double) step)
                : null;
    }

    private Term gate(Term gates, int number) {
        long from = network.order().place(network.cell(), number) * network.size();
        return new Term(l, gates.operand().slice(1, from, from + network.size()));
    }

    /** A gate with the part of the cell that it sees. */
    private Term peep(int row, Term sum, int number, Term c) {
        long from = network.order().peephole(number) * network.size();
        Operand peepholes = l.in("WeightList", network.peepholes(row)).slice(0, from, from + network.size());
        return gate(sum, number).plus(c.times(new Term(l, peepholes.unsqueeze(0))));
    }

    /** The states after a step. */
    private List<Term> cell(int row, Term x, Term u, List<Term> before) {
        Term h = before.getFirst();
        return switch (network.cell()) {
            case PEEPHOLE_LSTM -> {
                Term sum = x.plus(u);
                Term candidate = gate(sum, 2).unary(Unary.Function.TANH);
                Term kept = peep(row, sum, 1, before.get(1)).unary(Unary.Function.SIGMOID).times(before.get(1));
                Term put = peep(row, sum, 0, before.get(1)).unary(Unary.Function.SIGMOID);
                Term c = kept.plus(put.times(candidate));
                Term out = peep(row, sum, 3, c).unary(Unary.Function.SIGMOID);
                yield List.of(out.times(c.unary(Unary.Function.TANH)), c);
            }
            case RESET_GRU -> {
                Term reset = gate(x, 0).plus(gate(u, 0)).unary(Unary.Function.SIGMOID);
                Term keep = gate(x, 1).plus(gate(u, 1)).unary(Unary.Function.SIGMOID);
                Operand product = l.run(WITH_BIAS, reset.times(h).operand(),
                        network.ofReset(l.in("WeightList", network.weights(row, true))),
                        network.ofReset(l.in("WeightList", network.bias(row, true))));
                Term candidate = gate(x, 2).plus(new Term(l, product)).unary(Unary.Function.TANH);
                yield List.of(candidate.plus(keep.times(h.minus(candidate))));
            }
            case LSTM -> {
                Term sum = x.plus(u);
                Term candidate = gate(sum, 2).unary(Unary.Function.TANH);
                Term kept = gate(sum, 1).unary(Unary.Function.SIGMOID).times(before.get(1));
                Term c = kept.plus(gate(sum, 0).unary(Unary.Function.SIGMOID).times(candidate));
                Term out = gate(sum, 3).unary(Unary.Function.SIGMOID);
                yield List.of(out.times(c.unary(Unary.Function.TANH)), c);
            }
            case GRU -> {
                Term reset = gate(x, 0).plus(gate(u, 0)).unary(Unary.Function.SIGMOID);
                Term keep = gate(x, 1).plus(gate(u, 1)).unary(Unary.Function.SIGMOID);
                Term candidate = gate(x, 2).plus(reset.times(gate(u, 2))).unary(Unary.Function.TANH);
                yield List.of(candidate.plus(keep.times(h.minus(candidate))));
            }
            case TANH -> List.of(x.plus(u).unary(Unary.Function.TANH));
            case RELU -> List.of(x.plus(u).unary(Unary.Function.RELU));
        };
    }
}
