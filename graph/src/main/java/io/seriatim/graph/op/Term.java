package io.seriatim.graph.op;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.kernel.Binary;
import io.seriatim.tensor.kernel.Unary;
import io.seriatim.tensor.kernel.Where;

/** An operand in a formula, which is written from left to right. */
record Term(Lowering l, Operand operand) {
    static Term of(Lowering l, String slot) {
        return new Term(l, l.in(slot));
    }

    private Term with(Operand result) {
        return new Term(l, result);
    }

    private Term binary(Binary.Function function, Term other) {
        return with(l.binary(function, operand, other.operand));
    }

    Term number(double value) {
        return with(l.number(operand.dtype(), value));
    }

    Term unary(Unary.Function function) {
        return with(l.unary(function, operand));
    }

    Term plus(Term other) {
        return binary(Binary.Function.ADD, other);
    }

    Term minus(Term other) {
        return binary(Binary.Function.SUBTRACT, other);
    }

    Term times(Term other) {
        return binary(Binary.Function.MULTIPLY, other);
    }

    Term over(Term other) {
        return binary(Binary.Function.DIVIDE, other);
    }

    /** One computation, whose factors are float32; of float64, two. */
    Term linear(double scale, double bias) {
        return operand.dtype() == DType.FLOAT64
                ? times(number(scale)).plus(number(bias))
                : with(l.linear(operand, scale, bias));
    }

    Term isAbove(double bound) {
        return binary(Binary.Function.GREATER, number(bound));
    }

    Term isBelow(double bound) {
        return binary(Binary.Function.LESS, number(bound));
    }

    Term is(Binary.Function relation, Term other) {
        return binary(relation, other);
    }

    Term and(Term other) {
        return binary(Binary.Function.LOGICAL_AND, other);
    }

    Term or(Term other) {
        return binary(Binary.Function.LOGICAL_OR, other);
    }

    /** Where this truth value holds the one, else the other. */
    Term choose(Term one, Term other) {
        return with(l.run(new Where(), operand, one.operand, other.operand));
    }

    /** Where this truth value holds the one, else 0. */
    Term orZero(Term one) {
        return choose(one, one.number(0));
    }

    void to(String slot) {
        l.out(slot, operand);
    }
}
