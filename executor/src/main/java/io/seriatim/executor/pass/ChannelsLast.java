package io.seriatim.executor.pass;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.NanPolicy;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Layout;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Stores images channels last, [n, spatial..., c] in memory: the layout that the library's convolutions read and write
 * without copying. Convolutions, poolings and normalisations access such a value as a strided [n, c, spatial...]
 * tensor. Elementwise functions access it as a dense tensor with the shape in memory.
 *
 * <p>
 * The pass selects the largest set of values for which no copy is needed: only tasks on the host use the value, and
 * each task that accesses it either supports a separate layout for each image, as a convolution does, or has all its
 * images in the set. Before that, {@link ImageCopies} inserts copies where convolutions gain more than these cost. A
 * copy to a part of an image, as to its place in a concatenation, may have any layout on either side; elementwise
 * functions may access parts of images, as gates and sums of causal convolutions do. Gates of channels or pixels,
 * and reductions of all channels or pixels, have the same order in memory for both, and so have a line of pixels and
 * an image of one row. Of the resulting connected groups, those that would not gain are excluded, such as those that
 * no convolution writes, and so are values of stages for which the library has no kernel. Gradients do not support
 * this layout, so training is not affected.
 *
 * <p>
 * A transposition of such images to pixels of channels, or back, moves nothing and is removed.
 */
