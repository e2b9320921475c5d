package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Inserts copies at the borders of images that {@link ChannelsLast} will store channels last. Without them, one reader
 * that does not support this layout, such as attention, would decide the layout of all images that are added to each
 * other.
 *
 * <p>
 * Where the borders are is a minimum cut: each image, and each stage that needs several images in the same layout, is
 * on one side. A convolution costs the bytes of each of its images that is channels first, since the library converts
 * them. A value that is written in one layout and read in the other costs the bytes of a copy, which all readers share;
 * a part of an image that a stage accesses as a whole, such as the place of a pooling's result in a concatenation,
 * costs a copy unless all remain channels first. If costs are equal, images remain channels first.
 *
 * <p>
 * The copies have the same shape on both sides. They become transpositions when the images on one side are stored
 * channels last; a copy between equal layouts is removed.
 */
final class ImageCopies {
    /** The cost of a copy apart from its bytes, in bytes. */
    private static final long OF_ANY_COPY = 1L << 13;

    private final TaskGraph graph;
    private final List<Task> tasks;
    private final ValueTable values;
    private final List<ImageStage> stages;
    private final boolean[] candidates;
    private final MinimumCut cut = new MinimumCut();
    /** For each value and temporary, the node of its layout. */
    private final int[] layouts;
    /** By value, the nodes of the layouts in which stages read it. */
    private final Map<Integer, Set<Integer>> readers = new HashMap<>();
    /** Values that are written when they have been read, or by a task that reads them: no copy can be inserted. */
    private final Set<Integer> within = new HashSet<>();
    /** By stage. */
    private final List<Needs> needs = new ArrayList<>();

    /**
     * The nodes of the layouts in which a stage accesses its arguments; {@link #ANY} where it supports each.
     *
     * @param parts
     *            whether an argument is copied to or from memory of its own if it is part of an image channels last
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Needs(int[] nodes, boolean[] parts) {
        private static final int ANY = -1;
    }

    private ImageCopies(TaskGraph graph, List<ImageStage> stages, boolean[] candidates) {
        this.graph = graph;
        this.tasks = graph.tasks();
        this.values = graph.values();
        this.stages = stages;
        this.candidates = candidates;
        this.layouts = new int[candidates.length];
        Arrays.setAll(layouts, number -> candidates[number] ? cut.node() : MinimumCut.SINK);
    }

    /**
     * Inserts copies where convolutions gain more than the copies cost.
     *
     * @param candidates
     *            the values and temporaries that may be stored channels last
     * @param isSupported
     *            whether a stage has a kernel for images that are all channels last
     * @return the values that copies read or write and that shall be stored channels last; null if there are no copies
     */
    static @Nullable Set<Integer> insert(TaskGraph graph, List<ImageStage> stages, boolean[] candidates,
            Predicate<ImageStage> isSupported) {
        ImageCopies copies = new ImageCopies(graph, stages, candidates);
        copies.describe(isSupported);
        return copies.insert(copies.cut.sides());
    }

    private void describe(Predicate<ImageStage> isSupported) {
        for (Task task : tasks) {
            if (task instanceof Task.Compute) {
                Arrays.stream(task.reads()).filter(this::isWrittenLater).forEach(within::add);
            } else {
                Arrays.stream(task.reads()).forEach(value -> cut.same(layouts[value], MinimumCut.SINK));
                Arrays.stream(task.writes()).forEach(value -> cut.same(layouts[value], MinimumCut.SINK));
            }
        }
        for (ImageStage placed : stages) {
            needs.add(describe(placed, isSupported));
        }
        readers.forEach(this::describe);
    }

    /** Returns whether a task writes a value when others have read it, or reads it itself. */
    private boolean isWrittenLater(int value) {
        TaskSet writing = graph.writers(value);
        return !writing.isEmpty() && writing.last() >= graph.readers(value).first();
    }

    /** Adds what it costs that stages read a value in another layout than that in which it is written. */
    private void describe(int value, Set<Integer> nodes) {
        int written = layouts[value];
        if (value >= values.size() || within.contains(value)) {
            nodes.forEach(node -> cut.same(written, node));
            return;
        }
        long bytes = Objects.requireNonNull(values.spec(value)).bytes() + OF_ANY_COPY;
        int anyFirst = cut.node();
        int anyLast = cut.node();
        cut.edge(written, anyFirst, bytes);
        cut.edge(anyLast, written, bytes);
        for (int node : nodes) {
            cut.edge(anyFirst, node, MinimumCut.NEVER);
            cut.edge(node, anyLast, MinimumCut.NEVER);
        }
    }

