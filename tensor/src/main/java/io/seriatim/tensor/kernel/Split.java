package io.seriatim.tensor.kernel;

import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A way to compute something in parts: the same computation of parts of the operands gives the same parts of the
 * results, to the bit, if the kernels of all of them are of one provider. Operands with an axis are cut along it, all
 * in the same proportion: if one is longer than another, several of its elements belong to one of the other's. The
 * parts of the first input may overlap, if each place of the result depends on those under a window.
 *
 * @param axes
 *            for each argument, inputs, then outputs, along which axis it is cut; {@link #WHOLE} for what every part
 *            needs whole, and for what is left out
 * @param least
 *            how many places along the axis a part needs, or else kernels would take it for something else
 * @param window
 *            which places of the first input the places of the others depend on; null if it is cut like them. Then
 *            {@link Computation#part} is not the whole's computation, and another kernel of the provider may compute
 *            it, in which sums are taken in another order
 * @param unit
 *            parts begin at multiples of it. If it is greater than 1, {@link Computation#part} is not the whole's
 *            computation either, with the same consequence
 */
public record Split(List<Integer> axes, int least, @Nullable Under window, int unit) {
    /** In place of an axis: not cut. */
    public static final int WHOLE = -1;

    /** Copies the list. */
    public Split {
        axes = List.copyOf(axes);
    }

    /**
     * Without a unit.
     *
     * @param axes
     *            for each argument
     * @param least
     *            how many places a part needs
     * @param window
     *            which places of the first input the places of the others depend on, or null
     */
    public Split(List<Integer> axes, int least, @Nullable Under window) {
        this(axes, least, window, 1);
    }

    /**
     * Without a window.
     *
     * @param axes
     *            for each argument
     * @param least
     *            how many places a part needs
     */
    public Split(List<Integer> axes, int least) {
        this(axes, least, null, 1);
    }

    /**
     * Whether parts compute the whole's result to the bit.
     *
     * @return false with a window or a unit
     */
    public boolean isExact() {
        return window == null && unit == 1;
    }

    /**
     * How many places of an axis a part needs to have more than so many elements, if the whole has.
     *
     * @param few
     *            so many
     * @param size
     *            the elements of the whole
     * @param dim
     *            the places of the axis, from 1
     * @return 1 if the whole has no more
     */
    public static int leastBeyond(long few, long size, long dim) {
        return size <= few ? 1 : Math.toIntExact(few / Math.max(1, size / Math.max(1, dim)) + 1);
    }

    /**
     * The places of an axis under a window that moves along it.
     *
     * @param stride
     *            by how many places it moves
     * @param padding
     *            how many places of padding are before the first one
     * @param extent
     *            how many places it covers, those between the elements of a dilated kernel included
     * @param transposed
     *            whether it moves along the result, and a place of the result depends on those at which the window
     *            covers it
     */
    public record Under(int stride, int padding, long extent, boolean transposed) {
        /**
         * A window that moves along the first input.
         *
         * @param stride
         *            by how many places it moves
         * @param padding
         *            how many places of padding are before the first one
         * @param extent
         *            how many places it covers
         */
        public Under(int stride, int padding, long extent) {
            this(stride, padding, extent, false);
        }

        /**
         * The first place under the window at a place of the result.
         *
         * @param place
         *            of the result
         * @return negative in the padding
         */
        public long first(long place) {
            if (transposed) {
                // Where windows do not meet, some places are under none: one place keeps parts in step.
                return Math.min(Math.ceilDiv(place + padding - extent + 1, stride), end(place) - 1);
            }
            return place * stride - padding;
        }

        /**
         * The end of the places under the window at a place of the result.
         *
         * @param place
         *            of the result
         * @return beyond the last place
         */
        public long end(long place) {
            return transposed ? Math.floorDiv(place + padding, stride) + 1 : first(place) + extent;
        }
    }

    /**
     * A range of places along an axis.
     *
     * @param from
     *            the first
     * @param to
     *            beyond the last
     */
    public record Range(long from, long to) {
    }

    /**
     * The places of an argument that belong to a part.
     *
     * @param argument
     *            its index; one that is cut
     * @param part
     *            of the {@linkplain #length length}
     * @param length
     *            between how many places the operands are cut
     * @param places
     *            how many places the argument has along its axis
     * @return empty or reversed if a window lies in the padding: then there is no such part
     */
    public Range range(int argument, Range part, long length, long places) {
        if (window != null && argument == 0) {
            return new Range(Math.max(0, window.first(part.from())), Math.min(places, window.end(part.to() - 1)));
        }
        long each = places / length;
        return new Range(part.from() * each, part.to() * each);
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
            if (argument != null && isEven(i)) {
                shortest = Math.min(shortest, argument.shape().dim(axes.get(i)));
            }
        }
        for (int i = 0; i < arguments.length; i++) {
            TensorSpec argument = arguments[i];
            if (argument != null && isEven(i)
                    && (shortest == 0 || argument.shape().dim(axes.get(i)) % shortest != 0)) {
                return 1;
            }
        }
        return shortest == Long.MAX_VALUE ? 1 : shortest;
    }

    /** Whether an argument is cut in proportion. */
    private boolean isEven(int argument) {
        return axes.get(argument) != WHOLE && (window == null || argument > 0);
    }

    /**
     * The splits of a computation that computes each element by itself from operands that broadcast to the result: one
     * along each axis of the result, the outermost in memory first.
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
        TensorSpec last = arguments[arguments.length - 1];
        if (last != null && !(last.layout() instanceof Layout.Opaque) && last.shape().equals(result)) {
            long[] strides = last.strides();
            splits.sort(Comparator.comparingLong(split -> -Math.abs(strides[split.axes().getLast()])));
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
