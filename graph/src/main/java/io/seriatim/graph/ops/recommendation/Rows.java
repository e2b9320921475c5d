package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.MatMul;
import java.util.Arrays;
import java.util.List;

/**
 * Products of the rows of a batch with some rows of a table each: numbers [batch, count] from indexes [batch, count],
 * and their gradients.
 */
final class Rows {
    private static final Gather ROWS = new Gather(0, Gather.NO_PADDING);

    private Rows() {
    }

    /** The rows of a table, [batch, count, features]. */
    static Operand of(Lowering l, String slot, Operand indexes) {
        return l.run(ROWS, l.in(slot), indexes);
    }

    /** The elements of a table of numbers, [batch, count]. */
    static Operand numbers(Lowering l, String slot, Operand indexes) {
        Operand table = l.in(slot);
        return l.run(ROWS, l.reshape(table, table.shape().size()), indexes);
    }

    /**
     * The gradients of the input, of the table of rows, and of that of numbers.
     *
     * @param slopes
     *            the gradients of the products, [batch, count]
     */
    static void gradients(Lowering l, String inputGradient, String table, String numbers, Operand indexes,
            Operand slopes, Operand input) {
        long batch = slopes.dim(0);
        if (l.wants(inputGradient)) {
            Operand product = l.run(MatMul.PLAIN, slopes.unsqueeze(1), of(l, table, indexes));
            l.out(inputGradient, l.reshape(product, batch, input.dim(1)));
        }
        if (l.wants(table + "@GRAD")) {
            tableGradient(l, table, indexes,
                    l.binary(Binary.Function.MULTIPLY, slopes.unsqueeze(2), input.unsqueeze(1)));
        }
        if (l.wants(numbers + "@GRAD")) {
            long[] dims = l.in(numbers).shape().dims();
            GatherGrad sum = new GatherGrad(ROWS, List.of(l.in(numbers).shape().size()));
            l.out(numbers + "@GRAD", l.reshape(l.run(sum, slopes, indexes), dims));
        }
    }

    /** Of some rows only where the operation is sparse; a row may be there several times. */
    private static void tableGradient(Lowering l, String table, Operand indexes, Operand gradients) {
        long[] dims = l.in(table).shape().dims();
        long count = indexes.shape().size();
        if (l.attrs().getBool("is_sparse")) {
            l.into(new Copy(DType.INT64), List.of(l.reshape(indexes, count)),
                    List.of(l.outputRowIndexes(table + "@GRAD")));
            l.out(table + "@GRAD", l.reshape(gradients, count, dims[1]));
        } else {
            l.out(table + "@GRAD",
                    l.run(new GatherGrad(ROWS, Arrays.stream(dims).boxed().toList()), gradients, indexes));
        }
    }
}
