package io.seriatim.executor.ir;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The types, shapes and shared memory for which a plan is compiled.
 *
 * @param externals
 *            by external value, its type and shape; empty if it has no tensor
 * @param sharing
 *            the external values that share memory
 */
public record ExternalShapes(List<Optional<TensorSpec>> externals, Sharing sharing) {
    /** An odd number whose bits look random: that of the golden ratio. */
    private static final long FACTOR = 0x9E3779B97F4A7C15L;

    /** Returns those of the external values of a run. */
    public static ExternalShapes of(@Nullable Object[] externals, Sharing sharing) {
        return new ExternalShapes(Arrays.stream(externals)
                .map(each -> each instanceof Tensor tensor
                        ? Optional.of(tensor.spec().rowMajor())
                        : Optional.<TensorSpec>empty())
                .toList(), sharing);
    }

    /** Returns a number for what is equal, which takes less memory than the shapes of many parameters. */
    public long key() {
        long key = sharing.hashCode();
        for (Optional<TensorSpec> external : externals) {
            key = key * FACTOR + external.map(each -> 1L + each.dtype().name().hashCode()).orElse(0L);
            if (external.isPresent()) {
                for (long size : external.get().shape().dims()) {
                    key = (key ^ key >>> 29) * FACTOR + size + 1;
                }
            }
        }
        return key;
    }

    @Override
    public String toString() {
        return "the plan of a block for the shapes "
                + externals.stream().flatMap(Optional::stream).map(TensorSpec::toString).toList();
    }
}
