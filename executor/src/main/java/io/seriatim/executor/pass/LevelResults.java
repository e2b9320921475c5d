package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import io.seriatim.tensor.kernel.QuantizedOperands;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Lets products of levels write levels where a chain makes them from the sums in int32: {@link SumSteps} recognizes its
 * first steps. The factor of the sums, divided by the scale of the levels, and what is added, become operands of
 * post-ops, so that the kernel stores one byte in place of the four that the chain would read again. A task of its own
 * computes these operands, which is done once if they depend on parameters only. What the chain makes of the levels
 * remains a chain that reads them.
 *
 * <p>
 * A number is multiplied once by a quotient where it was multiplied and divided, and the zero point is added before it
 * is rounded, so that a number between two levels may become the other one.
 */
final class LevelResults {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.INTEGERS,
            (tasks, context) -> new LevelResults(tasks, context.kernels()).rewrite());

    private static final PostOp TIMES = new PostOp.Combine(Binary.Function.MULTIPLY);
    private static final PostOp PLUS = new PostOp.Combine(Binary.Function.ADD);

    private final TaskGraph tasks;
    private final ValueTable values;
    private final PreparedKernels kernels;

    /**
     * A product and the stage that reads its sums.
     *
     * @param sums
     *            the sums as the chain reads them
     * @param channels
     *            the axis of the result's channels, in the shape in which the chain reads them
     */
    private record Product(int task, Stage stage, Arg sums, Stage chain, int channels) {
        Arg result() {
            return Objects.requireNonNull(stage.onlyOutput());
        }

        long count() {
            return sums.spec().shape().dim(channels);
        }
    }

    /** The operands of post-ops, and the stages that compute them. */
    private record Operands(List<PostOp> postOps, List<Arg> args, List<Stage> stages) {
    }

    private LevelResults(TaskGraph tasks, PreparedKernels kernels) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.kernels = kernels;
    }

    private void rewrite() {
        boolean changed;
        do {
            Map<Integer, List<Task>> replaced = new HashMap<>();
            for (int i = 0; i < tasks.size(); i++) {
                List<Task> others = replaced(i);
                if (!others.isEmpty()) {
                    replaced.put(i, others);
                }
            }
            changed = !replaced.isEmpty();
            List<Task> all = new ArrayList<>();
            for (int i = 0; i < tasks.size() && changed; i++) {
                Task task = tasks.get(i);
                if (task != null) {
                    all.addAll(replaced.getOrDefault(i, List.of(task)));
                }
            }
            if (changed) {
                tasks.replaceAll(all);
            }
        } while (changed);
    }

    /** Returns the tasks in place of a chain, whose product is removed; none if it stays. */
    private List<Task> replaced(int index) {
        if (!(tasks.get(index) instanceof Task.Compute task) || task.stages().size() != 1 || !task.isPure()
                || !(task.stages().getFirst().computation() instanceof Chain chain)) {
            return List.of();
        }
        for (int i = 0; i < chain.inputs(); i++) {
            Product product = product(index, task, i);
            SumSteps steps = product == null ? null : SumSteps.of(chain, i, task.stages().getFirst().specs());
            List<Task> replaced = product == null || steps == null ? List.of() : replaced(task, product, steps);
            if (!replaced.isEmpty()) {
                tasks.remove(Objects.requireNonNull(product).task());
                return replaced;
            }
        }
        return List.of();
    }

    private List<Task> replaced(Task.Compute task, Product product, SumSteps steps) {
        Stage chain = product.chain();
        boolean whole = steps.isWhole();
        Arg result = whole ? chain.outputs().getFirst() : null;
        if (whole && (result == null || !result.isDense()
                || !result.spec().shape().equals(product.sums().spec().shape()))) {
            return List.of();
        }
        Operands operands = operands(product, steps);
        Computation computation = operands == null ? null : with(product.stage(), operands.postOps());
        if (operands == null || computation == null) {
            return List.of();
        }
        TensorSpec spec = TensorSpec.of(steps.levels(), product.sums().spec().shape());
        Arg levels = result != null
                ? result
                : new Arg(new Arg.Temporary(operands.args().size()), 0, spec);
        List<@Nullable Arg> inputs = new ArrayList<>(product.stage().inputs());
        inputs.addAll(operands.args());
        Stage stage = Stage.of(product.stage().access(), computation, inputs,
                new Arg(levels.source(), levels.offset(), with(product.result().spec(), steps.levels())));
        if (!Providers.haveTheSame(kernels, product.stage(), stage)) {
            return List.of();
        }
        // Values are added only now, when it is certain that they are written.
        List<Task> made = new ArrayList<>();
        List<Arg> stored = new ArrayList<>();
        Access access = chain.access();
        for (int i = 0; i < operands.args().size(); i++) {
            Stage side = operands.stages().get(i);
            Arg out = Objects.requireNonNull(side.onlyOutput());
            int value = values.add(values.name(product.sums().value()) + "@" + i, out.spec());
            values.place(value, task.place());
            stored.add(operands.args().get(i).of(value));
            made.add(Task.Compute.ofStages(List.of(access), List.of(side.with(side.inputs(), List.of(out.of(value)))),
                    List.of(), task.place()));
        }
        if (result == null) {
            int value = values.add(values.name(product.sums().value()) + "@levels", spec);
            values.place(value, task.place());
            levels = levels.of(value);
        }
        inputs = new ArrayList<>(product.stage().inputs());
        inputs.addAll(stored);
        Arg out = Objects.requireNonNull(stage.onlyOutput());
        Task.Compute before = tasks.compute(product.task());
        List<Access> operations = new ArrayList<>(before.operations());
        if (whole) {
            operations.addAll(task.operations());
        }
        made.add(Task.Compute.ofStages(operations,
                List.of(stage.with(inputs, List.of(new Arg(levels.source(), levels.offset(), out.spec())))),
                List.of(), task.place()));
        if (!whole) {
            SumSteps.Part rest = steps.rest();
            List<@Nullable Arg> read = new ArrayList<>();
            for (int input : rest.inputs()) {
                read.add(input == SumSteps.LEVELS ? levels : chain.inputs().get(input));
            }
            made.add(task.with(task.operations(),
                    List.of(new Stage(access, new Step.Work.Compute(rest.chain()), read,
                            chain.outputs(), null))));
        }
        return made;
    }

    /** Returns the product that writes an input of a task, if nothing else reads it and it can run later. */
    private @Nullable Product product(int index, Task.Compute task, int input) {
        Stage chain = task.stages().getFirst();
        Arg sums = chain.inputs().get(input);
        if (sums == null || sums.spec().dtype() != DType.INT32 || sums.value() < 0 || !sums.isDense()
                || !tasks.isTemporaryOfOne(sums.value()) || tasks.readers(sums.value()).size() != 1) {
            return null;
        }
        int writer = tasks.writers(sums.value()).first();
        if (!(tasks.get(writer) instanceof Task.Compute before) || before.stages().size() != 1 || !before.isPure()
                || before.writes().length != 1 || !before.placeRequest().equals(task.placeRequest())
                || Arrays.stream(before.reads()).anyMatch(value -> tasks.writers(value).isAnyIn(writer + 1, index))) {
            return null;
        }
        Stage stage = before.stages().getFirst();
        Arg out = stage.onlyOutput();
        int channels = out == null || stage.inputs().size() != 2 || out.offset() != 0 || sums.offset() != 0
                ? -1
                : channels(stage, out.spec(), sums.spec());
        return channels < 0 ? null : new Product(writer, stage, sums, chain, channels);
    }

    /** Returns the axis of channels, or columns, of a product's result as a chain reads it; −1 for other stages. */
    private static int channels(Stage stage, TensorSpec result, TensorSpec read) {
        int rank = result.shape().rank();
        TensorSpec x = Objects.requireNonNull(stage.inputs().getFirst()).spec();
        if (!QuantizedOperands.TYPES.contains(x.dtype()) || result.shape().size() == 0
                || result.shape().size() != read.shape().size()) {
            return -1;
        }
        return switch (stage.computation()) {
            case MatMul product when product.postOps().isEmpty() && result.isRowMajor() && x.shape().rank() > 1
                    && result.shape().equals(read.shape()) ->
                rank - 1;
            case Convolution convolution when convolution.postOps().isEmpty() && rank > 2 ->
                result.isRowMajor() && result.shape().equals(read.shape())
                        ? 1
                        : isChannelsLast(result, read.shape()) ? rank - 1 : -1;
            case null, default -> -1;
        };
    }

    /** Whether the memory of images is that of a shape with the channels as its last axis. */
    private static boolean isChannelsLast(TensorSpec images, Shape read) {
        int rank = images.shape().rank();
        if (read.rank() != rank || images.layout() instanceof Layout.Opaque) {
            return false;
        }
        long[] steps = read.strides();
        long[] strides = images.strides();
        for (int i = 0; i < rank; i++) {
            int at = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
            if (read.dim(at) != images.shape().dim(i) || (images.shape().dim(i) > 1 && steps[at] != strides[i])) {
                return false;
            }
        }
        return true;
    }

    private static TensorSpec with(TensorSpec spec, DType dtype) {
        return new TensorSpec(dtype, spec.shape(), spec.layout());
    }

    private static @Nullable Computation with(Stage stage, List<PostOp> postOps) {
        return switch (stage.computation()) {
            case MatMul product -> new MatMul(product.transposeX(), product.transposeY(), product.bias(), postOps);
            case Convolution convolution ->
                new Convolution(convolution.window(), convolution.groups(), convolution.bias(), postOps);
            case null, default -> null;
        };
    }

    /** Returns the post-ops with stages that write their operands; null if the kernel has none for them. */
    private static @Nullable Operands operands(Product product, SumSteps steps) {
        List<PostOp> postOps = new ArrayList<>();
        List<Arg> args = new ArrayList<>();
        List<Stage> stages = new ArrayList<>();
        boolean direct = steps.functions().isEmpty();
        boolean fits = add(product, steps.factor(direct), TIMES, postOps, args, stages)
                && add(product, steps.shift(direct), PLUS, postOps, args, stages);
        if (!direct) {
            steps.functions().forEach(each -> postOps
                    .add(new PostOp.Apply(each.function(), each.alpha(), each.beta())));
            fits = fits && add(product, steps.reciprocal(), TIMES, postOps, args, stages)
                    && add(product, steps.zeroPoint(), PLUS, postOps, args, stages);
        }
        return fits && PostOp.endInLevels(postOps) ? new Operands(postOps, args, stages) : null;
    }

    private static boolean add(Product product, SumSteps.@Nullable Part part, PostOp postOp, List<PostOp> postOps,
            List<Arg> args, List<Stage> stages) {
        if (part == null) {
            return true;
        }
        List<@Nullable Arg> inputs = new ArrayList<>();
        part.inputs().forEach(input -> inputs.add(product.chain().inputs().get(input)));
        TensorSpec[] given = inputs.stream().map(arg -> Objects.requireNonNull(arg).spec()).toArray(TensorSpec[]::new);
        TensorSpec own = part.chain().infer(given)[0];
        TensorSpec spec = operand(product, own);
        if (own.dtype() != DType.FLOAT32 || spec == null) {
            return false;
        }
        Arg.Source source = new Arg.Temporary(args.size());
        stages.add(Stage.of(product.chain().access(), part.chain(), inputs, new Arg(source, 0, own.rowMajor())));
        args.add(new Arg(source, 0, spec));
        postOps.add(postOp);
        return true;
    }

    /** Returns an operand of the chain as an operand of a post-op; null if it is none of the kernel's fast ones. */
    private static @Nullable TensorSpec operand(Product product, TensorSpec own) {
        Shape shape = own.shape();
        TensorSpec result = product.result().spec();
        boolean ofImages = product.stage().computation() instanceof Convolution;
        if (shape.size() == 1) {
            long[] one = new long[ofImages ? result.shape().rank() : 1];
            Arrays.fill(one, 1);
            return TensorSpec.of(own.dtype(), one);
        }
        if (shape.equals(product.sums().spec().shape())) {
            return ofImages ? with(result, own.dtype()) : null;
        }
        int at = product.channels() - (product.sums().spec().shape().rank() - shape.rank());
        if (at < 0 || shape.dim(at) != product.count() || shape.size() != product.count()) {
            return null;
        }
        if (!ofImages) {
            return TensorSpec.of(own.dtype(), product.count());
        }
        long[] dims = new long[result.shape().rank()];
        Arrays.fill(dims, 1);
        dims[1] = product.count();
        return TensorSpec.of(own.dtype(), dims);
    }
}