    private Needs describe(ImageStage placed, Predicate<ImageStage> isSupported) {
        List<@Nullable Arg> args = placed.args();
        boolean[] isDirect = new boolean[args.size()];
        ImageRoles roles = ImageRoles.of(placed);
        boolean all = true;
        boolean any = false;
        for (int i = 0; i < isDirect.length; i++) {
            Arg arg = args.get(i);
            all &= roles.allowsTogether(i, arg, isLast(placed, arg));
            if (arg != null && placed.number(arg) >= 0) {
                isDirect[i] = placed.isWhole(arg, values) || (roles.parts() && placed.part(arg, values) != null)
                        || (i == 0 && placed.readsPixels(values));
                any |= isLast(placed, arg);
                all &= isDirect[i] || !isLast(placed, arg);
            }
        }
        if (any && !ImageRoles.NONE.equals(roles) && all && !isSupported.test(placed)) {
            roles = ImageRoles.NONE;
        }
        int[] nodes = new int[args.size()];
        boolean[] parts = new boolean[args.size()];
        Arrays.fill(nodes, Needs.ANY);
        if (any) {
            int together = cut.node();
            for (int i = 0; i < nodes.length; i++) {
                Arg arg = args.get(i);
                if (arg != null && placed.number(arg) >= 0) {
                    nodes[i] = describe(placed, i, roles, together, isDirect[i]);
                    parts[i] = isLast(placed, arg) && !isDirect[i]
                            && (roles.together().test(i) || roles.alone().test(i))
                            && placed.part(arg, values) != null;
                    if (parts[i]) {
                        partly(placed.number(arg), nodes[i], arg);
                        nodes[i] = roles.together().test(i) ? together : Needs.ANY;
                    } else if (nodes[i] != Needs.ANY) {
                        access(placed, i, nodes[i]);
                    }
                } else if (roles.together().test(i) && (arg == null || ImageRoles.hasOrders(arg.spec().shape()))) {
                    cut.same(together, MinimumCut.SINK);
                }
            }
        }
        return new Needs(nodes, parts);
    }

    private boolean isLast(ImageStage placed, @Nullable Arg arg) {
        int number = placed.number(arg);
        return number >= 0 && candidates[number];
    }

    /** Returns the node of the layout in which a stage accesses an argument. */
    private int describe(ImageStage placed, int i, ImageRoles roles, int together, boolean isDirect) {
        Arg arg = Objects.requireNonNull(placed.args().get(i));
        boolean convolution = Epilogue.isConvolution(placed.stage().computation());
        int number = placed.number(arg);
        if (roles.together().test(i)) {
            if (!candidates[number] && !ImageRoles.hasOrders(arg.spec().shape())) {
                return Needs.ANY;
            }
            boolean isOutput = i >= placed.stage().inputs().size();
            if (convolution && isOutput && isDirect) {
                cut.edge(MinimumCut.SOURCE, together, arg.spec().bytes());
            }
            if ((!isDirect && placed.part(arg, values) == null) || (!candidates[number] && !mayCopy(placed, arg))) {
                cut.same(together, MinimumCut.SINK);
                return MinimumCut.SINK;
            }
            return together;
        }
        if (!roles.alone().test(i)) {
            return MinimumCut.SINK;
        }
        if (convolution && isDirect && candidates[number]) {
            int own = cut.node();
            cut.edge(MinimumCut.SOURCE, own, arg.spec().bytes());
            return own;
        }
        if (convolution && candidates[number] && placed.part(arg, values) != null) {
            cut.edge(MinimumCut.SOURCE, layouts[number], arg.spec().bytes());
        }
        if (placed.readsPixels(values) || placed.writesPixels(values)) {
            boolean gains = i == 0 ? placed.readsPixels(values) : placed.writesPixels(values);
            if (gains) {
                cut.edge(MinimumCut.SOURCE, layouts[number], arg.spec().bytes());
            }
            return Needs.ANY;
        }
        return isDirect || placed.part(arg, values) != null ? Needs.ANY : MinimumCut.SINK;
    }

    /** Returns whether a stage may read a copy of a value that is not stored channels last. */
    private boolean mayCopy(ImageStage placed, Arg arg) {
        int value = arg.value();
        return value >= 0 && placed.isWhole(arg, values) && placed.stage().outputs().stream().noneMatch(arg::equals)
                && values.memory(value) == value && graph.writers(value).isEmpty()
                && values.spec(value) != null && ImageRoles.hasOrders(arg.spec().shape());
    }