final class ChannelsLast {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.CHANNELS_LAST, ChannelsLast::rewrite);

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
    private final List<ImageStage> stages;
    /** Values and temporaries that copies read or write in another layout. */
    private final Set<Integer> copied;
    private final boolean[] isLast;

    private ChannelsLast(TaskGraph graph, PreparedKernels kernels, Set<Integer> copied) {
        this.graph = graph;
        this.tasks = graph.tasks();
        this.values = graph.values();
        this.kernels = kernels;
        this.stages = ImageStage.of(tasks, values);
        this.copied = copied;
        this.isLast = new boolean[stages.isEmpty() ? 0 : stages.getLast().numbers()];
        markImages();
    }

    private static void rewrite(TaskGraph graph, PassContext context) {
        if (Views.isAnyElsewhere(graph)) {
            return;
        }
        ChannelsLast images = new ChannelsLast(graph, context.kernels(), Set.of());
        if (!images.isAnyCandidate()) {
            return;
        }
        // Gradients read images channels first; trainings stay as they are.
        Set<Integer> copied = !NanPolicy.trains(context.program()) && images.isAnyLeftOut()
                ? ImageCopies.insert(graph, images.stages, images.isLast, images::hasKernel)
                : null;
        if (copied != null) {
            images = new ChannelsLast(graph, context.kernels(), copied);
        }
        images.select();
        boolean anyPixels = images.stages.stream().anyMatch(images::movesPixels);
        images.turn();
        if (anyPixels || copied != null) {
            CopyElimination.bypass(graph, context);
        }
    }

    /** Adds all images to the set. */
    private void markImages() {
        for (int value = 0; value < Math.min(values.size(), isLast.length); value++) {
            TensorSpec spec = values.spec(value);
            isLast[value] = values.isTemporary(value) && !graph.writers(value).isEmpty() && spec != null
                    && isImage(spec);
        }
        for (ImageStage placed : stages) {
            for (int i = 0; i < placed.task().temporaries().size(); i++) {
                isLast[placed.first() + i] = isImage(placed.task().temporaries().get(i));
            }
        }
    }

    /** Returns whether any values are images, with convolutions. */
    private boolean isAnyCandidate() {
        return IntStream.range(0, Math.min(values.size(), isLast.length)).anyMatch(value -> isLast[value])
                && convolutions().findAny().isPresent();
    }

    private Stream<ImageStage> convolutions() {
        return stages.stream().filter(placed -> Epilogue.isConvolution(placed.stage().computation()));
    }

    /**
     * Returns whether an image of a convolution keeps its layout because something else does not support the other. If
     * none does, the set is settled.
     */
    private boolean isAnyLeftOut() {
        boolean[] candidates = isLast.clone();
        settle();
        boolean any = convolutions()
                .flatMap(placed -> Stream.of(placed.stage().inputs().getFirst(), placed.stage().outputs().getFirst())
                        .map(placed::number))
                .anyMatch(number -> number >= 0 && candidates[number] && !isLast[number]);
        if (any) {
            System.arraycopy(candidates, 0, isLast, 0, isLast.length);
        }
        return any;
    }

    private void select() {
        do {
            do {
                settle();
            } while (leaveOut(withoutGain()));
        } while (leaveOut(withoutKernel()));
    }

    private static boolean isImage(TensorSpec spec) {
        boolean moved = switch (spec.dtype()) {
            case FLOAT32, INT8, UINT8, INT32 -> true;
            default -> false;
        };
        return moved && spec.shape().size() > 0 && ImageRoles.hasOrders(spec.shape());
    }

    private boolean isLast(ImageStage placed, @Nullable Arg arg) {
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
            for (ImageStage placed : stages) {
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
    private Set<Integer> unfit(ImageStage placed) {
        List<@Nullable Arg> args = placed.args();
        ImageRoles roles = ImageRoles.of(placed);
        Set<Integer> unfit = new HashSet<>();
        boolean together = true;
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            together &= roles.allowsTogether(i, arg, isLast(placed, arg));
        }
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            boolean fits = (roles.together().test(i) && together) || roles.alone().test(i);
            if (isLast(placed, arg) && (!fits || !(placed.isWhole(Objects.requireNonNull(arg), values)
                    || (roles.parts() && placed.part(arg, values) != null) || (i == 0 && readsPixels(placed))))) {
                unfit.add(placed.number(arg));
            }
        }
        return unfit;
    }

    /** Whether a stage copies images of the set, transposed to pixels of channels: to the order of their memory. */
    private boolean readsPixels(ImageStage placed) {
        return placed.readsPixels(values) && isLast(placed, placed.args().getFirst());
    }

    /** Whether a stage writes images of the set, transposed from pixels of channels: the order of their memory. */
    private boolean writesPixels(ImageStage placed) {
        return placed.writesPixels(values) && isLast(placed, placed.args().getLast())
                && !isLast(placed, placed.args().getFirst());
    }

    private boolean movesPixels(ImageStage placed) {
        return readsPixels(placed) || writesPixels(placed);
    }

    /**
     * Returns the values of connected groups that no convolution writes, or none reads: unless the one that writes them
     * reads such an image, whose order its result has without a copy, or the other one is a transposition that is
     * none in this order, or copies were inserted for the group because convolutions gain more.
     */
    private Set<Integer> withoutGain() {
        int[] group = new int[isLast.length];
        Arrays.setAll(group, i -> i);
        for (ImageStage placed : stages) {
            IntPredicate together = placed.isMove() ? i -> true : ImageRoles.of(placed).together();
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
        copied.forEach(value -> uses.put(root(group, value), READS | WRITES));
        for (ImageStage placed : stages) {
            if (readsPixels(placed)) {
                use(placed, placed.args().getFirst(), READS_PIXELS, group, uses);
            }
            if (writesPixels(placed)) {
                use(placed, placed.args().getLast(), WRITES_PIXELS, group, uses);
            }
        }
        convolutions().forEach(placed -> {
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

    private void use(ImageStage placed, @Nullable Arg arg, int how, int[] group, Map<Integer, Integer> uses) {
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
        stages.stream().filter(placed -> isAnyLast(placed) && !hasKernel(placed))
                .forEach(placed -> placed.args().stream().filter(arg -> isLast(placed, arg))
                        .forEach(arg -> without.add(placed.number(arg))));
        return without;
    }

    private boolean hasKernel(ImageStage placed) {
        Stage stage = placed.stage();
        Stage other = turned(placed);
        Computation computation = Objects.requireNonNull(stage.computation());
        Kernel turned = kernels.find(computation, Place.CPU, other.specs());
        return turned != null && (turned.provider().equals(LIBRARY)
                || isArithmetic(computation) || computation instanceof Pad || computation instanceof Gather
                || computation instanceof Copy || computation instanceof Reduction
                || ((ImageRoles.of(placed).elementwise() || computation instanceof LinearResampling
                        || computation instanceof GroupNorm)
                        && Providers.haveTheSame(kernels, stage, other)));
    }

    private static boolean isArithmetic(Computation computation) {
        return computation instanceof Binary binary && binary.postOps().isEmpty()
                && ARITHMETIC.contains(binary.function());
    }

    private boolean isAnyLast(ImageStage placed) {
        return placed.args().stream().anyMatch(arg -> isLast(placed, arg));
    }

    private void turn() {
        int at = 0;
        for (int i = 0; i < graph.size(); i++) {
            if (graph.get(i) instanceof Task.Compute compute) {
                List<ImageStage> own = stages.subList(at, at + compute.stages().size());
                at += own.size();
                if (own.stream().anyMatch(this::isAnyLast)) {
                    List<Stage> all = new ArrayList<>();
                    List<TensorSpec> temporaries = new ArrayList<>(compute.temporaries());
                    own.forEach(placed -> all.addAll(withPackedWeights(turned(placed), temporaries)));
                    graph.put(i, new Task.Compute(compute.operations(), all, temporaries, compute.place(),
                            compute.reads(), compute.writes()));
                }
            }
        }
    }

    /**
     * Copies the image that a convolution reads channels first to one that is channels last, if only the kernel for
     * that packs its weights. Otherwise, the convolution is a product of weights as they are.
     */
    private List<Stage> withPackedWeights(Stage stage, List<TensorSpec> temporaries) {
        Arg x = stage.inputs().isEmpty() ? null : stage.inputs().getFirst();
        Arg out = stage.onlyOutput();
        if (!(stage.computation() instanceof Convolution) || x == null || out == null || !x.spec().isRowMajor()
                || !ImageRoles.hasOrders(x.spec().shape()) || !ImagePart.isLast(out.spec()) || wantsPacked(stage)) {
            return List.of(stage);
        }
        TensorSpec last = ImagePart.turned(x.spec(), false);
        Arg copy = new Arg(new Arg.Temporary(temporaries.size()), 0, last);
        List<@Nullable Arg> inputs = new ArrayList<>(stage.inputs());
        inputs.set(0, copy);
        Stage reading = stage.with(inputs, stage.outputs());
        if (!wantsPacked(reading)) {
            return List.of(stage);
        }
        temporaries.add(last.rowMajor());
        return List.of(Stage.of(stage.access(), Copy.PLAIN, List.of(x), copy), reading);
    }

    private boolean wantsPacked(Stage convolution) {
        TensorSpec[] specs = convolution.specs();
        Kernel kernel = kernels.find(Objects.requireNonNull(convolution.computation()), Place.CPU, specs);
        return kernel != null && kernel.preferred(1, specs[1]).layout() instanceof Layout.Opaque;
    }

    private Stage turned(ImageStage placed) {
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
        boolean elementwise = ImageRoles.of(placed).elementwise();
        Shape images = elementwise ? Objects.requireNonNull(stage.args().getLast()).spec().shape() : Shape.of();
        return stage.with(turned(placed, stage.inputs(), elementwise, images),
                turned(placed, stage.outputs(), elementwise, images));
    }

    private List<@Nullable Arg> turned(ImageStage placed, List<@Nullable Arg> args, boolean elementwise, Shape images) {
        List<@Nullable Arg> turned = new ArrayList<>(args.size());
        for (Arg arg : args) {
            if (arg != null && isLast(placed, arg)) {
                turned.add(placed.isWhole(arg, values)
                        ? new Arg(arg.source(), 0, ImagePart.turned(arg.spec(), elementwise))
                        : Objects.requireNonNull(placed.part(arg, values)).turned(arg, elementwise));
            } else if (arg != null && elementwise && arg.spec().shape().size() > 1
                    && ImageRoles.isGate(arg.spec(), images)) {
                turned.add(new Arg(arg.source(), arg.offset(), turnedGate(arg.spec(), images.rank())));
            } else {
                turned.add(arg);
            }
        }
        return turned;
    }

    private static TensorSpec turnedGate(TensorSpec spec, int rank) {
        return ImagePart.turned(TensorSpec.of(spec.dtype(), ImageRoles.padded(spec, rank)), true);
    }
}
