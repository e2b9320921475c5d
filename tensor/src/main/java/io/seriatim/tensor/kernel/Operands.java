package io.seriatim.tensor.kernel;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Checks of an operation's operands, with messages that name it. */
@SuppressWarnings("ArrayRecordComponent")
record Operands(String operation, @Nullable TensorSpec[] all) {
    static Operands of(String operation, @Nullable TensorSpec[] all, int least, int most) {
        if (all.length < least || all.length > most) {
            throw new IllegalArgumentException(
                    operation + " takes " + (least == most ? "" + least : least + " to " + most) + " inputs, but got " + all.length);
        }
        return new Operands(operation, all);
    }

    TensorSpec get(int index, String name) {
        TensorSpec spec = index < all.length ? all[index] : null;
        if (spec == null) {
            throw new IllegalArgumentException(operation + " needs the input " + name);
        }
        return spec;
    }

    @Nullable
    TensorSpec optional(int index) {
        return index < all.length ? all[index] : null;
    }

    @FormatMethod
    void require(boolean holds, String rule, Object... values) {
        if (!holds) {
            throw new IllegalArgumentException(
                    operation + ": " + String.format(java.util.Locale.ROOT, rule, values) + "; the inputs are " + Arrays.toString(all));
        }
    }

    void sameType(TensorSpec a, TensorSpec b, String names) {
        require(a.dtype() == b.dtype(), "%s must have one type, but are %s and %s", names, a.dtype(), b.dtype());
    }

    void floating(TensorSpec spec, String name) {
        require(spec.dtype().isFloating(), "%s must be of a floating-point type, but is %s", name, spec.dtype());
    }

    void whole(TensorSpec spec, String name) {
        require(spec.dtype() == DType.INT32 || spec.dtype() == DType.INT64, "%s must be int32 or int64, but is %s", name, spec.dtype());
    }
}
