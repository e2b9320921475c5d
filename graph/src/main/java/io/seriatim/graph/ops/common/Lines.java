package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Operand;

/**
 * The lines of a tensor along an axis.
 *
 * @param length
 *            how many elements a line has
 * @param inner
 *            how far it is from one to the next
 * @param size
 *            how many elements all lines have
 */
public record Lines(int length, int inner, int size) {
    public static Lines of(Operand x, int axis) {
        int at = x.shape().axis(axis);
        return new Lines(Math.toIntExact(x.dim(at)), Math.toIntExact(x.shape().slice(at + 1, x.rank()).size()),
                Math.toIntExact(x.shape().size()));
    }

    public int place(int element) {
        return element / inner % length;
    }

    /** Elements in an order in which those of a line follow one another, from its start or its end. */
    public int element(int number, boolean fromEnd) {
        int line = number / length;
        int place = fromEnd ? length - 1 - number % length : number % length;
        return (line / inner * length + place) * inner + line % inner;
    }
}
