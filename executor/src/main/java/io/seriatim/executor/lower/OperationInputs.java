package io.seriatim.executor.lower;

import io.seriatim.executor.ir.ConstantElements;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.ArgType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The inputs of an operation that decide on what it is folded or lowered to: the types of the values that it reads, and
 * their elements, as far as they are constants. Inputs of operations that are equal but for names may be equal. A key
 * of maps.
 */
final class OperationInputs {
    private final int operation;
    private final @Nullable ArgType[] types;
    private final @Nullable Tensor[] constants;
    private final int hash;

    private OperationInputs(int operation, @Nullable ArgType[] types, @Nullable Tensor[] constants) {
        this.operation = operation;
        this.types = types;
        this.constants = constants;
        int sum = 31 * operation + Arrays.hashCode(types);
        for (Tensor constant : constants) {
            sum = 31 * sum + (constant == null ? 0 : ConstantElements.hash(constant));
        }
        this.hash = sum;
    }

    /**
     * Returns those of an operation.
     *
     * @param operation
     *            the first equal operation
     * @param reads
     *            the values that it reads
     * @param hasElements
     *            whether the results follow from elements too
     * @param known
     *            by value, its type
     */
    static OperationInputs of(int operation, int[] reads, boolean hasElements, @Nullable ArgType[] known,
            ValueTable values) {
        @Nullable
        ArgType[] types = new ArgType[reads.length];
        @Nullable
        Tensor[] constants = new Tensor[hasElements ? reads.length : 0];
        for (int i = 0; i < reads.length; i++) {
            types[i] = known[reads[i]];
            if (hasElements) {
                constants[i] = values.constant(reads[i]);
            }
        }
        return new OperationInputs(operation, types, constants);
    }

    @Override
    public boolean equals(@Nullable Object object) {
        if (!(object instanceof OperationInputs other) || hash != other.hash || operation != other.operation
                || constants.length != other.constants.length || !Arrays.equals(types, other.types)) {
            return false;
        }
        for (int i = 0; i < constants.length; i++) {
            if (!ConstantElements.areEqual(constants[i], other.constants[i])) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
