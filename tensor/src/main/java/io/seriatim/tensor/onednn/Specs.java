package io.seriatim.tensor.onednn;

import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.List;

/** What the library can read. */
final class Specs {
    private Specs() {
    }

    /** Whether all run forwards and repeat nothing: other views are for plain Java. */
    static boolean areForward(TensorSpec... specs) {
        return Arrays.stream(specs).allMatch(Specs::isForward);
    }

    /** What a bias or the operand of a post-op must be: the library passes over their strides. */
    static boolean areDense(List<TensorSpec> specs) {
        return specs.stream().allMatch(TensorSpec::isRowMajor);
    }

    private static boolean isForward(TensorSpec spec) {
        if (spec.isRowMajor()) {
            return true;
        }
        if (spec.layout() instanceof Layout.Opaque) {
            return false;
        }
        long[] strides = spec.strides();
        for (int i = 0; i < strides.length; i++) {
            if (spec.shape().dim(i) > 1 && strides[i] <= 0) {
                return false;
            }
        }
        return true;
    }
}
