package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.GatherNd;
import io.seriatim.tensor.computation.PutAlongAxis;
import io.seriatim.tensor.computation.Range;
import io.seriatim.tensor.computation.Scatter;
import io.seriatim.tensor.computation.ScatterNd;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.kernel.Computation;
import java.util.Arrays;
import java.util.List;

/** Computations that move elements by indexes. */
final class IndexRules {
    private IndexRules() {
    }

    static void register() {
        Rules.rule(Gather.class, (gather, d) -> {
            List<Long> shape = Arrays.stream(d.like(0).shape().dims()).boxed().toList();
            d.give(0, d.l().run(new GatherGrad(gather, shape), d.gradient(), d.in(1)));
        });
        Rules.rule(GatherGrad.class,
                (grad, d) -> d.give(0, d.l().run(grad.forward(), d.gradient(), d.in(1))));
        Rules.rule(GatherNd.class, (_, d) -> d.give(0,
                d.l().run(new ScatterNd(ScatterNd.Function.ADD), zeros(d), d.in(1), d.gradient())));
        Rules.rule(ScatterNd.class, IndexRules::scatterNd);
        Rules.rule(TakeAlongAxis.class, (take, d) -> d.give(0,
                d.l().run(new PutAlongAxis(take.axis(), true), zeros(d), d.in(1), d.gradient())));
        Rules.rule(PutAlongAxis.class, IndexRules::put);
        Rules.rule(Scatter.class, IndexRules::scatter);
        Rules.rule(TopK.class, (top, d) -> d.give(0,
                d.l().run(new PutAlongAxis(top.axis(), true), zeros(d), d.out(1), d.gradient())));
    }

    private static Operand zeros(Derivative d) {
        return d.l().fill(0, d.like(0).spec());
    }

    private static void put(PutAlongAxis put, Derivative d) {
        if (put.add()) {
            d.give(0, d.gradient());
        } else if (d.wants(0)) {
            d.give(0, d.l().run(put, d.gradient(), d.in(1), d.l().fill(0, d.like(2).spec())));
        }
        if (d.wants(2)) {
            Operand taken = d.l().run(new TakeAlongAxis(put.axis()), d.gradient(), d.in(1));
            d.give(2, put.add() ? taken : winning(d, put, new TakeAlongAxis(put.axis()), taken));
        }
    }

    private static void scatterNd(ScatterNd scatter, Derivative d) {
        boolean adds = switch (scatter.function()) {
            case ASSIGN -> false;
            case ADD -> true;
            case MULTIPLY, MAXIMUM, MINIMUM -> throw new IllegalArgumentException(
                    scatter.function() + " of slices at indexes has no gradient");
        };
        if (adds) {
            d.give(0, d.gradient());
        } else if (d.wants(0)) {
            d.give(0, d.l().run(scatter, d.gradient(), d.in(1), d.l().fill(0, d.like(2).spec())));
        }
        if (d.wants(2)) {
            Operand taken = d.l().run(new GatherNd(), d.gradient(), d.in(1));
            d.give(2, adds ? taken : winning(d, scatter, new GatherNd(), taken));
        }
    }

    /** Of values that were put at one place only the last counts: the one whose own number is found there. */
    private static Operand winning(Derivative d, Computation put, Computation take, Operand gradient) {
        Lowering l = d.l();
        Operand numbers = l.temporary(TensorSpec.of(DType.INT64, d.like(2).shape()));
        l.into(new Range(0, 1), List.of(), List.of(numbers));
        Operand places = l.run(put, l.fill(-1, TensorSpec.of(DType.INT64, d.like(0).shape())), d.in(1), numbers);
        Operand found = l.run(take, places, d.in(1));
        return d.term(l.binary(Binary.Function.EQUAL, found, l.reshape(numbers, found.shape().dims())))
                .orZero(d.term(gradient)).operand();
    }

    private static void scatter(Scatter scatter, Derivative d) {
        if (d.wants(0)) {
            d.give(0, d.l().run(new Scatter(true), d.gradient(), d.in(1), d.l().fill(0, d.like(2).spec())));
        }
        if (d.wants(2)) {
            Operand indexes = d.l().reshape(d.in(1), d.like(1).shape().size());
            Operand rows = d.l().run(Gather.of(0), d.gradient(), indexes);
            d.give(2, scatter.overwrite() ? winning(d, scatter, rows) : rows);
        }
    }

    private static Operand winning(Derivative d, Scatter scatter, Operand rows) {
        Lowering l = d.l();
        long count = d.like(1).shape().size();
        Operand numbers = l.temporary(TensorSpec.of(DType.INT64, count));
        l.into(new Range(0, 1), List.of(), List.of(numbers));
        Operand indexes = l.reshape(d.in(1), count);
        Operand places = l.run(scatter, l.fill(-1, TensorSpec.of(DType.INT64, d.like(0).dim(0))), indexes, numbers);
        Operand found = l.run(Gather.of(0), places, indexes);
        long[] dims = new long[rows.rank()];
        Arrays.fill(dims, 1);
        dims[0] = count;
        Operand wins = l.reshape(l.binary(Binary.Function.EQUAL, found, numbers), dims);
        return d.term(wins).orZero(d.term(rows)).operand();
    }
}
