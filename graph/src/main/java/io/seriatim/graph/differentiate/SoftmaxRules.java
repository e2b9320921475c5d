package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.OneHot;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import java.util.List;
import java.util.Objects;

/** Softmax, its logarithm, and cross entropy. */
final class SoftmaxRules {
    private SoftmaxRules() {
    }

    static void register() {
        Rules.rule(Softmax.class, (softmax, d) -> d.give(0,
                d.l().run(new SoftmaxGrad(softmax.axis(), softmax.log()), d.out(0), d.gradient())));
        Rules.expand(SoftmaxGrad.class, (grad, l, in) -> List.of(
                gradient(grad, new Term(l, Objects.requireNonNull(in.get(0))),
                        new Term(l, Objects.requireNonNull(in.get(1))))));
        Rules.rule(CrossEntropy.class, SoftmaxRules::crossEntropy);
        Rules.expand(CrossEntropyGrad.class, (grad, l, in) -> List.of(
                gradient(grad.forward(), l, new Term(l, Objects.requireNonNull(in.get(0))),
                        Objects.requireNonNull(in.get(1)), new Term(l, Objects.requireNonNull(in.get(2))))));
    }

    private static Operand gradient(SoftmaxGrad grad, Term y, Term dy) {
        if (grad.log()) {
            return dy.minus(y.unary(Unary.Function.EXP).times(sum(dy, grad.axis()))).operand();
        }
        return y.times(dy.minus(sum(dy.times(y), grad.axis()))).operand();
    }

    private static Term sum(Term values, int axis) {
        List<Integer> axes = values.operand().rank() == 0 ? List.of() : List.of(axis);
        return new Term(values.l(), values.l().run(new Reduction(Reduction.Function.SUM, axes, true),
                values.operand()));
    }

    private static void crossEntropy(CrossEntropy entropy, Derivative d) {
        Lowering l = d.l();
        Operand ofSoftmax = d.gradient(0);
        Operand ofLoss = d.gradient(1);
        if (ofSoftmax != null && d.wants(0)) {
            d.give(0, l.run(new SoftmaxGrad(entropy.axis(), false), d.out(0), ofSoftmax));
        }
        if (ofLoss == null) {
            return;
        }
        if (d.wants(0)) {
            d.give(0, l.run(new CrossEntropyGrad(entropy), d.out(0), d.in(1), ofLoss));
        }
        if (d.wants(1)) {
            Operand logarithm = l.run(new Softmax(entropy.axis(), true), d.in(0));
            d.give(1, d.term(logarithm).times(d.term(ofLoss)).unary(Unary.Function.NEGATE).operand());
        }
    }

    private static Operand gradient(CrossEntropy entropy, Lowering l, Term softmax, Operand labels, Term dloss) {
        if (entropy.soft()) {
            return dloss.times(softmax.minus(new Term(l, labels))).operand();
        }
        int axis = softmax.operand().shape().axis(entropy.axis());
        Operand ignored =
                l.binary(Binary.Function.EQUAL, labels, l.number(labels.dtype(), (double) entropy.ignoreIndex()));
        Operand classes = l.run(new Where(), ignored, l.fill(0, labels.spec()), labels);
        Operand ones = l.run(new OneHot(softmax.operand().dim(axis), softmax.operand().dtype()),
                classes.squeeze(axis));
        Term difference = softmax.minus(new Term(l, Views.fromEnd(ones, axis)));
        Term counted = new Term(l, ignored).choose(dloss.number(0), dloss);
        return counted.times(difference).operand();
    }
}
