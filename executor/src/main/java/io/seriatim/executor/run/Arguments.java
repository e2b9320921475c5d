package io.seriatim.executor.run;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of all kernels of a plan: views of a {@link Storage}, temporary memory of tasks, constants, keys of
 * random number generators, and packed weights.
 */
final class Arguments {
    private final CompiledPlan plan;
    private final ValueTable values;
    private final Storage storage;
    private final Work[][] works;
    private final List<RandomKey> keys = new ArrayList<>();
    private final Packing[] packings;
    private final List<KeptResult> kept;

    /**
     * The tensors that hold the key of an operation's random number generator: on the host, and at the place that reads
     * it.
     */
    record RandomKey(Access access, Tensor host, Tensor there) {
    }

    Arguments(CompiledPlan plan, Storage storage) {
        this.plan = plan;
        this.values = plan.values();
        this.storage = storage;
        this.works = new Work[plan.tasks().size()][];
        Map<Integer, List<Layouts.Packed>> packed = new HashMap<>();
        plan.layouts().forEach(each -> packed.computeIfAbsent(each.task(), _ -> new ArrayList<>(1)).add(each));
        for (int i = 0; i < works.length; i++) {
            works[i] = plan.tasks().get(i) instanceof Task.Compute compute
                    ? works(i, compute, packed.getOrDefault(i, List.of()))
                    : new Work[0];
        }
        this.packings = Packing.of(plan, works);
        this.kept = plan.kept().stream().map(KeptResult::new).toList();
    }

    private Work[] works(int index, Task.Compute task, List<Layouts.Packed> packed) {
        long limit = storage.hostLimit();
        Work[] all = new Work[task.stages().size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Work(task.stages().get(i), limit);
            List<@Nullable Arg> args = task.stages().get(i).args();
            for (int j = 0; j < args.size(); j++) {
                Arg arg = args.get(j);
                if (arg != null && !isPacked(packed, i, j)) {
                    resolve(index, task, arg, all[i].arguments(), j);
                }
            }
        }
        return all;
    }

    /** Returns whether an argument is a packed weight, which is bound separately. */
    private static boolean isPacked(List<Layouts.Packed> ofTask, int stage, int argument) {
        for (Layouts.Packed packed : ofTask) {
            if (packed.stage() == stage && packed.input() == argument) {
                return true;
            }
        }
        return false;
    }

    private void resolve(int index, Task.Compute task, Arg arg, @Nullable Tensor[] arguments, int at) {
        switch (arg.source()) {
            case Arg.Value _ -> storage.view(arg, arguments, at);
            case Arg.Temporary(int number) -> arguments[at] = new Tensor(storage.arena(task.place()),
                    plan.memory().temporaries()[index][number] + arg.offset(), arg.spec());
            case Arg.Constant(Tensor tensor) -> {
                Tensor there = task.place().isHost()
                        ? tensor
                        : storage.own(() -> Copies.to(storage.device(task.place()), tensor));
                arguments[at] = new Tensor(there.buffer(), (task.place().isHost() ? 0 : there.offset()) + arg.offset(),
                        arg.spec());
            }
            case Arg.Key(Access access) -> arguments[at] = key(access, task.place());
        }
    }

    private Tensor key(Access access, Place place) {
        for (RandomKey key : keys) {
            if (key.access() == access) {
                return key.there();
            }
        }
        TensorSpec spec = TensorSpec.of(DType.INT64, 2);
        Tensor host = storage.own(() -> Tensor.allocate(storage.device(Place.CPU), spec));
        keys.add(new RandomKey(access, host,
                place.isHost() ? host : storage.own(() -> Tensor.allocate(storage.device(place), spec))));
        return keys.getLast().there();
    }

    /** Returns the kernels of each task with their arguments. */
    Work[][] works() {
        return works;
    }

    List<RandomKey> keys() {
        return keys;
    }

    /** Binds packed weights and kept results, and sets the random keys of a run. Called after {@link Storage#begin}. */
    void begin(RunContext run) {
        pack(run.bindings());
        if (!kept.isEmpty()) {
            kept.forEach(each -> each.bind(storage, run.bindings()));
        }
        for (int i = 0; i < keys.size(); i++) {
            RandomKey key = keys.get(i);
            long[] numbers = run.sessions().get().randomKey(key.access().index()).toLongArray();
            Copies.store(key.host(), numbers);
        }
    }

    private void pack(Bindings bindings) {
        for (Packing packing : packings) {
            int value = packing.value();
            packing.bind(values.name(value), storage.get(value) instanceof Tensor tensor ? tensor : null, bindings);
        }
    }

    /** Releases packed weights and kept results. */
    void close() {
        for (Packing packing : packings) {
            packing.close(values.name(packing.value()));
        }
        kept.forEach(KeptResult::close);
    }
}
