package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a recurrence. Inputs y, saved (unless s = 0), weights, h, c (LSTM only), what the cell has of its own
 * and lengths (if given) of the forward; then dy, dh and, for LSTM, dc, the gradients of its outputs, each of which may
 * be left out for 0. Outputs dx [t, b, g·h]; h as it was before each step [t, b, h]; the gradients of the first h and,
 * for LSTM, c; for GRU, du [t, b, g·h], the gradient of weights · h + bias, which for the others is dx; and that of
 * peepholes, [3·h]. Each output but dx may be left out. The gradients of weights and bias are du transposed times h
 * before each step, and the sum of du over steps and batch; a candidate's own weights multiply r · h instead, the last
 * part of saved.
 *
 * @param forward
 *            the forward computation
 */
public record RecurrenceGrad(Recurrence forward) implements Computation {
    @Override
    public String operation() {
        return "recurrence_grad";
    }

    /**
     * Where the inputs are.
     *
     * @return the index of the weights
     */
    public int weights() {
        return forward.cell().saved() > 0 ? 2 : 1;
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        boolean lstm = forward.cell().isLstm();
        int states = forward.cell().states();
        int more = weights() + 1 + states;
        int lengthsAt = more + (forward.cell().hasMore() ? 1 : 0);
        int count = lengthsAt + (forward.lengths() ? 1 : 0) + 1 + states;
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec y = in.get(0, "y");
        in.floating(y, "y");
        in.require(y.shape().rank() == 3, "y needs three dimensions");
        long steps = y.shape().dim(0);
        long batch = y.shape().dim(1);
        long size = y.shape().dim(2);
        long gates = forward.cell().gates() * size;
        if (forward.cell().saved() > 0) {
            Recurrence.check(in, "saved", in.get(1, "saved"), y, steps, batch, forward.cell().saved() * size);
        }
        Recurrence.check(in, "weights", in.get(weights(), "weights"), y,
                forward.cell().products() * size, size);
        TensorSpec state = TensorSpec.of(y.dtype(), batch, size);
        for (int i = weights() + 1; i < more; i++) {
            Recurrence.check(in, "a state", in.get(i, "state"), y, batch, size);
        }
        Recurrence.checkMore(in, more, forward.cell(), y, size);
        for (int i = count - 1 - states; i < count; i++) {
            TensorSpec gradient = in.optional(i);
            if (gradient != null) {
                Recurrence.check(in, "the gradient of an output", gradient, y,
                        i == count - 1 - states ? y.shape().dims() : state.shape().dims());
            }
        }
        List<TensorSpec> outputs = new ArrayList<>(
                List.of(TensorSpec.of(y.dtype(), steps, batch, gates), y.rowMajor(), state));
        if (lstm) {
            outputs.add(state);
        }
        if (forward.cell() == Recurrence.Cell.GRU) {
            outputs.add(TensorSpec.of(y.dtype(), steps, batch, gates));
        }
        if (forward.cell() == Recurrence.Cell.PEEPHOLE_LSTM) {
            outputs.add(TensorSpec.of(y.dtype(), 3 * size));
        }
        return outputs.toArray(TensorSpec[]::new);
    }
}
