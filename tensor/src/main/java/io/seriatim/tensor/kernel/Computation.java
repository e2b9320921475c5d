package io.seriatim.tensor.kernel;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The name and the typed parameters of an operation. Implementations are records, so that equal computations are equal.
 */
public interface Computation {
    /**
     * The operation's name.
     *
     * @return for instance {@code matmul}
     */
    String operation();

    /**
     * Checks the inputs and infers the outputs.
     *
     * @param inputs
     *            in the order that the record's Javadoc gives; null for an optional one that is left out
     * @return the outputs, row-major, in order
     * @throws IllegalArgumentException
     *             if the inputs do not fit; the message names the operation, the inputs and the rule
     */
    TensorSpec[] infer(@Nullable TensorSpec... inputs);

    /**
     * The type by which a kernel is chosen.
     *
     * @param arguments
     *            inputs, then outputs
     * @return the first input's type, unless the record says otherwise
     */
    default DType keyType(@Nullable TensorSpec... arguments) {
        for (TensorSpec argument : arguments) {
            if (argument != null) {
                return argument.dtype();
            }
        }
        throw new IllegalArgumentException(operation() + " needs at least one tensor");
    }

    /**
     * Whether an input is changed, as an optimizer changes a parameter.
     *
     * @param input
     *            its index
     * @return false unless the record says otherwise
     */
    default boolean mutates(int input) {
        return false;
    }

    /**
     * Whether its kernels take an operand in another floating-point type than {@link #infer} gives it. Inputs are
     * widened, which is exact; a result is computed in the wider type, and rounded once to its own.
     *
     * @param argument
     *            its index among inputs and outputs
     * @return false unless the record says otherwise
     */
    default boolean mixes(int argument) {
        return false;
    }

    /**
     * Whether the first output that is not left out may lie where an input lies: at the same offset of the same buffer,
     * with the same spec. It then gets just what it would get in memory of its own, from every kernel that comes with
     * this module, and the input is lost. The other operands must not overlap it, except those that lie exactly there
     * too and of which this also says so.
     *
     * @param input
     *            its index
     * @param arguments
     *            inputs, then outputs; null for those that are left out
     * @return false unless the record says otherwise, and always if the two specs differ, or name an element twice
     */
    default boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return false;
    }

    /**
     * How it may be computed in parts, the best way first.
     *
     * @param arguments
     *            inputs, then outputs; null for those that are left out
     * @return none unless the record says otherwise
     */
    default List<Split> splits(@Nullable TensorSpec... arguments) {
        return List.of();
    }

    /**
     * What a part of it computes.
     *
     * @param split
     *            one of {@link #splits}
     * @param part
     *            the places of the part
     * @param arguments
     *            inputs, then outputs, of the whole; null for those that are left out
     * @return this computation, unless the split has a {@linkplain Split#window window}
     */
    default Computation part(Split split, Split.Range part, @Nullable TensorSpec... arguments) {
        return this;
    }
}