    /** Adds the cost of a part of an image that a stage accesses in memory of its own. */
    private void partly(int number, int node, Arg arg) {
        int any = cut.node();
        cut.edge(layouts[number], any, MinimumCut.NEVER);
        if (node != Needs.ANY) {
            cut.edge(node, any, MinimumCut.NEVER);
        }
        cut.edge(any, MinimumCut.SINK, arg.spec().bytes() + OF_ANY_COPY);
    }

    private void access(ImageStage placed, int i, int node) {
        int number = placed.number(placed.args().get(i));
        boolean isInput = i < placed.stage().inputs().size();
        Computation computation = placed.stage().computation();
        boolean changes = isInput && computation != null && computation.mutates(i);
        if (isInput && !changes) {
            readers.computeIfAbsent(number, _ -> new HashSet<>()).add(node);
        } else {
            cut.same(layouts[number], node);
        }
    }

    /** Inserts the copies, and returns the values channels last that they access; null if there are no copies. */
    private @Nullable Set<Integer> insert(boolean[] isLast) {
        Set<Integer> last = new HashSet<>();
        Map<Integer, Integer> copies = new HashMap<>();
        List<Task> all = new ArrayList<>(tasks.size());
        int at = 0;
        boolean changed = false;
        for (Task task : tasks) {
            if (!(task instanceof Task.Compute compute)) {
                all.add(task);
                continue;
            }
            List<Stage> own = new ArrayList<>();
            List<TensorSpec> temporaries = new ArrayList<>(compute.temporaries());
            for (int end = at + compute.stages().size(); at < end; at++) {
                changed |= rewritten(at, isLast, copies, all, own, temporaries, last);
            }
            all.add(own.equals(compute.stages())
                    ? compute
                    : compute.with(compute.operations(), own, temporaries));
        }
        if (!changed) {
            return null;
        }
        graph.replaceAll(all);
        return last;
    }

    /** Adds a stage with the copies that it needs, as tasks before its own or as stages beside it. */
    private boolean rewritten(int index, boolean[] isLast, Map<Integer, Integer> copies, List<Task> before,
            List<Stage> own, List<TensorSpec> temporaries, Set<Integer> last) {
        ImageStage placed = stages.get(index);
        Stage stage = placed.stage();
        Needs need = needs.get(index);
        List<@Nullable Arg> args = new ArrayList<>(placed.args());
        List<Stage> after = new ArrayList<>();
        boolean changed = false;
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            int node = need.nodes()[i];
            if (arg == null || placed.number(arg) < 0) {
                continue;
            }
            boolean from = isLast[layouts[placed.number(arg)]];
            boolean to = node == Needs.ANY ? from : isLast[node];
            if (need.parts()[i] && (from || to)) {
                TensorSpec spec = TensorSpec.of(arg.spec().dtype(), arg.spec().shape());
                Arg alone = new Arg(new Arg.Temporary(temporaries.size()), 0, spec);
                temporaries.add(spec);
                if (i < stage.inputs().size()) {
                    own.add(Stage.of(stage.access(), Copy.PLAIN, List.of(arg), alone));
                } else {
                    after.add(Stage.of(stage.access(), Copy.PLAIN, List.of(alone), arg));
                }
                args.set(i, alone);
                if (from && arg.value() >= 0) {
                    last.add(arg.value());
                }
                changed = true;
            } else if (!need.parts()[i] && from != to && arg.value() >= 0) {
                int copy = copies.computeIfAbsent(arg.value(), value -> {
                    TensorSpec spec = Objects.requireNonNull(values.spec(value));
                    int number = values.add(values.name(value) + "_copy", spec);
                    Stage copying = Stage.of(stage.access(), Copy.PLAIN, List.of(new Arg(arg.source(), 0, spec)),
                            new Arg(new Arg.Value(number), 0, spec));
                    before.add(Task.Compute.ofStages(List.of(stage.access()), List.of(copying), List.of(),
                            placed.task().place()));
                    return number;
                });
                args.set(i, arg.of(copy));
                last.add(from ? arg.value() : copy);
                changed = true;
            }
        }
        int inputs = stage.inputs().size();
        own.add(changed ? stage.with(args.subList(0, inputs), args.subList(inputs, args.size())) : stage);
        own.addAll(after);
        return changed;
    }
}
