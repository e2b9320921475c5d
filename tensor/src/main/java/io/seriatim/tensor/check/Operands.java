package io.seriatim.tensor.check;

import com.google.errorprone.annotations.FormatMethod;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Checks of an operation's operands, with messages that name it.
 *
 * @param operation
 *            the operation's name
 * @param all
 *            the inputs; null for those that are left out
 */
@SuppressWarnings("ArrayRecordComponent")
public record Operands(String operation, @Nullable TensorSpec[] all) {
    /** Checks the number of inputs. */
    public static Operands of(String operation, @Nullable TensorSpec[] all, int least, int most) {
        if (all.length < least || all.length > most) {
            throw new IllegalArgumentException(
                    operation + " takes " + (least == most ? "" + least : least + " to " + most) + " inputs, but got "
                            + all.length);
        }
        return new Operands(operation, all);
    }

    /** A required input. */
    public TensorSpec get(int index, String name) {
        TensorSpec spec = index < all.length ? all[index] : null;
        if (spec == null) {
            throw new IllegalArgumentException(operation + " needs the input " + name);
        }
        return spec;
    }

    /** An input that may be left out, or null. */
    @Nullable
    public TensorSpec optional(int index) {
        return index < all.length ? all[index] : null;
    }

    /** Fails with the rule and all inputs unless it holds. */
    @FormatMethod
    public void require(boolean holds, String rule, Object... values) {
        if (!holds) {
            throw new IllegalArgumentException(
                    operation + ": " + String.format(Locale.ROOT, rule, values) + "; the inputs are "
                            + Arrays.toString(all));
        }
    }

    /** Two inputs have one type. */
    public void sameType(TensorSpec a, TensorSpec b, String names) {
        require(a.dtype() == b.dtype(), "%s must have one type, but are %s and %s", names, a.dtype(), b.dtype());
    }

    /** An input is of a floating-point type. */
    public void floating(TensorSpec spec, String name) {
        require(spec.dtype().isFloating(), "%s must be of a floating-point type, but is %s", name, spec.dtype());
    }

    /** An input is of a type that has gradients. */
    public void differentiable(TensorSpec spec, String name) {
        require(spec.dtype().isDifferentiable(), "%s must be of a floating-point or complex type, but is %s", name,
                spec.dtype());
    }

    /** A bias or the operand of a post-op: broadcasts to the result, and is a number of its kind. */
    public void addend(TensorSpec spec, DType dtype, Shape result, String name) {
        require(spec.dtype() == dtype || (spec.dtype().isFloating() && dtype.isFloating()),
                "%s must be %s%s, but is %s", name, dtype,
                dtype.isFloating() ? " or of another floating-point type" : "", spec.dtype());
        long[] dims = spec.shape().dims();
        int added = result.rank() - dims.length;
        boolean fits = added >= 0;
        for (int i = 0; fits && i < dims.length; i++) {
            fits = dims[i] == 1 || dims[i] == result.dim(added + i);
        }
        require(fits, "%s must broadcast to the result %s, but is %s", name, result, spec.shape());
    }

    /** Images have one to three spatial dimensions; weights too. */
    public void images(Shape shape, int spatial, String name) {
        require(spatial >= 1 && spatial <= 3, "there must be one to three spatial dimensions, but there are %d",
                spatial);
        require(shape.rank() == spatial + 2, "%s must have %d dimensions, of which %d are spatial, but has %d", name,
                spatial + 2, spatial,
                shape.rank());
    }

    /** An input holds indexes. */
    public void whole(TensorSpec spec, String name) {
        require(spec.dtype() == DType.INT32 || spec.dtype() == DType.INT64, "%s must be int32 or int64, but is %s",
                name, spec.dtype());
    }

    /** The first output that is not left out, or null. */
    public static @Nullable TensorSpec firstOutput(int inputs, @Nullable TensorSpec[] arguments) {
        for (int i = inputs; i < arguments.length; i++) {
            if (arguments[i] != null) {
                return arguments[i];
            }
        }
        return null;
    }

    /** Whether the first output is described as an input is, by a spec that names no element twice. */
    public static boolean alike(int input, int inputs, @Nullable TensorSpec[] arguments) {
        TensorSpec x = input < inputs ? arguments[input] : null;
        return x != null && x.equals(firstOutput(inputs, arguments)) && isPlain(x);
    }

    /** Whether the elements are contiguous in any order of the dimensions, as those of a transposed tensor are. */
    public static boolean isDense(TensorSpec spec) {
        if (spec.isRowMajor()) {
            return true;
        }
        if (!(spec.layout() instanceof Layout.Strided strided)) {
            return false;
        }
        long[] strides = strided.strides();
        int[] order = IntStream.range(0, strides.length).filter(i -> spec.shape().dim(i) != 1).boxed()
                .sorted(Comparator.comparingLong(i -> strides[i])).mapToInt(Integer::intValue).toArray();
        long expected = 1;
        for (int i : order) {
            if (strides[i] != expected) {
                return false;
            }
            expected *= spec.shape().dim(i);
        }
        return true;
    }

    /** Whether all have the same shape, with elements that are contiguous in the same order of the dimensions. */
    public static boolean areDenseAlike(TensorSpec... specs) {
        return isDense(specs[0]) && Arrays.stream(specs).allMatch(spec -> spec.shape().equals(specs[0].shape())
                && !(spec.layout() instanceof Layout.Opaque) && Arrays.equals(spec.strides(), specs[0].strides()));
    }

    private static boolean isPlain(TensorSpec spec) {
        return switch (spec.layout()) {
            case Layout.RowMajor _ -> true;
            case Layout.Opaque _ -> false;
            case Layout.Strided strided -> {
                long[] strides = strided.strides();
                boolean plain = true;
                for (int i = 0; i < strides.length; i++) {
                    plain &= strides[i] != 0 || spec.shape().dim(i) == 1;
                }
                yield plain;
            }
        };
    }
}
