package io.seriatim.executor.pass;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
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
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Stores images channels last, [n, spatial..., c] in memory: the layout that the library's convolutions read and write
 * without copying. Convolutions, poolings and normalisations access such a value as a strided [n, c, spatial...]
 * tensor. Elementwise functions access it as a dense tensor with the shape in memory.
 *
 * <p>
 * The pass selects the largest set of values for which no copy is needed: only tasks on the host use the value, one
 * task writes all of it, and each task that accesses it either supports a separate layout for each image, as a
 * convolution does, or has all its images in the set. A copy to a part of an image, as to its place in a concatenation,
 * may have any layout on either side; elementwise functions may access parts of images, as gates and sums of causal
 * convolutions do. Gates of channels or pixels, and reductions of all channels or pixels, have the same order in memory
 * for both, and so have a line of pixels and an image of one row. Of the resulting connected groups, those that would
 * not gain are excluded, such as those that no convolution writes, and so are values of stages for which the library
 * has no kernel. Gradients do not support this layout, so training is not affected.
 *
 * <p>
 * A transposition of such images to pixels of channels, or back, moves nothing and is removed.
 */
final class ChannelsLast {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.CHANNELS_LAST, ChannelsLast::rewrite);

    private static final int CHANNELS = 1;
    /** What uses of images are: a convolution reads or writes them, or a transposition to or from pixels. */
    private static final int READS = 1;
    private static final int WRITES = 2;
    private static final int READS_PIXELS = 4;
    private static final int WRITES_PIXELS = 8;
    private static final String LIBRARY = "onednn";
    private static final Set<Binary.Function> ARITHMETIC = Set.of(Binary.Function.ADD, Binary.Function.SUBTRACT,
            Binary.Function.MULTIPLY, Binary.Function.DIVIDE);

    private final TaskGraph graph;
    private final List<Task> tasks;
    private final ValueTable values;
    private final PreparedKernels kernels;
    private final List<Placed> stages = new ArrayList<>();
    private final boolean[] isLast;

    /**
     * A stage of a task. Its task's temporaries are numbered like values, from {@code first} on: a resizing, for
     * example, is a task with a stage for each axis and an image between them.
     */
    private record Placed(Stage stage, Task.Compute task, int first) {
        List<@Nullable Arg> args() {
            return stage.args();
        }

        /** The number of the value or temporary that an argument is; -1 if it is neither. */
        int number(@Nullable Arg arg) {
            return arg == null ? -1 : arg.source() instanceof Arg.Temporary(int number) ? first + number : arg.value();
        }

        /** Returns what an argument is a view of. */
        TensorSpec whole(Arg arg, ValueTable values) {
            return arg.source() instanceof Arg.Temporary(int number)
                    ? task.temporaries().get(number)
                    : Objects.requireNonNull(values.spec(arg.value()));
        }

        /** Whether an argument is all of an image, perhaps with its pixels in other dimensions. */
        boolean isWhole(Arg arg, ValueTable values) {
            return arg.offset() == 0 && ImagePart.isSame(arg.spec(), whole(arg, values));
        }
    }

    private ChannelsLast(TaskGraph graph, PreparedKernels kernels) {
        this.graph = graph;
        this.tasks = graph.tasks();
        this.values = graph.values();
        this.kernels = kernels;
        int numbers = values.size();
        for (Task task : tasks) {
            if (task instanceof Task.Compute compute) {
                for (Stage stage : compute.stages()) {
                    stages.add(new Placed(stage, compute, numbers));
                }
                numbers += compute.temporaries().size();
            }
        }
        this.isLast = new boolean[numbers];
    }

    private static void rewrite(TaskGraph graph, PassContext context) {
        if (Views.isAnyElsewhere(graph)) {
            return;
        }
        ChannelsLast images = new ChannelsLast(graph, context.kernels());
        if (images.isAny()) {
            boolean anyPixels = images.stages.stream()
                    .anyMatch(placed -> images.readsPixels(placed) || images.writesPixels(placed));
            images.turn();
            if (anyPixels) {
                CopyElimination.bypass(graph, context);
            }
        }
    }

    /** Selects the values, and returns whether there are any. */
    private boolean isAny() {
        boolean any = false;
        for (int value = 0; value < values.size(); value++) {
            isLast[value] = graph.isTemporaryOfOne(value)
                    && isImage(Objects.requireNonNull(values.spec(value)));
            any |= isLast[value];
        }
        for (Placed placed : stages) {
            for (int i = 0; i < placed.task().temporaries().size(); i++) {
                isLast[placed.first() + i] = isImage(placed.task().temporaries().get(i));
            }
        }
        if (!any || Task.stages(tasks).noneMatch(stage -> Epilogue.isConvolution(stage.computation()))) {
            return false;
        }
        do {
            do {
                settle();
            } while (leaveOut(withoutGain()));
        } while (leaveOut(withoutKernel()));
        for (boolean last : isLast) {
            if (last) {
                return true;
            }
        }
        return false;
    }

    private static boolean isImage(TensorSpec spec) {
        boolean moved = switch (spec.dtype()) {
            case FLOAT32, INT8, UINT8, INT32 -> true;
            default -> false;
        };
        return moved && spec.shape().size() > 0 && hasOrders(spec.shape());
    }

    /** Returns whether the position of the channel dimension matters. */
    private static boolean hasOrders(Shape shape) {
        return shape.rank() >= 3 && shape.dim(CHANNELS) > 1 && shape.slice(2, shape.rank()).size() > 1;
    }

    private boolean isLast(Placed placed, @Nullable Arg arg) {
        int number = placed.number(arg);
        return number >= 0 && isLast[number];
    }

    private boolean leaveOut(Set<Integer> left) {
        boolean any = false;
        for (int value : left) {
            any |= isLast[value];
            isLast[value] = false;
        }
        return any;
    }

    /** Excludes values until all tasks support the layout of the remaining ones. */
    private void settle() {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Placed placed : stages) {
                changed |= leaveOut(unfit(placed));
            }
            for (Task task : tasks) {
                if (!(task instanceof Task.Compute)) {
                    changed |= leaveOut(numbers(task.reads()));
                    changed |= leaveOut(numbers(task.writes()));
                }
            }
        }
    }

    private static Set<Integer> numbers(int[] all) {
        Set<Integer> numbers = new HashSet<>();
        Arrays.stream(all).forEach(numbers::add);
        return numbers;
    }

    /** Returns the values of the set that a stage does not support. */
    private Set<Integer> unfit(Placed placed) {
        List<@Nullable Arg> args = placed.args();
        Roles roles = Roles.of(placed.stage());
        Set<Integer> unfit = new HashSet<>();
        boolean together = true;
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            together &= !roles.together().test(i) || isLast(placed, arg)
                    || (arg != null && !hasOrders(arg.spec().shape()));
        }
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            boolean fits = (roles.together().test(i) && together) || roles.alone().test(i);
            if (isLast(placed, arg) && (!fits || !(placed.isWhole(Objects.requireNonNull(arg), values)
                    || (roles.parts() && part(placed, arg) != null) || (i == 0 && readsPixels(placed))))) {
                unfit.add(placed.number(arg));
            }
        }
        return unfit;
    }

    /** Whether a stage copies images, as to their place in a concatenation; each side may have any layout. */
    private static boolean isMove(Stage stage) {
        if (!(stage.computation() instanceof Copy) || stage.args().stream().anyMatch(Objects::isNull)) {
            return false;
        }
        TensorSpec from = Objects.requireNonNull(stage.args().getFirst()).spec();
        TensorSpec to = Objects.requireNonNull(stage.args().getLast()).spec();
        return from.dtype() == to.dtype() && from.shape().equals(to.shape());
    }

    /** Whether a stage copies images of the set, transposed to pixels of channels: to the order of their memory. */
    private boolean readsPixels(Placed placed) {
        if (!isMove(placed.stage())) {
            return false;
        }
        Arg in = Objects.requireNonNull(placed.args().getFirst());
        return isLast(placed, in) && ImagePart.isOfPixels(in, placed.whole(in, values));
    }

    /** Whether a stage writes images of the set, transposed from pixels of channels: the order of their memory. */
    private boolean writesPixels(Placed placed) {
        if (!isMove(placed.stage())) {
            return false;
        }
        Arg in = Objects.requireNonNull(placed.args().getFirst());
        Arg out = Objects.requireNonNull(placed.args().getLast());
        return isLast(placed, out) && !isLast(placed, in) && placed.isWhole(out, values)
                && ImagePart.isLast(in.spec());
    }

    /** Returns the part of an image that an argument is; null if it is no such part. */
    private @Nullable ImagePart part(Placed placed, Arg arg) {
        return ImagePart.of(arg, placed.whole(arg, values));
    }

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
    private record Roles(IntPredicate together, IntPredicate alone, boolean elementwise, boolean parts) {
        Roles(IntPredicate together, IntPredicate alone, boolean elementwise) {
            this(together, alone, elementwise, elementwise);
        }

        static Roles of(Stage stage) {
            List<@Nullable Arg> args = stage.args();
            int last = args.size() - 1;
            Shape out = shape(args.get(last));
            IntPredicate like = i -> Objects.equals(out, shape(args.get(i)));
            return switch (stage.computation()) {
                case Convolution _,ConvolutionGradInput _ -> new Roles(i -> i > 1 && like.test(i), i -> i == 0, false);
                case Pooling _ -> new Roles(i -> true, i -> false, false);
                case LinearResampling _,Pad _ -> new Roles(i -> i == 0 || i == last, i -> false, false);
                case Gather gather when isAlongSpace(gather, args) ->
                    new Roles(i -> i == 0 || i == last, i -> false, false);
                case BatchNorm norm when !norm.training() -> new Roles(i -> i == 0 || i == last, i -> false, false);
                case GroupNorm _ -> new Roles(i -> i == 0 || i == stage.inputs().size(), i -> false, false);
                case Unary _ -> new Roles(i -> true, i -> false, true);
                case Quantize _,LevelTable _ -> new Roles(i -> i != 1, i -> false, true);
                case Reduction reduction when keepsOrder(reduction, args) ->
                    new Roles(i -> false, i -> i == 0, false);
                case Copy _ when isMove(stage) -> new Roles(i -> false, i -> true, false, true);
                case Binary _,Chain _ when args.stream().allMatch(arg -> isAlike(arg, out)) ->
                    new Roles(like, i -> false, true);
                case null, default -> new Roles(i -> false, i -> false, false);
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

        private static @Nullable Shape shape(@Nullable Arg arg) {
            return arg == null ? null : arg.spec().shape();
        }

        private static boolean isAlike(@Nullable Arg arg, @Nullable Shape out) {
            return arg != null && (Objects.equals(out, arg.spec().shape()) || arg.spec().shape().size() == 1
                    || (out != null && isGate(arg.spec(), out)));
        }
    }

    /**
     * Returns whether a tensor has one element for each channel, of each image or of all, such as the gates of
     * squeeze-and-excitation, or one for each pixel, such as those of spatial attention. Its memory is the same in both
     * orders.
     */
    private static boolean isGate(TensorSpec spec, Shape images) {
        int missing = images.rank() - spec.shape().rank();
        if (images.rank() < 3 || missing < 0 || !spec.isRowMajor()) {
            return false;
        }
        long[] dims = padded(spec, images.rank());
        return IntStream.range(0, dims.length).allMatch(i -> dims[i] == 1 || dims[i] == images.dim(i))
                && (dims[CHANNELS] == 1 || Shape.of(dims).slice(CHANNELS + 1, dims.length).size() == 1);
    }

    /** The dimensions with others of length 1 before them. */
    private static long[] padded(TensorSpec spec, int rank) {
        long[] dims = new long[rank];
        Arrays.fill(dims, 1);
        System.arraycopy(spec.shape().dims(), 0, dims, rank - spec.shape().rank(), spec.shape().rank());
        return dims;
    }

    /**
     * Returns the values of connected groups that no convolution writes, or none reads: unless the one that writes them
     * reads such an image, whose order its result has without a copy, or the other one is a transposition that is
     * none in this order.
     */
    private Set<Integer> withoutGain() {
        int[] group = new int[isLast.length];
        Arrays.setAll(group, i -> i);
        for (Placed placed : stages) {
            IntPredicate together = isMove(placed.stage()) ? i -> true : Roles.of(placed.stage()).together();
            int first = -1;
            List<@Nullable Arg> args = placed.args();
            for (int i = 0; i < args.size(); i++) {
                if (together.test(i) && isLast(placed, args.get(i))) {
                    int value = root(group, placed.number(args.get(i)));
                    group[value] = first < 0 ? value : first;
                    first = group[value];
                }
            }
        }
        Map<Integer, Integer> uses = new HashMap<>();
        for (Placed placed : stages) {
            if (readsPixels(placed)) {
                use(placed, placed.args().getFirst(), READS_PIXELS, group, uses);
            }
            if (writesPixels(placed)) {
                use(placed, placed.args().getLast(), WRITES_PIXELS, group, uses);
            }
        }
        stages.stream().filter(placed -> Epilogue.isConvolution(placed.stage().computation())).forEach(placed -> {
            use(placed, placed.stage().inputs().getFirst(), READS, group, uses);
            boolean keepsOrder = isLast(placed, placed.stage().inputs().getFirst());
            use(placed, placed.stage().outputs().getFirst(), keepsOrder ? READS | WRITES : WRITES, group, uses);
        });
        Set<Integer> without = new HashSet<>();
        for (int value = 0; value < isLast.length; value++) {
            int use = uses.getOrDefault(root(group, value), 0);
            boolean gains = (use & WRITES) != 0
                    ? (use & (READS | READS_PIXELS)) != 0
                    : (use & WRITES_PIXELS) != 0 && (use & READS) != 0;
            if (isLast[value] && !gains) {
                without.add(value);
            }
        }
        return without;
    }

    private void use(Placed placed, @Nullable Arg arg, int how, int[] group, Map<Integer, Integer> uses) {
        if (isLast(placed, arg)) {
            uses.merge(root(group, placed.number(arg)), how, (a, b) -> a | b);
        }
    }

    private static int root(int[] group, int value) {
        int at = value;
        while (group[at] != at) {
            at = group[at];
        }
        return at;
    }

    /**
     * Returns the values of stages for which the library has no kernel. A kernel of another provider is accepted for
     * elementwise functions, normalisation by groups and resampling if it is also used for the original layout, and for
     * arithmetic, reductions and moves of elements: plain Java computes rows of few channels, and adds up in double
     * precision.
     */
    private Set<Integer> withoutKernel() {
        Set<Integer> without = new HashSet<>();
        stages.stream().filter(this::isAnyLast).forEach(placed -> {
            Stage stage = placed.stage();
            Stage other = turned(placed);
            Computation computation = Objects.requireNonNull(stage.computation());
            Kernel turned = kernels.find(computation, Place.CPU, other.specs());
            if (turned != null && (turned.provider().equals(LIBRARY)
                    || isArithmetic(computation) || computation instanceof Pad || computation instanceof Gather
                    || computation instanceof Copy || computation instanceof Reduction
                    || ((Roles.of(stage).elementwise() || computation instanceof LinearResampling
                            || computation instanceof GroupNorm)
                            && Providers.haveTheSame(kernels, stage, other)))) {
                return;
            }
            placed.args().stream().filter(arg -> isLast(placed, arg)).forEach(arg -> without.add(placed.number(arg)));
        });
        return without;
    }

    private static boolean isArithmetic(Computation computation) {
        return computation instanceof Binary binary && binary.postOps().isEmpty()
                && ARITHMETIC.contains(binary.function());
    }

    private boolean isAnyLast(Placed placed) {
        return placed.args().stream().anyMatch(arg -> isLast(placed, arg));
    }

    private void turn() {
        int at = 0;
        for (int i = 0; i < graph.size(); i++) {
            if (graph.get(i) instanceof Task.Compute compute) {
                List<Placed> own = stages.subList(at, at + compute.stages().size());
                at += own.size();
                if (own.stream().anyMatch(this::isAnyLast)) {
                    graph.put(i, new Task.Compute(compute.operations(), own.stream().map(this::turned).toList(),
                            compute.temporaries(), compute.place(), compute.reads(), compute.writes()));
                }
            }
        }
    }

    private Stage turned(Placed placed) {
        Stage stage = placed.stage();
        if (writesPixels(placed)) {
            Arg in = Objects.requireNonNull(stage.args().getFirst());
            Arg out = Objects.requireNonNull(stage.args().getLast());
            TensorSpec inMemory = ImagePart.turned(out.spec(), true);
            return stage.with(List.of(new Arg(in.source(), in.offset(), inMemory)),
                    List.of(new Arg(out.source(), 0, inMemory)));
        }
        if (readsPixels(placed)) {
            Arg in = Objects.requireNonNull(stage.args().getFirst());
            TensorSpec inMemory = TensorSpec.of(in.spec().dtype(), in.spec().shape());
            return stage.with(List.of(new Arg(in.source(), 0, inMemory)),
                    turned(placed, stage.outputs(), false, Shape.of()));
        }
        boolean elementwise = Roles.of(stage).elementwise();
        Shape images = elementwise ? Objects.requireNonNull(stage.args().getLast()).spec().shape() : Shape.of();
        return stage.with(turned(placed, stage.inputs(), elementwise, images),
                turned(placed, stage.outputs(), elementwise, images));
    }

    private List<@Nullable Arg> turned(Placed placed, List<@Nullable Arg> args, boolean elementwise, Shape images) {
        List<@Nullable Arg> turned = new ArrayList<>(args.size());
        for (Arg arg : args) {
            if (arg != null && isLast(placed, arg)) {
                turned.add(placed.isWhole(arg, values)
                        ? new Arg(arg.source(), 0, ImagePart.turned(arg.spec(), elementwise))
                        : Objects.requireNonNull(part(placed, arg)).turned(arg, elementwise));
            } else if (arg != null && elementwise && arg.spec().shape().size() > 1 && isGate(arg.spec(), images)) {
                turned.add(new Arg(arg.source(), arg.offset(), turnedGate(arg.spec(), images.rank())));
            } else {
                turned.add(arg);
            }
        }
        return turned;
    }

    private static TensorSpec turnedGate(TensorSpec spec, int rank) {
        return ImagePart.turned(TensorSpec.of(spec.dtype(), padded(spec, rank)), true);
    }
}
