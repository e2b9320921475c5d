package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.LevelTable;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.Quantize;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.LinearResampling;
import io.seriatim.tensor.computation.network.Pooling;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The layouts that a stage supports for its arguments.
 *
 * @param together
 *            the arguments that are images and must have the same layout
 * @param alone
 *            the arguments that are images and may have any layout
 * @param elementwise
 *            whether the stage does not distinguish dimensions
 * @param parts
 *            whether the stage also takes parts of images
 */
record ImageRoles(IntPredicate together, IntPredicate alone, boolean elementwise, boolean parts) {
    private static final int CHANNELS = 1;
    static final ImageRoles NONE = new ImageRoles(i -> false, i -> false, false);

    ImageRoles(IntPredicate together, IntPredicate alone, boolean elementwise) {
        this(together, alone, elementwise, elementwise);
    }

    static ImageRoles of(ImageStage placed) {
        Stage stage = placed.stage();
        List<@Nullable Arg> args = stage.args();
        int last = args.size() - 1;
        Shape out = shape(args.get(last));
        IntPredicate like = i -> Objects.equals(out, shape(args.get(i)));
        return switch (stage.computation()) {
            case Convolution _,ConvolutionGradInput _ -> new ImageRoles(i -> i > 1 && like.test(i), i -> i == 0, false);
            case Pooling _ -> new ImageRoles(i -> true, i -> false, false);
            case LinearResampling _,Pad _ -> new ImageRoles(i -> i == 0 || i == last, i -> false, false);
            case Gather gather when isAlongSpace(gather, args) ->
                new ImageRoles(i -> i == 0 || i == last, i -> false, false);
            case BatchNorm norm when !norm.training() -> new ImageRoles(i -> i == 0 || i == last, i -> false, false);
            case GroupNorm _ -> new ImageRoles(i -> i == 0 || i == stage.inputs().size(), i -> false, false);
            case Unary _ -> new ImageRoles(i -> true, i -> false, true);
            case Quantize _,LevelTable _ -> new ImageRoles(i -> i != 1, i -> false, true);
            case Reduction reduction when keepsOrder(reduction, args) ->
                new ImageRoles(i -> false, i -> i == 0, false);
            case Copy _ when placed.isMove() -> new ImageRoles(i -> false, i -> true, false, true);
            case Binary _,Chain _ when args.stream().allMatch(arg -> isAlike(arg, out)) ->
                new ImageRoles(like, i -> false, true);
            case null, default -> NONE;
        };
    }

    /** Whether rows or columns of images are taken, as when they are resized. */
    private static boolean isAlongSpace(Gather gather, List<@Nullable Arg> args) {
        Shape images = Objects.requireNonNull(shape(args.getFirst()));
        return images.axis(gather.axis()) > CHANNELS && Objects.requireNonNull(shape(args.get(1))).rank() == 1;
    }

    /** Whether a reduction, such as the mean of each channel, writes the same memory for both orders. */
    private static boolean keepsOrder(Reduction reduction, List<@Nullable Arg> args) {
        Shape images = Objects.requireNonNull(shape(args.getFirst()));
        if (!hasOrders(images)) {
            return false;
        }
        boolean[] reduced = reduction.reduced(images);
        return reduced[CHANNELS]
                || IntStream.range(CHANNELS + 1, images.rank()).allMatch(i -> reduced[i] || images.dim(i) == 1);
    }

    /** Returns whether the images of a stage may be channels last together as far as one argument is concerned. */
    boolean allowsTogether(int argument, @Nullable Arg arg, boolean isLast) {
        return !together.test(argument) || isLast || (arg != null && !hasOrders(arg.spec().shape()));
    }

    /** Returns whether the position of the channel dimension matters. */
    static boolean hasOrders(Shape shape) {
        return shape.rank() >= 3 && shape.dim(CHANNELS) > 1 && shape.slice(2, shape.rank()).size() > 1;
    }

    private static @Nullable Shape shape(@Nullable Arg arg) {
        return arg == null ? null : arg.spec().shape();
    }

    private static boolean isAlike(@Nullable Arg arg, @Nullable Shape out) {
        return arg != null && (Objects.equals(out, arg.spec().shape()) || arg.spec().shape().size() == 1
                || (out != null && isGate(arg.spec(), out)));
    }

    /**
     * Returns whether a tensor has one element for each channel, of each image or of all, such as the gates of
     * squeeze-and-excitation, or one for each pixel, such as those of spatial attention. Its memory is the same in both
     * orders.
     */
    static boolean isGate(TensorSpec spec, Shape images) {
        int missing = images.rank() - spec.shape().rank();
        if (images.rank() < 3 || missing < 0 || !spec.isRowMajor()) {
            return false;
        }
        long[] dims = padded(spec, images.rank());
        return IntStream.range(0, dims.length).allMatch(i -> dims[i] == 1 || dims[i] == images.dim(i))
                && (dims[CHANNELS] == 1 || Shape.of(dims).slice(CHANNELS + 1, dims.length).size() == 1);
    }

    /** The dimensions with others of length 1 before them. */
    static long[] padded(TensorSpec spec, int rank) {
        long[] dims = new long[rank];
        Arrays.fill(dims, 1);
        System.arraycopy(spec.shape().dims(), 0, dims, rank - spec.shape().rank(), spec.shape().rank());
        return dims;
    }
}
