package io.seriatim.executor.ir;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A constant as a key of maps: short ones are compared by type, shape and elements, floats by their bits, all others by
 * identity.
 */
public final class ConstantElements {
    /** The most elements of a constant that is compared by them. */
    private static final int MOST_COMPARED = 64;

    private final Tensor constant;
    private final int hash;

    public ConstantElements(Tensor constant) {
        this.constant = constant;
        this.hash = hash(constant);
    }

    /** Returns a number that is the same for equal constants. */
    public static int hash(Tensor constant) {
        if (!isShort(constant)) {
            return System.identityHashCode(constant);
        }
        return constant.dtype() == DType.FLOAT32
                ? Arrays.hashCode(constant.toFloatArray())
                : Arrays.hashCode(constant.toLongArray());
    }

    private static boolean isShort(Tensor constant) {
        boolean isWhole = !constant.dtype().isFloating() && !constant.dtype().isComplex();
        return (isWhole || constant.dtype() == DType.FLOAT32) && constant.shape().size() <= MOST_COMPARED
                && constant.lod().equals(Lod.NONE);
    }

    /** Returns whether two constants surely have the same type, shape and elements, or both are none. */
    @SuppressWarnings("ReferenceEquality") // The same constant has the same elements.
    public static boolean areEqual(@Nullable Tensor one, @Nullable Tensor other) {
        return one == other || (one != null && other != null && isShort(one) && isShort(other)
                && one.dtype() == other.dtype() && one.shape().equals(other.shape()) && haveEqualElements(one, other));
    }

    private static boolean haveEqualElements(Tensor one, Tensor other) {
        if (one.dtype() != DType.FLOAT32) {
            return Arrays.equals(one.toLongArray(), other.toLongArray());
        }
        float[] a = one.toFloatArray();
        float[] b = other.toFloatArray();
        for (int i = 0; i < a.length; i++) {
            if (Float.floatToRawIntBits(a[i]) != Float.floatToRawIntBits(b[i])) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(@Nullable Object object) {
        return object instanceof ConstantElements other && hash == other.hash && areEqual(constant, other.constant);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
