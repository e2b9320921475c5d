package io.seriatim.tensor.array;

import io.seriatim.device.Access;
import io.seriatim.device.Event;
import io.seriatim.device.Place;
import io.seriatim.device.Stream;
import io.seriatim.engine.Completion;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.OpKind;
import io.seriatim.engine.Var;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pushes operations on arrays. On the host the worker thread computes; on an accelerator it launches the kernel, and
 * the device's event completes the operation.
 */
final class ArrayOps {
    private ArrayOps() {
    }

    /**
     * Pushes a computation.
     *
     * @param name
     *            the operation's name
     * @param reads
     *            its inputs
     * @param writes
     *            its outputs
     * @param more
     *            other variables that it mutates
     */
    static void compute(String name, Computation computation, List<NDArray> reads, List<NDArray> writes, Var... more) {
        requireApart(name, writes);
        List<NDArray> copies = new ArrayList<>(0);
        try {
            push(name, computation, apart(computation, reads, writes, copies), writes, more);
        } finally {
            copies.forEach(NDArray::close);
        }
    }

    private static void requireApart(String name, List<NDArray> writes) {
        for (int i = 0; i < writes.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (overlap(writes.get(j), writes.get(i))) {
                    throw new IllegalArgumentException(
                            name + ": result " + j + " and result " + i + " are to be written into '"
                                    + writes.get(j).name() + "' and '" + writes.get(i).name()
                                    + "', which overlap: give each memory of its own");
                }
            }
        }
    }

    /** The inputs, with a copy of each that the outputs would overwrite while it is still read. */
    private static List<NDArray> apart(Computation computation, List<NDArray> reads, List<NDArray> writes,
            List<NDArray> copies) {
        List<NDArray> inputs = new ArrayList<>(reads);
        TensorSpec[] specs = specs(reads, writes);
        for (int i = 0; i < inputs.size(); i++) {
            NDArray read = inputs.get(i);
            boolean inPlace = computation.inPlace(i, specs);
            if (!computation.mutates(i)
                    && writes.stream().anyMatch(write -> spoils(write, read, inPlace && write == writes.getFirst()))) {
                NDArray copy = read.copy();
                copies.add(copy);
                inputs.set(i, copy);
            }
        }
        return inputs;
    }

    private static TensorSpec[] specs(List<NDArray> reads, List<NDArray> writes) {
        TensorSpec[] specs = new TensorSpec[reads.size() + writes.size()];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = (i < reads.size() ? reads.get(i) : writes.get(i - reads.size())).tensor().spec();
        }
        return specs;
    }

    private static boolean spoils(NDArray write, NDArray read, boolean inPlace) {
        return overlap(write, read) && !(inPlace && write.tensor().offset() == read.tensor().offset());
    }

    private static boolean overlap(NDArray one, NDArray other) {
        Access a = one.tensor().access(true);
        Access b = other.tensor().access(true);
        return one.storage().equals(other.storage()) && a.offset() < b.offset() + b.bytes()
                && b.offset() < a.offset() + a.bytes();
    }

    private static void push(String name, Computation computation, List<NDArray> reads, List<NDArray> writes,
            Var... more) {
        List<NDArray> all = new ArrayList<>(reads);
        all.addAll(writes);
        Placement placement = onePlace(name, all);
        @Nullable
        Tensor[] tensors = new Tensor[all.size()];
        for (int i = 0; i < tensors.length; i++) {
            tensors[i] = all.get(i).tensor();
        }
        Kernel kernel = PreparedKernels.system().get(computation, placement.place(), specs(reads, writes));
        Touched touched = Touched.of(reads, writes, computation);
        OpBuilder op = touched.declare(writes.getFirst().storage().engine().op(name), more).on(placement.lane());
        if (placement.place().isHost()) {
            op.push(() -> {
                touched.observe(name);
                try {
                    kernel.run(tensors, KernelContext.current());
                } finally {
                    // Kernels work on addresses, and unreachable memory is freed.
                    Reference.reachabilityFence(tensors);
                }
            });
        } else {
            Stream stream = placement.compute();
            op.pushAsync(done -> issue(stream, touched, done,
                    () -> stream.launch(name, touched.accesses(), () -> kernel.run(tensors, KernelContext.current()))));
        }
    }

    private static void issue(Stream stream, Touched touched, Completion done, Runnable launch) {
        Event end;
        // Atomic: the stream's next event takes the failure, and launches before it are skipped, so no other worker may
        // launch in between.
        synchronized (stream) {
            touched.order(stream);
            launch.run();
            end = stream.record();
            touched.launched(stream, end);
        }
        end.onDone(failure -> {
            if (failure == null) {
                done.complete();
            } else {
                done.fail(failure);
            }
        });
    }

    private static Placement onePlace(String name, List<NDArray> arrays) {
        NDArray first = arrays.getFirst();
        for (NDArray array : arrays) {
            if (!array.storage().engine().equals(first.storage().engine())) {
                throw new IllegalArgumentException(name + ": '" + first.name() + "' and '" + array.name()
                        + "' are on different engines, which cannot order them: copy the values of one over by hand");
            }
            if (!array.storage().placement().equals(first.storage().placement())) {
                throw new IllegalArgumentException(
                        name + ": '" + first.name() + "' is at " + first.place() + " and '" + array.name() + "' at "
                                + array.place()
                                + ": copy one with copyTo(place), and use the arrays of one set of devices");
            }
        }
        return first.storage().placement();
    }

    /** Pushes a copy of equal shapes and types, both dense, between two places. */
    static void transfer(NDArray from, NDArray to) {
        Placement source = from.storage().placement();
        Placement target = to.storage().placement();
        boolean in = !target.place().isHost();
        Stream stream = in ? target.copyIn() : source.copyOut();
        String name = in ? "copy to " + target.place() : "copy from " + source.place();
        Touched touched = Touched.of(List.of(from), List.of(to), Copy.PLAIN);
        Tensor read = from.tensor();
        Tensor write = to.tensor();
        OpBuilder op = touched.declare(to.storage().engine().op(name)).on((in ? target : source).lane())
                .kind(in ? OpKind.COPY_IN : OpKind.COPY_OUT);
        op.pushAsync(
                done -> issue(stream, touched, done, () -> stream.copy(name, read.access(false), write.access(true))));
    }

    /** Pushes Java code that works on host memory. */
    static void call(NDArrays arrays, String name, List<NDArray> reads, List<NDArray> writes, ArrayBody body,
            Var... more) {
        List<NDArray> all = new ArrayList<>(reads);
        all.addAll(writes);
        for (NDArray array : all) {
            array.storage().requireOpen();
            if (!array.storage().engine().equals(arrays.engine())) {
                throw new IllegalArgumentException(name + ": '" + array.name()
                        + "' is on another engine than the operation, which cannot order it: copy the values over "
                        + "by hand");
            }
        }
        requireApart(name, writes);
        List<NDArray> copies = new ArrayList<>(0);
        try {
            List<NDArray> inputs = reads.stream()
                    .map(array -> here(array, copies, array.place().isHost() ? array : array.copyTo(Place.CPU)))
                    .toList();
            List<NDArray> outputs = writes.stream().map(array -> here(array, copies,
                    array.place().isHost()
                            ? array
                            : array.home().at(Place.CPU).empty(array.dtype(), array.shape().dims())))
                    .toList();
            pushCall(arrays.engine().op(name), name, inputs, outputs, body, more);
            for (int i = 0; i < outputs.size(); i++) {
                if (!writes.get(i).place().isHost()) {
                    writes.get(i).copyFrom(outputs.get(i));
                }
            }
        } finally {
            copies.forEach(NDArray::close);
        }
    }

    private static NDArray here(NDArray array, List<NDArray> copies, NDArray onHost) {
        if (onHost != array) {
            copies.add(onHost);
        }
        return onHost;
    }

    private static void pushCall(OpBuilder op, String name, List<NDArray> reads, List<NDArray> writes, ArrayBody body,
            Var... more) {
        List<Tensor> inputs = reads.stream().map(NDArray::tensor).toList();
        List<Tensor> outputs = writes.stream().map(NDArray::tensor).toList();
        Touched touched = Touched.of(reads, writes, Copy.PLAIN);
        touched.declare(op, more).push(() -> {
            touched.observe(name);
            try {
                body.run(inputs, outputs);
            } finally {
                Reference.reachabilityFence(inputs);
                Reference.reachabilityFence(outputs);
            }
        });
    }

    /** The memory that an operation reads or writes, without duplicates. */
    private record Touched(Map<Storage, Boolean> storages, List<Part> parts, List<Storage> overwritten) {
        /** One operand. */
        record Part(Storage storage, Tensor tensor, boolean write) {
        }

        static Touched of(List<NDArray> reads, List<NDArray> writes, Computation computation) {
            Map<Storage, Boolean> storages = new LinkedHashMap<>();
            List<Part> parts = new ArrayList<>();
            for (int i = 0; i < reads.size(); i++) {
                NDArray array = reads.get(i);
                boolean write = computation.mutates(i);
                storages.merge(array.storage(), write, Boolean::logicalOr);
                parts.add(new Part(array.storage(), array.tensor(), write));
            }
            List<Storage> overwritten = new ArrayList<>();
            for (NDArray array : writes) {
                if (storages.put(array.storage(), true) == null && array.isWhole()) {
                    overwritten.add(array.storage());
                }
                parts.add(new Part(array.storage(), array.tensor(), true));
            }
            return new Touched(storages, parts, overwritten);
        }

        OpBuilder declare(OpBuilder op, Var... more) {
            OpBuilder builder = op.mutates(more);
            for (Map.Entry<Storage, Boolean> entry : storages.entrySet()) {
                Var var = entry.getKey().var();
                builder = !entry.getValue()
                        ? builder.reads(var)
                        : overwritten.contains(entry.getKey()) ? builder.overwrites(var) : builder.mutates(var);
            }
            return builder;
        }

        void observe(String name) {
            for (Part part : parts) {
                part.storage().observe(part.tensor(), name, part.write());
            }
        }

        void order(Stream stream) {
            storages.forEach((storage, write) -> storage.order(stream, write));
        }

        void launched(Stream stream, Event event) {
            storages.forEach((storage, write) -> storage.launched(stream, event, write));
        }

        List<Access> accesses() {
            return parts.stream().map(part -> part.tensor().access(part.write())).toList();
        }
    }
}
