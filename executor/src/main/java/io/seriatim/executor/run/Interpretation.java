package io.seriatim.executor.run;

import io.seriatim.device.Device;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.interpret.BranchCondition;
import io.seriatim.graph.interpret.ControlOperation;
import io.seriatim.graph.interpret.ListWrite;
import io.seriatim.graph.interpret.RepeatedOperation;
import io.seriatim.graph.interpret.Selection;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks of a run that the interpreter executes: operations whose output shapes are known only at run time, and
 * instructions. It passes values to the interpreter's session by name and takes the written values from it. It runs one
 * operation at a time.
 */
final class Interpretation {
    private final ValueTable values;
    private final Frame frame;
    private final Storage storage;
    private final long limit;
    /** By task, what is known of an operation that was interpreted before. */
    private final @Nullable Repeated[] repeated;
    /** By task, its block, once the block has been run on values. */
    private final @Nullable ControlFlow[] blocks;
    private final MovedResults moved;
    /** By value, whether it was given new memory when it was last computed. */
    private final boolean[] isNew;
    private final InterpretedResults results;
    /** By value that the rest of the block computes, whether it has memory that nothing else has. */
    private final boolean[] isOfRest;
    /** By memory, whether anything but its value may have a reference to it. */
    private final boolean[] isKept;
    private final InterpretedAttention attention;
    private final InterpretedAttention.Memory memory;

    /**
     * An operation that runs on its operands alone.
     *
     * @param operation
     *            computes new tensors; null if the operation does not only do that
     * @param list
     *            sets an element of a list; null if the operation does not only do that
     * @param selection
     *            chooses an operand of the type that its result is known to have; null if the operation does something
     *            else
     * @param branch
     *            whether the operation does nothing; null if it does something in each run
     * @param control
     *            runs the block of the operation on values; null if the operation has none, or if its variables need
     *            names
     * @param givesNew
     *            whether the session gives its results memory of their own
     */
    private record Repeated(@Nullable RepeatedOperation operation, @Nullable ListWrite list,
            @Nullable Selection selection, @Nullable BranchCondition branch, @Nullable ControlOperation control,
            boolean givesNew) {
        Repeated withoutControl() {
            return new Repeated(operation, list, selection, branch, null, givesNew);
        }
    }

    /**
     * Creates that of a frame.
     *
     * @param isSerial
     *            whether the tasks run one after the other, in the order of the plan
     */
    Interpretation(CompiledPlan plan, Frame frame, Storage storage, boolean isSerial) {
        this.values = plan.values();
        this.frame = frame;
        this.storage = storage;
        this.limit = storage.hostLimit();
        this.repeated = new Repeated[plan.tasks().size()];
        this.blocks = new ControlFlow[plan.tasks().size()];
        this.moved = storage.moved();
        this.isNew = new boolean[values.size()];
        this.isOfRest = new boolean[values.size()];
        this.results = new InterpretedResults(values, frame, storage, isNew);
        this.isKept = MovedResults.kept(plan);
        this.attention = new InterpretedAttention(plan, index -> {
            Repeated known = repeated[index];
            return known == null ? null : known.operation;
        }, isSerial);
        this.memory = new Operands(plan);
    }

    /** Operands and results of operations that compute one attention. */
    private final class Operands implements InterpretedAttention.Memory {
        private final CompiledPlan plan;

        Operands(CompiledPlan plan) {
            this.plan = plan;
        }

        @Override
        public @Nullable Object get(int value) {
            return storage.get(value);
        }

        @Override
        public void give(int task, Tensor tensor) {
            Interpretation.this.give((Task.Interpreted) plan.tasks().get(task), 0, tensor);
        }

        @Override
        public void run(int task) {
            Task.Interpreted interpreted = (Task.Interpreted) plan.tasks().get(task);
            if (!compute(repeated(task, interpreted), interpreted)) {
                throw new IllegalStateException("Operation '" + interpreted.name() + "' has not computed its result");
            }
        }

        @Override
        public Device host() {
            return frame.host();
        }
    }

    /** Returns whether interpreted operations compute attention without tensors in between. */
    synchronized boolean attends() {
        return attention.isUsed();
    }

