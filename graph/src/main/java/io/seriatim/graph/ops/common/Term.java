package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;

/** An operand in a formula, which is written from left to right. */
public record Term(Lowering l, Operand operand) {
    public static Term of(Lowering l, String slot) {
        return new Term(l, l.in(slot));
    }

    private Term with(Operand result) {
        return new Term(l, result);
    }

    private Term binary(Binary.Function function, Term other) {
        return with(l.binary(function, operand, other.operand));
    }

    public Term number(double value) {
        return with(l.number(operand.dtype(), value));
    }

    public Term unary(Unary.Function function) {
        return with(l.unary(function, operand));
    }

    public Term plus(Term other) {
        return binary(Binary.Function.ADD, other);
    }

    public Term minus(Term other) {
        return binary(Binary.Function.SUBTRACT, other);
    }

    public Term times(Term other) {
        return binary(Binary.Function.MULTIPLY, other);
    }

    public Term over(Term other) {
        return binary(Binary.Function.DIVIDE, other);
    }

    /** One computation, whose factors are float32; of float64, two. */
    public Term linear(double scale, double bias) {
        return operand.dtype() == DType.FLOAT64
                ? times(number(scale)).plus(number(bias))
                : with(l.linear(operand, scale, bias));
    }

    public Term isAbove(double bound) {
        return binary(Binary.Function.GREATER, number(bound));
    }

    public Term isBelow(double bound) {
        return binary(Binary.Function.LESS, number(bound));
    }

    public Term is(Binary.Function relation, Term other) {
        return binary(relation, other);
    }

    public Term and(Term other) {
        return binary(Binary.Function.LOGICAL_AND, other);
    }

    public Term or(Term other) {
        return binary(Binary.Function.LOGICAL_OR, other);
    }

    /** Where this truth value holds the one, else the other. */
    public Term choose(Term one, Term other) {
        return with(l.run(new Where(), operand, one.operand, other.operand));
    }

    /** Where this truth value holds the one, else 0. */
    public Term orZero(Term one) {
        return choose(one, one.number(0));
    }

    public void to(String slot) {
        l.out(slot, operand);
    }
}
