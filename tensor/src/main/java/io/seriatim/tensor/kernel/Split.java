package io.seriatim.tensor.kernel;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A way to compute something in parts: the same computation of parts of the operands gives the same parts of the
 * results, to the bit, if the kernels of all of them are of one provider. Operands with an axis are cut along it, all
 * in the same proportion: if one is longer than another, several of its elements belong to one of the other's.
 *
 * @param axes
 *            for each argument, inputs, then outputs, along which axis it is cut; {@link #WHOLE} for what every part
 *            needs whole, and for what is left out
 * @param least
 *            how many places along the axis a part needs, or else kernels would take it for something else
 */
public record Split(List<Integer> axes, int least) {
    /** In place of an axis: not cut. */
    public static final int WHOLE = -1;

    /** Copies the list. */
    public Split {
        axes = List.copyOf(axes);
    }

    /**
     * With an axis for each argument.
     *
     * @param axes
     *            inputs, then outputs
     * @return the split
     */
    public static Split of(int... axes) {
        return new Split(Arrays.stream(axes).boxed().toList(), 1);
    }

    /**
     * The splits of a computation that treats each channel of each image by itself: by images, or else by channels.
     *
     * @param arguments
     *            the number of inputs and outputs, all of which are cut
     * @return along the first axis, then along the second
     */
    public static List<Split> imagesOrChannels(int arguments) {
        return List.of(new Split(Collections.nCopies(arguments, 0), 1),
                new Split(Collections.nCopies(arguments, 1), 1));
    }

    /**
     * Between how many places it can be cut.
     *
     * @param arguments
     *            inputs, then outputs
     * @return 1 if the operands do not divide alike
     */
    public long length(@Nullable TensorSpec... arguments) {
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < arguments.length; i++) {
            TensorSpec argument = arguments[i];
            if (argument != null && axes.get(i) != WHOLE) {
                shortest = Math.min(shortest, argument.shape().dim(axes.get(i)));
            }
        }
        for (int i = 0; i < arguments.length; i++) {
            TensorSpec argument = arguments[i];
            if (argument != null && axes.get(i) != WHOLE
                    && (shortest == 0 || argument.shape().dim(axes.get(i)) % shortest != 0)) {
                return 1;
            }
        }
        return shortest == Long.MAX_VALUE ? 1 : shortest;
    }

    /**
     * The splits of a computation that computes each element by itself from operands that broadcast to the result: one
     * along each axis of the result, the outermost first.
     *
     * @param result
     *            the shape of the result
     * @param arguments
     *            inputs, then outputs; null for those that are left out
     * @return one for each axis that is longer than 1
     */
    public static List<Split> elementwise(Shape result, @Nullable TensorSpec... arguments) {
        return elementwiseBut(WHOLE, result, arguments);
    }

    /**
     * The splits of {@link #elementwise} but for one axis.
     *
     * @param whole
     *            the axis that is not cut
     * @param result
     *            the shape of the result
     * @param arguments
     *            inputs, then outputs; null for those that are left out
     * @return one for each other axis that is longer than 1
     */
    public static List<Split> elementwiseBut(int whole, Shape result, @Nullable TensorSpec... arguments) {
        List<Split> splits = new ArrayList<>();
        for (int axis = 0; axis < result.rank(); axis++) {
            if (result.dim(axis) > 1 && axis != whole) {
                splits.add(along(axis, result, arguments));
            }
        }
        return splits;
    }

    private static Split along(int axis, Shape result, @Nullable TensorSpec... arguments) {
        List<Integer> axes = new ArrayList<>();
        for (TensorSpec argument : arguments) {
            axes.add(argument == null ? WHOLE : broadcast(argument.shape(), result, axis));
        }
        return new Split(axes, 1);
    }

    /**
     * The axis of an operand that is cut together with an axis of the result.
     *
     * @param operand
     *            the shape of an operand that broadcasts to the result
     * @param result
     *            the shape of the result
     * @param axis
     *            an axis of the result
     * @return an axis of the operand, or {@link #WHOLE} if it is broadcast along that axis
     */
    public static int broadcast(Shape operand, Shape result, int axis) {
        int own = axis - (result.rank() - operand.rank());
        return own >= 0 && operand.dim(own) == result.dim(axis) ? own : WHOLE;
    }
}