    synchronized void run(int index, Task.Interpreted task) throws Exception {
        Access access = task.access();
        if (repeated[index] == null && ValueNumbering.isRead(access.op())) {
            read(task);
            return;
        }
        Repeated known = repeated(index, task);
        if (frame.context().recording() == null
                && (isNotTaken(known, task) || runBlock(known, index, task) || runRepeated(known, index, task)
                        || writeList(known, task) || select(known, task))) {
            return;
        }
        storage.exposed().expose(task);
        BlockSession session = frame.context().sessions().get();
        if (isAlone(task)) {
            runAlone(index, task, session);
            return;
        }
        for (int i = 0; i < access.reads().length; i++) {
            Object value = storage.get(task.reads()[i]);
            if (value != null) {
                // All runs share constants, and the interpreter may update its operands in place, so it gets a copy.
                boolean constant = values.constant(task.reads()[i]) != null;
                Object give = constant ? Copies.to(frame.host(), (Tensor) value) : value;
                if (give instanceof Tensor tensor && storage.isShared(task.reads()[i])) {
                    session.alias(values.name(access.reads()[i]), tensor);
                } else {
                    session.set(values.name(access.reads()[i]), give);
                }
                if (give instanceof Tensor tensor && !constant) {
                    // Lists and blocks may pass the tensor to other threads.
                    tensor.buffer().settle();
                }
            }
        }
        for (int i = 0; i < access.writes().length; i++) {
            if (storage.isShared(task.writes()[i]) && storage.get(task.writes()[i]) instanceof Tensor place) {
                // A block may read the memory that it writes under another name.
                session.alias(values.name(access.writes()[i]), place);
            }
        }
        within(index, () -> {
            session.run(access.index());
            return true;
        });
        store(task, known, name -> session.find(name));
        for (int value : access.reads()) {
            remove(session, values.name(value));
        }
        for (int value : access.writes()) {
            remove(session, values.name(value));
        }
    }

