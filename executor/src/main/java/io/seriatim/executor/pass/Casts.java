package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Eliminates casts between float32 and 16-bit types, which mixed precision inserts around operations. Kernels compute
 * in float32, but can read 16-bit operands directly and round once when they write.
 *
 * <p>
 * An elementwise operation whose operands are all widened, and whose result is narrowed, operates on the narrow values
 * instead. Other operations that support mixed types ({@link Computation#mixes}) read the value before widening, and
 * write a result narrow if it is only narrowed. These rewrites preserve bits if the kernels compute in the same way in
 * float32. A matrix product whose result is only widened writes float32 directly; its sums are not rounded to 16 bits.
 */
final class Casts {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.CASTS, Casts::rewrite);

    /** Lets a product write float32 if its result is only widened. */
    static final Fusion.Rule WIDE_PRODUCTS = Casts::wide;

    private static final String PORTABLE = "portable";

    private final ValueTable values;
    private final PreparedKernels kernels;
    private final TaskGraph tasks;

    /** A task that only casts a whole value. */
    private record Cast(int index, Arg from, Arg to) {
        /** Returns whether the cast is exact. */
        boolean isWidening() {
            return from.spec().dtype().bytes() < to.spec().dtype().bytes();
        }
    }

    private Casts(TaskGraph tasks, PreparedKernels kernels) {
        this.values = tasks.values();
        this.kernels = kernels;
        this.tasks = tasks;
    }

    private static void rewrite(TaskGraph tasks, PassContext context) {
        Casts casts = new Casts(tasks, context.kernels());
        for (int i = 0; i < casts.tasks.size(); i++) {
            if (casts.tasks.get(i) instanceof Task.Compute task && task.stages().size() == 1) {
                casts.work(i, task);
            }
        }
        for (int i = 0; i < casts.tasks.size(); i++) {
            Cast cast = casts.cast(i);
            if (cast != null && cast.isWidening()) {
                casts.read(cast);
            }
        }
        for (int i = 0; i < casts.tasks.size(); i++) {
            Cast cast = casts.cast(i);
            if (cast != null && !cast.isWidening()) {
                casts.write(cast);
            }
        }
    }

    /**
     * Returns the cast that a task performs; null if the task does anything else, or if its result is not a temporary.
     */
    private @Nullable Cast cast(int index) {
        if (!(tasks.get(index) instanceof Task.Compute task) || task.stages().size() != 1
                || !(task.stages().getFirst().computation() instanceof Copy)) {
            return null;
        }
        Arg from = task.stages().getFirst().inputs().getFirst();
        Arg to = task.stages().getFirst().outputs().getFirst();
        if (from == null || to == null || !from.isWhole(values) || !to.isWhole(values) || !from.isDense()
                || !to.isDense()
                || !from.spec().shape().equals(to.spec().shape()) || !tasks.isTemporaryOf(to.value(), index)) {
            return null;
        }
        return isMixed(from.spec().dtype(), to.spec().dtype()) || isMixed(to.spec().dtype(), from.spec().dtype())
                ? new Cast(index, from, to)
                : null;
    }

    private static boolean isMixed(DType narrow, DType wide) {
        return narrow.isHalf() && wide == DType.FLOAT32;
    }

    /** Makes an elementwise operation between casts operate on narrow values. */
    private void work(int index, Task.Compute task) {
        Stage stage = task.stages().getFirst();
        Arg out = stage.onlyOutput();
        boolean elementwise = switch (stage.computation()) {
            case Unary _,UnaryGrad _ -> true;
            case Binary binary -> binary.postOps().isEmpty();
            case null, default -> false;
        };
        Cast narrowing = elementwise && out != null && out.isWhole(values)
                ? narrowing(out.value(), index)
                : null;
        if (narrowing == null || !task.placeRequest().equals(tasks.compute(narrowing.index()).placeRequest())) {
            return;
        }
        DType dtype = narrowing.to().spec().dtype();
        List<@Nullable Arg> inputs = new ArrayList<>(stage.inputs().size());
        for (Arg arg : stage.inputs()) {
            Cast widening = arg == null || !arg.isWhole(values) ? null : widening(arg.value(), index);
            if (arg != null && (widening == null || widening.from().spec().dtype() != dtype)) {
                return;
            }
            inputs.add(widening == null ? null : widening.from());
        }
        Stage narrow = stage.with(inputs, List.of(narrowing.to()));
        if (isGood(stage, narrow)) {
            List<Access> operations = new ArrayList<>(task.operations());
            operations.addAll(tasks.compute(narrowing.index()).operations());
            tasks.remove(narrowing.index());
            tasks.put(index, task.with(operations, List.of(narrow)));
            stage.inputs().stream().filter(Objects::nonNull).forEach(arg -> leaveOut(arg.value()));
        }
    }

    /** Removes the cast that computes a value if no task reads the value any more. */
    private void leaveOut(int value) {
        if (tasks.readers(value).isEmpty() && values.isTemporary(value)) {
            for (int writer : tasks.writers(value).toArray()) {
                tasks.remove(writer);
            }
        }
    }

    /** Returns the narrowing cast that is the only reader of a value that a task writes, or null. */
    private @Nullable Cast narrowing(int value, int writer) {
        Cast cast = tasks.isTemporaryOf(value, writer) && tasks.readers(value).size() == 1
                ? cast(tasks.readers(value).first())
                : null;
        return cast != null && !cast.isWidening() ? cast : null;
    }

    /**
     * Returns the widening cast that wrote a value that a task reads, if its operand is not overwritten before; or
     * null.
     */
    private @Nullable Cast widening(int value, int reader) {
        Cast cast = tasks.writers(value).size() == 1 ? cast(tasks.writers(value).first()) : null;
        return cast != null && cast.isWidening() && isKept(cast, reader) ? cast : null;
    }

    private boolean isKept(Cast cast, int reader) {
        return cast.index() < reader && !tasks.writers(cast.from().value()).isAnyIn(cast.index(), reader);
    }

    /** Makes the readers of a widened value read the narrow value, if their kernels support it. */
    private void read(Cast cast) {
        for (int reader : tasks.readers(cast.to().value()).toArray()) {
            if (tasks.get(reader) instanceof Task.Compute task && task.stages().size() <= Task.MOST_STAGES
                    && isKept(cast, reader)) {
                List<Stage> stages = task.stages().stream().map(stage -> reading(stage, cast)).toList();
                if (!stages.equals(task.stages())) {
                    tasks.put(reader, task.with(task.operations(), stages));
                }
            }
        }
        leaveOut(cast.to().value());
    }

    private Stage reading(Stage stage, Cast cast) {
        Stage changed = stage;
        Computation computation = stage.computation();
        for (int i = 0; i < stage.inputs().size(); i++) {
            Arg arg = stage.inputs().get(i);
            if (computation != null && computation.mixes(i) && arg != null && arg.equals(cast.to())) {
                List<@Nullable Arg> inputs = new ArrayList<>(changed.inputs());
                inputs.set(i, cast.from());
                Stage narrow = changed.with(inputs, stage.outputs());
                changed = isGood(stage, narrow) ? narrow : changed;
            }
        }
        return changed;
    }

    /** Makes the task that writes a value that is only narrowed write the narrow value. */
    private void write(Cast cast) {
        int value = cast.from().value();
        int writer = tasks.writers(value).first();
        if (writer < 0 || writer >= cast.index() || !tasks.isTemporaryOf(value, writer)
                || !tasks.readers(value).isOnly(cast.index())
                || !(tasks.get(writer) instanceof Task.Compute task)
                || !task.placeRequest().equals(tasks.compute(cast.index()).placeRequest())) {
            return;
        }
        List<Stage> stages = new ArrayList<>(task.stages());
        int touching = 0;
        for (int i = 0; i < stages.size(); i++) {
            Stage stage = stages.get(i);
            if (stage.args().stream().anyMatch(arg -> arg != null && arg.value() == value)) {
                touching++;
                stages.set(i, writing(stage, cast));
            }
        }
        if (touching == 1 && !stages.equals(task.stages())) {
            List<Access> operations = new ArrayList<>(task.operations());
            operations.addAll(tasks.compute(cast.index()).operations());
            tasks.remove(cast.index());
            tasks.put(writer, task.with(operations, stages));
        }
    }

    private Stage writing(Stage stage, Cast cast) {
        int at = stage.outputs().indexOf(cast.from());
        Computation computation = stage.computation();
        if (at < 0 || computation == null || computation instanceof MatMul
                || !computation.mixes(stage.inputs().size() + at)) {
            return stage;
        }
        List<@Nullable Arg> outputs = new ArrayList<>(stage.outputs());
        outputs.set(at, cast.to());
        Stage narrow = stage.with(stage.inputs(), outputs);
        return isGood(stage, narrow) ? narrow : stage;
    }

    /**
     * Returns whether narrow values have a kernel, and it is not slower because only the portable one supports them.
     */
    private boolean isGood(Stage wide, Stage narrow) {
        String before = Providers.of(kernels, wide);
        String after = Providers.of(kernels, narrow);
        return before != null && after != null && (!after.equals(PORTABLE) || before.equals(PORTABLE));
    }

    private static @Nullable Stage wide(Stage product, Stage cast, int input) {
        if (!(product.computation() instanceof MatMul) || !(cast.computation() instanceof Copy)) {
            return null;
        }
        Arg sums = product.outputs().getFirst();
        Arg out = cast.outputs().getFirst();
        if (sums == null || out == null || !isMixed(sums.spec().dtype(), out.spec().dtype()) || !out.isDense()
                || !sums.spec().equals(out.spec().with(sums.spec().dtype()))) {
            return null;
        }
        return Stage.of(cast.access(), Objects.requireNonNull(product.computation()), product.inputs(), out);
    }
}
