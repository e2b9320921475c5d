package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Recurrences over sequences of different lengths as steps of operations, of which there are gradients of every order;
 * {@link LstmSequences} and {@link GruSequences} compute the same faster. The lengths must be known.
 */
final class SequenceSteps {
    /** The input whose offsets divide rows into sequences. */
    static final String LENGTHS = LodSlot.of("Input");

    private final Lowering l;
    private final SequenceBatch batch;
    private final long width;

    private SequenceSteps(Lowering l) {
        this.l = l;
        Operand input = l.in("Input");
        width = l.in("Weight").dim(0);
        long[] offsets = SequenceOffsets.of(l.type(), "Input", l.lodValue("Input"), input.dim(0)).last();
        batch = SequenceBatch.of(offsets, l.attrs().getBool("is_reverse"));
    }

    static void lstm(Lowering l) {
        new SequenceSteps(l).lstm();
    }

    static void gru(Lowering l) {
        new SequenceSteps(l).gru();
    }

    /** The states after a step, given its gates' sums of input and bias and the states before. */
    @FunctionalInterface
    private interface Cell {
        List<Term> after(Term gates, List<Term> before);
    }

    private Operand rows(Operand of, int[] numbers) {
        long[] indexes = Arrays.stream(numbers).asLongStream().toArray();
        return l.run(Gather.of(0), of, l.constant(Tensor.of(DType.INT64, indexes, numbers.length)));
    }

    private Term firstState(String slot) {
        TensorSpec none = TensorSpec.of(l.in("Input").dtype(), batch.sequences.length, width);
        return new Term(l, l.has(slot) ? rows(l.in(slot), batch.sequences) : l.fill(0, none));
    }

    private Operand withBias(Operand input) {
        if (!l.has("Bias")) {
            return input;
        }
        return new Term(l, input).plus(new Term(l, l.in("Bias").slice(1, 0, input.dim(1)))).operand();
    }

    /** Writes each state, in the order of the sequences, to an output. */
    private void run(List<String> slots, List<Term> first, Cell cell) {
        Operand gates = withBias(rows(l.in("Input"), batch.rows));
        TensorSpec spec = TensorSpec.of(gates.dtype(), gates.dim(0), width);
        List<Operand> all = slots.stream().map(_ -> l.temporary(spec)).toList();
        List<Term> states = first;
        for (int t = 0; t < batch.longest(); t++) {
            long from = batch.steps[t];
            long to = batch.steps[t + 1];
            List<Term> before = new ArrayList<>();
            for (Term state : states) {
                before.add(new Term(l, state.operand().slice(0, 0, to - from)));
            }
            states = cell.after(new Term(l, gates.slice(0, from, to)), before);
            for (int i = 0; i < slots.size(); i++) {
                l.into(Copy.PLAIN, List.of(states.get(i).operand()), List.of(all.get(i).slice(0, from, to)));
            }
        }
        int[] places = new int[batch.rows.length];
        IntStream.range(0, places.length).forEach(i -> places[batch.rows[i]] = i);
        for (int i = 0; i < slots.size(); i++) {
            l.out(slots.get(i), rows(all.get(i), places));
        }
    }

    private Term part(Term of, int number) {
        return new Term(l, of.operand().slice(1, number * width, (number + 1) * width));
    }

    private Term times(Term states, Operand weights) {
        return new Term(l, l.run(MatMul.PLAIN, states.operand(), weights));
    }

    private static Term applied(GateFunction function, Term x) {
        return switch (function) {
            case IDENTITY -> x;
            case SIGMOID -> x.unary(Unary.Function.SIGMOID);
            case TANH -> x.unary(Unary.Function.TANH);
            case RELU -> x.unary(Unary.Function.RELU);
        };
    }

    private GateFunction function(String attribute) {
        return GateFunction.of(l.attrs(), attribute);
    }

    private void lstm() {
        GateFunction ofGates = function("gate_activation");
        boolean peepholes = l.attrs().getBool("use_peepholes");
        Term bias = Term.of(l, "Bias");
        run(List.of("Hidden", "Cell"), List.of(firstState("H0"), firstState("C0")), (gates, before) -> {
            Term sum = gates.plus(times(before.get(0), l.in("Weight")));
            Term cell = before.get(1);
            Term candidate = applied(function("candidate_activation"), part(sum, 0));
            Term in = applied(ofGates, peepholes ? part(sum, 1).plus(cell.times(part(bias, 4))) : part(sum, 1));
            Term forget = applied(ofGates, peepholes ? part(sum, 2).plus(cell.times(part(bias, 5))) : part(sum, 2));
            Term next = candidate.times(in).plus(cell.times(forget));
            Term out = applied(ofGates, peepholes ? part(sum, 3).plus(next.times(part(bias, 6))) : part(sum, 3));
            return List.of(out.times(applied(function("cell_activation"), next)), next);
        });
    }

    private void gru() {
        Operand weights = l.reshape(l.in("Weight"), 3 * width * width);
        Operand ofGates = weights.slice(0, 0, 2 * width * width).reshape(width, 2 * width);
        Operand ofCandidate = weights.slice(0, 2 * width * width, 3 * width * width).reshape(width, width);
        boolean origin = l.attrs().getBool("origin_mode");
        run(List.of("Hidden"), List.of(firstState("H0")), (gates, before) -> {
            Term state = before.getFirst();
            Term products = times(state, ofGates);
            Term update = applied(function("gate_activation"), part(gates, 0).plus(part(products, 0)));
            Term reset = applied(function("gate_activation"), part(gates, 1).plus(part(products, 1)));
            Term candidate = applied(function("activation"),
                    part(gates, 2).plus(times(reset.times(state), ofCandidate)));
            return List.of(origin
                    ? candidate.plus(update.times(state.minus(candidate)))
                    : state.plus(update.times(candidate.minus(state))));
        });
    }
}