    /** Stores the results of an operation that has run with variables by name. */
    private void store(Task.Interpreted task, Repeated known, Function<String, @Nullable Object> computed) {
        @Nullable
        Object[] taken = results.take(task, computed, () -> given(task));
        for (int i = 0; i < taken.length; i++) {
            Object value = taken[i];
            if (value != null) {
                int target = task.writes()[i];
                isNew[target] = known.givesNew() && !values.isDeclared(target) && holds(target, value);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // The tensor itself, not an equal one.
    private boolean holds(int value, Object tensor) {
        return storage.get(value) == tensor;
    }

    /** Returns the memory that the interpreter was given for an operation, by the names of its variables. */
    private Map<String, Tensor> given(Task.Interpreted task) {
        Access access = task.access();
        Map<String, Tensor> given = new HashMap<>();
        for (int i = 0; i < access.reads().length; i++) {
            int value = task.reads()[i];
            if (storage.get(value) instanceof Tensor tensor && values.constant(value) == null) {
                given.put(values.name(access.reads()[i]), tensor);
            }
        }
        for (int i = 0; i < access.writes().length; i++) {
            if (storage.isShared(task.writes()[i]) && storage.get(task.writes()[i]) instanceof Tensor place) {
                given.put(values.name(access.writes()[i]), place);
            }
        }
        return given;
    }

    private <T> T within(int index, Supplier<T> run) {
        Recording recording = frame.context().recording();
        return WorkingMemory.within(limit,
                () -> recording == null ? run.get() : recording.inside(frame.log(), index, run));
    }

    /** Runs an operation that only computes new tensors from others; returns false if it must be run otherwise. */
    private boolean runRepeated(Repeated known, int index, Task.Interpreted task) {
        if (known.operation == null) {
            return false;
        }
        if (moved.isMove(index) && move(task.reads()[0], task.writes()[0])) {
            return true;
        }
        if (attention.run(index, memory)) {
            return true;
        }
        boolean isComputed = compute(known, task);
        if (isComputed && !frame.isChecked()) {
            // Numbers in no tensor cannot be checked.
            attention.examine(index);
        }
        return isComputed;
    }

    private boolean compute(Repeated known, Task.Interpreted task) {
        RepeatedOperation operation = known.operation;
        if (operation == null) {
            return false;
        }
        int[] reads = task.reads();
        Tensor[] operands = new Tensor[reads.length];
        for (int i = 0; i < reads.length; i++) {
            if (!(storage.get(reads[i]) instanceof Tensor tensor)) {
                return false;
            }
            operands[i] = tensor;
        }
        @Nullable
        Tensor[] results = new Tensor[task.writes().length];
        if (!operation.run(operands, results, frame.host(), limit)) {
            return false;
        }
        for (int i = 0; i < results.length; i++) {
            Tensor result = results[i];
            if (result != null) {
                give(task, i, result);
            }
        }
        return true;
    }

    private boolean isNotTaken(Repeated known, Task.Interpreted task) {
        BranchCondition branch = known.branch();
        return branch != null && branch.isFalse(operands(task));
    }

    /** Runs the block of a branch or loop; returns false if the session must do it. */
    private boolean runBlock(Repeated known, int index, Task.Interpreted task) {
        ControlOperation operation = known.control();
        Function<Block, NestedBlock> plans = frame.context().nested();
        if (operation == null || plans == null) {
            return false;
        }
        ControlFlow control = blocks[index];
        if (control == null) {
            // Not before the block is first reached: a program may have many branches that no run takes.
            control = ControlFlow.of(operation, plans.apply(operation.block()), task, values);
            if (control == null) {
                repeated[index] = known.withoutControl();
                return false;
            }
            blocks[index] = control;
        }
        ControlFlow.Run run = control.begin(frame.context(), operands(task), frame.host());
        boolean exposes = true;
        try {
            within(index, () -> {
                run.run();
                return true;
            });
            exposes = !run.exposesNothing();
        } finally {
            if (exposes) {
                storage.exposed().expose(task);
            }
        }
        @Nullable
        Object[] found = new Object[task.writes().length];
        for (int i = 0; i < found.length; i++) {
            Object value = run.result(i);
            found[i] = value == null ? null : results.separate(i, value, run);
        }
        for (int i = 0; i < found.length; i++) {
            Object value = found[i];
            if (value != null) {
                results.take(task, i, value, run);
            }
        }
        run.end();
        return true;
    }

    /** Sets an element of a list; returns false if the session must do it. */
    private boolean writeList(Repeated known, Task.Interpreted task) {
        ListWrite list = known.list();
        if (list == null) {
            return false;
        }
        @Nullable
        Object[] operands = operands(task);
        if (!list.run(operands)) {
            return false;
        }
        // The list itself has changed.
        storage.set(task.writes()[0], operands[list.list()]);
        return true;
    }

    private @Nullable Object[] operands(Task.Interpreted task) {
        int[] reads = task.reads();
        @Nullable
        Object[] operands = new Object[reads.length];
        for (int i = 0; i < reads.length; i++) {
            operands[i] = storage.get(reads[i]);
        }
        return operands;
    }

    /** Copies or passes on the chosen one of several tensors; returns false if the session must do it. */
    private boolean select(Repeated known, Task.Interpreted task) {
        Selection selection = known.selection();
        if (selection == null) {
            return false;
        }
        int target = task.writes()[0];
        if (storage.get(target) != null) {
            return false;
        }
        @Nullable
        Object[] operands = operands(task);
        int choice = selection.choose(operands);
        if (choice < 0 || !(operands[choice] instanceof Tensor tensor) || !tensor.place().isHost()
                || !tensor.spec().rowMajor().equals(values.spec(target))) {
            return false;
        }
        int chosen = task.reads()[choice];
        Tensor taken = tensor.spec().equals(values.spec(target)) && moved.isReadOnce(chosen)
                ? results.takeForSelection(chosen)
                : null;
        storage.bind(target, taken == null ? Copies.to(frame.host(), tensor) : taken);
        return true;
    }

    /** Gives a result the memory of a value, if that was allocated for it; returns false if not. */
    private boolean move(int from, int to) {
        if (!isNew[from] || !(storage.get(from) instanceof Tensor tensor)) {
            return false;
        }
        isNew[from] = false;
        isNew[to] = true;
        storage.set(to, tensor);
        return true;
    }

    /** Returns whether anything else may have a reference to the memory of a result. */
    boolean keeps(int wanted) {
        int memory = values.memory(values.result(wanted));
        return isKept[memory] && !storage.exposed().isFree(memory);
    }

    /** Returns whether the rest of the block has computed a value in memory that nothing else has. */
    boolean isOwnOfRest(int value) {
        return isOfRest[value];
    }

    /** Returns whether a value was given memory that nothing else has. */
    boolean isNew(int value) {
        return isNew[value];
    }

    /** Returns a result of the run in memory that nothing else has; null if there is none. */
    @Nullable
    Object take(int wanted) {
        boolean isNewHere = isNew[wanted] && moved.isGiven(wanted);
        isNew[wanted] = false;
        return isNewHere ? storage.get(wanted) : null;
    }

    /** Gives a value memory that nothing else has. */
    private void give(Task.Interpreted task, int index, Tensor result) {
        int target = task.writes()[index];
        if (!values.isDeclared(target)) {
            storage.set(target, result);
            isNew[target] = true;
        } else if (storage.get(target) instanceof Tensor || !result.spec().equals(values.spec(target))) {
            results.take(task, index, result);
        } else {
            storage.bind(target, result);
        }
    }

    private Repeated repeated(int index, Task.Interpreted task) {
        Repeated known = repeated[index];
        if (known == null) {
            known = repeated(task);
            repeated[index] = known;
        }
        return known;
    }

    private Repeated repeated(Task.Interpreted task) {
        Access access = task.access();
        BlockSession session = frame.context().sessions().get();
        List<String> reads = Arrays.stream(access.reads()).mapToObj(values::name).toList();
        List<String> writes = Arrays.stream(access.writes()).mapToObj(values::name).toList();
        if (!onlyComputes(task)) {
            boolean isOwn = Arrays.stream(task.writes())
                    .noneMatch(value -> values.isPersistable(value) || storage.isShared(value));
            boolean isDeclared = isOwn && task.writes().length == 1 && values.isDeclared(task.writes()[0]);
            return new Repeated(null, isOwn ? session.listWrite(access.index(), reads, writes) : null,
                    isDeclared ? session.selection(access.index(), reads, writes) : null,
                    isOwn ? session.branch(access.index(), reads, writes) : null,
                    isOwn && Arrays.stream(task.reads()).noneMatch(storage::isShared)
                            ? session.control(access.index(), reads, writes)
                            : null,
                    isOwn && session.givesNew(access.index()));
        }
        @Nullable
        Tensor[] constants = new Tensor[task.reads().length];
        Arrays.setAll(constants, i -> values.constant(task.reads()[i]));
        return new Repeated(session.repeated(access.index(), reads, writes, constants), null, null, null, null, false);
    }

    /** Returns whether an operation depends on nothing but tensors that it reads, and only computes others. */
    private boolean isAlone(Task.Interpreted task) {
        for (int value : task.reads()) {
            if (!(storage.get(value) instanceof Tensor) || values.constant(value) != null) {
                return false;
            }
        }
        return onlyComputes(task);
    }

    private boolean onlyComputes(Task.Interpreted task) {
        Operation schema = Operations.system().get(task.access().op().type());
        if (!schema.isLowered() || !schema.lodInputs().isEmpty()) {
            return false;
        }
        for (int value : task.reads()) {
            if (storage.isShared(value)) {
                return false;
            }
        }
        for (int value : task.writes()) {
            boolean isKept = values.isPersistable(value)
                    || (values.origin(value) == ValueNumbering.Origin.OUTSIDE && !values.isWanted(value));
            if (storage.isShared(value) || isKept) {
                return false;
            }
        }
        return true;
    }

    /** Runs an operation on its operands, without variables of the session. */
    private void runAlone(int index, Task.Interpreted task, BlockSession session) {
        Access access = task.access();
        List<String> names = new ArrayList<>(access.reads().length);
        @Nullable
        Object[] operands = new Object[access.reads().length];
        Map<String, Tensor> given = HashMap.newHashMap(operands.length);
        for (int i = 0; i < operands.length; i++) {
            Tensor tensor = (Tensor) Objects.requireNonNull(storage.get(task.reads()[i]));
            names.add(values.name(access.reads()[i]));
            operands[i] = tensor;
            given.put(names.get(i), tensor);
        }
        Function<String, @Nullable Object> computed = within(index,
                () -> session.run(access.index(), names, operands, frame.host()));
        results.take(task, computed, () -> given);
    }

    /**
     * Runs the rest of a block as plans of its own, which use the same session. The scope has the variables that
     * outlive the run; the results of the rest are those of this plan.
     */
    synchronized void run(int index, Task.Rest task, RestOfBlock rest) {
        Recording recording = frame.context().recording();
        RestRun run = new RestRun(task, storage::get, frame.context(), rest);
        RestOfBlock.Results results = recording == null
                ? run.results()
                : recording.inside(frame.log(), index, run::results);
        for (int i = 0; i < task.writes().length; i++) {
            int value = task.writes()[i];
            boolean isResult = i < results.values().length;
            isOfRest[value] = isResult && results.isOwn()[i];
            Object found = isResult
                    ? results.values()[i]
                    : frame.context().bindings().find(values.name(value));
            if (found instanceof Tensor tensor && storage.isInArena(tensor)) {
                found = Copies.to(frame.host(), tensor);
            }
            storage.set(value, found);
        }
    }

    /**
     * Removes a variable that the block declares from the session: the frame holds it. Variables of enclosing blocks
     * stay.
     */
    static void remove(BlockSession session, String name) {
        VarDesc desc = session.block().var(name);
        if (session.block().index() == 0 || (desc != null && !desc.isPersistable())) {
            session.remove(name);
        }
    }

    /**
     * Takes a batch for a read operation in a nested block. The batches of the global block are taken before the run.
     */
    private void read(Task.Interpreted task) throws Exception {
        Access access = task.access();
        Block block = frame.context().sessions().get().block();
        int reader = access.read(access.op().input("Reader").getFirst());
        List<Tensor> batch = frame.context().batches().next(access.op(), block, storage.get(reader));
        List<String> outputs = access.op().output("Out");
        for (int i = 0; i < access.writes().length; i++) {
            storage.set(task.writes()[i], batch.get(outputs.indexOf(values.name(access.writes()[i]))));
        }
    }
}
