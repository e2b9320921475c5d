package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes one task of several, so that what is between them is never written to memory: a bias, a residual or an
 * activation becomes part of the matrix product or convolution before it, and a chain of elementwise operations one
 * kernel.
 *
 * <p>
 * A task is joined with the one that reads its result, if no other does and nothing that it reads is overwritten
 * between the two: then it may as well run where that one runs.
 */
final class Fusion {
    /** This pass, as {@link PassPipeline} runs it; each of its rules has a switch of its own. */
    static final RewritePass PASS = new RewritePass("FUSION", _ -> true, Fusion::byRules);

    private final @Nullable Task[] tasks;
    private final ValueTable values;
    private final List<Rule> rules;
    private final int[] readers;
    private final int[] lastReader;
    private final int[] writers;
    private final int[][] writes;

    /** How two stages become one. */
    interface Rule {
        /**
         * One stage in place of two, of which the second reads the first's only result as an input; null if that cannot
         * be, or does not pay.
         */
        @Nullable
        Stage joined(Stage first, Stage second, int input);
    }

    private Fusion(List<Task> tasks, ValueTable values, List<Rule> rules) {
        this.tasks = tasks.toArray(Task[]::new);
        this.values = values;
        this.rules = rules;
        int n = values.size();
        this.readers = new int[n];
        this.lastReader = new int[n];
        this.writers = new int[n];
        int[] counts = new int[n];
        for (int i = 0; i < this.tasks.length; i++) {
            for (int value : tasks.get(i).reads()) {
                readers[values.memory(value)]++;
                lastReader[values.memory(value)] = i;
            }
            for (int value : tasks.get(i).writes()) {
                counts[values.memory(value)]++;
            }
        }
        this.writes = new int[n][];
        Arrays.setAll(writes, i -> new int[counts[i]]);
        for (int i = 0; i < this.tasks.length; i++) {
            for (int value : tasks.get(i).writes()) {
                writes[values.memory(value)][writers[values.memory(value)]++] = i;
            }
        }
    }

    private static List<Task> byRules(List<Task> tasks, PassContext context) {
        List<Rule> rules = new ArrayList<>();
        if (context.isOn(PassName.EPILOGUES)) {
            KernelsAhead.ofProducts(tasks, context.options(), context.kernels());
            rules.add(new Epilogue(context.kernels(), context.options().relaxedNan()));
        }
        if (context.isOnForHost(PassName.CASTS)) {
            rules.add(Casts.WIDE_PRODUCTS);
        }
        if (context.isOn(PassName.CHAINS)) {
            rules.add(new ElementwiseChains());
        }
        if (!context.isOnForHost(PassName.FOLDING)) {
            return of(tasks, context.values(), rules);
        }
        Folding folding = new Folding(context.values());
        rules.add(folding);
        return folding.used(of(folding.withFactors(tasks), context.values(), rules));
    }

    static List<Task> of(List<Task> tasks, ValueTable values, List<Rule> rules) {
        return new Fusion(tasks, values, rules).joined();
    }

    private List<Task> joined() {
        List<Task> left = new ArrayList<>(tasks.length);
        for (int i = 0; i < tasks.length; i++) {
            Task task = Objects.requireNonNull(tasks[i]);
            int reader = task instanceof Task.Compute compute ? onlyReader(i, compute) : -1;
            Task.Compute joined = reader < 0
                    ? null
                    : join((Task.Compute) task, (Task.Compute) Objects.requireNonNull(tasks[reader]));
            if (joined == null) {
                left.add(task);
            } else {
                tasks[reader] = joined;
            }
        }
        return left;
    }

    /** The task that this one may be joined with, or −1. */
    private int onlyReader(int index, Task.Compute task) {
        if (task.writes().length != 1 || !isPure(task)) {
            return -1;
        }
        int value = task.writes()[0];
        if (values.memory(value) != value || readers[value] != 1 || writers[value] != 1 || values.isWanted(value)
                || values.isPersistable(value)
                || values.origin(value) != ValueNumbering.Origin.COMPUTED) {
            return -1;
        }
        int reader = lastReader[value];
        if (!(tasks[reader] instanceof Task.Compute other) || other.stages().size() > Task.MOST_STAGES || !isPure(other)
                || !place(task).equals(place(other))) {
            return -1;
        }
        for (int read : task.reads()) {
            int[] all = writes[values.memory(read)];
            int next = Arrays.binarySearch(all, index + 1);
            int first = next < 0 ? -next - 1 : next;
            if (first < all.length && all[first] <= reader) {
                return -1;
            }
        }
        return reader;
    }

    /** What the operation says of its device and stream. */
    static List<String> place(Task.Compute task) {
        OpDesc op = task.operations().getFirst().op();
        return Stream.of("op_device", "execution_stream")
                .map(name -> op.attribute(name) instanceof Attribute.Text(String text) ? text : "")
                .toList();
    }

    /** Whether it does nothing but compute. */
    static boolean isPure(Task.Compute task) {
        for (Access access : task.operations()) {
            Operation schema = Operations.system().find(access.op().type());
            if (schema == null || !schema.effects().isEmpty()) {
                return false;
            }
        }
        return true;
    }

    private Task.@Nullable Compute join(Task.Compute first, Task.Compute second) {
        int value = first.writes()[0];
        Stage last = first.stages().getLast();
        Task.Compute behind = second.temporaries().isEmpty()
                ? second
                : second.withTemporariesFrom(first.temporaries().size());
        Stage next = behind.stages().getFirst();
        if (last.outputs().size() != 1 || !isWhole(last.outputs().getFirst(), value)
                || isReadIn(second.stages().subList(1, second.stages().size()), value)
                || isReadIn(first.stages(), value)) {
            return null;
        }
        int input = -1;
        for (int i = 0; i < next.inputs().size(); i++) {
            Arg arg = next.inputs().get(i);
            if (arg != null && arg.value() == value) {
                if (input >= 0 || !isWhole(arg, value)) {
                    return null;
                }
                input = i;
            }
        }
        if (input < 0) {
            return null;
        }
        for (Rule rule : rules) {
            Stage joined = rule.joined(last, next, input);
            if (joined != null) {
                List<Stage> stages = new ArrayList<>(first.stages().subList(0, first.stages().size() - 1));
                stages.add(joined);
                stages.addAll(behind.stages().subList(1, behind.stages().size()));
                List<Access> operations = new ArrayList<>(first.operations());
                operations.addAll(second.operations());
                List<TensorSpec> temporaries = new ArrayList<>(first.temporaries());
                temporaries.addAll(second.temporaries());
                return Task.Compute.of(operations, stages, temporaries, second.place());
            }
        }
        return null;
    }

    private boolean isWhole(@Nullable Arg arg, int value) {
        return arg != null && arg.value() == value && arg.isWhole(values);
    }

    private static boolean isReadIn(List<Stage> stages, int value) {
        return stages.stream().flatMap(stage -> stage.inputs().stream())
                .anyMatch(arg -> arg != null && arg.value() == value);
    }
}
