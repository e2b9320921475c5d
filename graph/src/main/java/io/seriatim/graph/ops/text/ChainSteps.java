package io.seriatim.graph.ops.text;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The loss of a chain of tags as steps of operations, of which there are gradients of every order; {@link TagChain}
 * computes the same faster. All sequences go forward together, in logarithms. Lengths and labels must be known.
 */
final class ChainSteps {
    private final Lowering l;
    private final Sequences sequences;
    private final int[] labels;
    private final int tags;
    private final int longest;
    /** The emissions [rows, tags]. */
    private final Operand rows;
    private final Operand weights;

    ChainSteps(Lowering l, String type) {
        this.l = l;
        Operand emission = l.in("Emission");
        tags = Math.toIntExact(emission.dim(-1));
        rows = l.reshape(emission, emission.shape().size() / tags, tags);
        weights = l.in("Transition");
        long[] lengths = l.values("Length");
        sequences = lengths == null
                ? Sequences.divided(type, "Label", l.lodValue("Label").toTensor(), rows.dim(0))
                : Sequences.padded(type, "Length", Tensor.of(DType.INT64, lengths, lengths.length),
                        Math.toIntExact(emission.dim(1)));
        long[] given = Objects.requireNonNull(l.values("Label"));
        labels = TaggingOperations.labels(Tensor.of(DType.INT64, given, given.length), sequences, tags);
        longest = Arrays.stream(sequences.lengths()).max().orElse(0);
    }

    void lower() {
        int count = sequences.count();
        if (longest == 0) {
            l.out("LogLikelihood", l.fill(0, l.outType("LogLikelihood", 0).spec()));
            return;
        }
        Term alpha = step(0).plus(weights(0));
        Term transitions = new Term(l, weights.slice(0, 2, tags + 2));
        for (int t = 1; t < longest; t++) {
            Term ways = new Term(l, alpha.operand().unsqueeze(2)).plus(transitions);
            alpha = isWithin(t).choose(logSum(ways, 1).plus(step(t)), alpha);
        }
        Term all = logSum(alpha.plus(weights(1)), 1);
        Term loss = all.minus(new Term(l, scores()));
        l.out("LogLikelihood", l.reshape(isWithin(0).orZero(new Term(l, loss.operand().unsqueeze(1))).operand(),
                count, 1));
    }

    private Operand indexes(long... numbers) {
        return l.constant(Tensor.of(DType.INT64, numbers, numbers.length));
    }

    /** The weights of the first tags, or of the last. */
    private Term weights(int row) {
        return new Term(l, weights.select(0, row));
    }

    /** The emissions of a step of all sequences; of those that have ended, of some row. */
    private Term step(int t) {
        long[] at = new long[sequences.count()];
        Arrays.setAll(at, i -> t < sequences.lengths()[i] ? sequences.begins()[i] + t : 0);
        return new Term(l, l.run(Gather.of(0), rows, indexes(at)));
    }

    /** Which sequences have a step, [sequences, 1]. */
    private Term isWithin(int t) {
        long[] within = new long[sequences.count()];
        Arrays.setAll(within, i -> t < sequences.lengths()[i] ? 1 : 0);
        return new Term(l, l.constant(Tensor.of(DType.BOOL, within, within.length, 1)));
    }

    /** The logarithm of the sum of exponentials along an axis; what is largest has no effect on the gradient. */
    private Term logSum(Term x, int axis) {
        Term largest = reduced(Reduction.Function.MAX, x, axis, true);
        Term sum = reduced(Reduction.Function.SUM, x.minus(largest).unary(Unary.Function.EXP), axis, false);
        return sum.unary(Unary.Function.LOG).plus(new Term(l, largest.operand().squeeze(axis)));
    }

    private Term reduced(Reduction.Function function, Term x, int axis, boolean keep) {
        return new Term(l, l.run(new Reduction(function, List.of(axis), keep), x.operand()));
    }

    /** The sums of the weights of each sequence's labels. */
    private Operand scores() {
        long[] emissions = new long[WorkingMemory.length(sequences.count(), longest)];
        long[] transitions = new long[emissions.length];
        long[] last = new long[sequences.count()];
        long[] within = new long[emissions.length];
        for (int i = 0; i < last.length; i++) {
            int begin = sequences.begins()[i];
            int length = sequences.lengths()[i];
            for (int t = 0; t < length; t++) {
                int at = begin + t;
                emissions[i * longest + t] = (long) at * tags + labels[at];
                transitions[i * longest + t] = t == 0 ? labels[at] : (labels[at - 1] + 2L) * tags + labels[at];
                within[i * longest + t] = 1;
            }
            last[i] = length == 0 ? tags : tags + labels[begin + length - 1];
        }
        Term ofRows = elements(rows, emissions).plus(elements(weights, transitions));
        Term shown = new Term(l, l.constant(Tensor.of(DType.BOOL, within, within.length))).orZero(ofRows);
        Operand sums = l.run(new Reduction(Reduction.Function.SUM, List.of(1), false),
                shown.operand().reshape(last.length, longest));
        return l.binary(Binary.Function.ADD, sums, elements(weights, last).operand());
    }

    private Term elements(Operand of, long... at) {
        return new Term(l, l.run(Gather.of(0), l.reshape(of, of.shape().size()), indexes(at)));
    }
}
