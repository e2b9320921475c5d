package io.seriatim.executor;

import io.seriatim.device.Device;
import io.seriatim.device.Devices;
import io.seriatim.graph.Attribute;
import io.seriatim.graph.Interpreter;
import io.seriatim.graph.Program;
import io.seriatim.graph.VarDesc;
import io.seriatim.graph.VarType;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Copy;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * A program, analysed once and run many times, by many threads at once. Runs on one scope go in parallel if the program writes nothing that outlives them, else one after the other; runs on different scopes
 * always in parallel.
 */
public final class Plan {
    private final Executor executor;
    private final Program program;
    private final Feeds feeds;
    private final Fetches fetches;
    private final Accesses accesses;
    private final Dependencies dependencies;
    private final Lifetimes lifetimes;
    private final RunLoop loop;
    private final boolean writesScope;
    private final AtomicLong runs = new AtomicLong();
    private final Map<List<TensorSpec>, Specialised> specialisations = new LinkedHashMap<>(8, 0.75f, true);
    private final ReentrantReadWriteLock order = new ReentrantReadWriteLock(true);

    /** A specialisation and the frames of its past runs. */
    private record Specialised(Specialisation specialisation, ArrayDeque<Frame> free) {
    }

    Plan(Executor executor, Program program, Feeds feeds, Fetches fetches) {
        this.executor = executor;
        this.program = program.copy();
        this.feeds = feeds;
        this.fetches = fetches;
        this.accesses = Accesses.of(this.program, feeds.names(), fetches.names());
        this.dependencies = Dependencies.of(accesses, executor.options().sequential(), executor.options().paddleRandom() != null);
        this.lifetimes = Lifetimes.of(accesses);
        this.loop = executor.loop(dependencies);
        this.writesScope = accesses.operations().stream().flatMap(access -> access.writes().values().stream())
                .anyMatch(value -> accesses.values().get(value).persistable());
    }

    /**
     * Runs the program on the executor's scope.
     *
     * @param values
     *            one for each feed, in order
     * @return what was fetched
     */
    public Results run(Tensor... values) {
        return run(executor.scope(), values);
    }

    /**
     * Runs the program.
     *
     * @param root
     *            where variables are that outlive runs
     * @param values
     *            one for each feed, in order
     * @return what was fetched
     */
    public Results run(Scope root, Tensor... values) {
        if (values.length != feeds.names().size()) {
            throw new IllegalArgumentException("The plan is fed " + feeds.names() + ", but is given " + values.length + " tensors");
        }
        Map<String, Tensor> fed = LinkedHashMap.newLinkedHashMap(values.length);
        for (int i = 0; i < values.length; i++) {
            fed.put(feeds.names().get(i), checked(feeds.names().get(i), values[i]));
        }
        var lock = writesScope ? order.writeLock() : order.readLock();
        lock.lock();
        try {
            return run(root, fed);
        } finally {
            lock.unlock();
        }
    }

    private Tensor checked(String name, Tensor value) {
        VarDesc desc = program.global().var(name);
        VarType.TensorType type = desc == null ? null : desc.type().tensorType();
        if (desc != null && type != null && Boolean.TRUE.equals(desc.needCheckFeed())) {
            long[] dims = type.shape();
            boolean fits = type.dtype() == value.dtype() && dims.length == value.shape().rank();
            for (int i = 0; fits && i < dims.length; i++) {
                fits = dims[i] < 0 || dims[i] == value.shape().dim(i);
            }
            if (!fits) {
                throw new IllegalArgumentException("Feed '" + name + "' must be " + type + " (-1 matches any), but is " + value.spec());
            }
        }
        return isWritten(name) || !value.spec().isRowMajor() ? copy(value, Devices.system().host()) : value;
    }

    private boolean isWritten(String name) {
        return accesses.operations().stream().anyMatch(access -> access.mutates(name));
    }

    private static Tensor copy(Tensor tensor, Device device) {
        Tensor copy = Tensor.allocate(device, tensor.spec().rowMajor());
        try (Kernel kernel = Kernels.system().prepare(Copy.PLAIN, device.place(), tensor.spec(), copy.spec())) {
            kernel.run(new Tensor[]{tensor, copy}, KernelContext.current());
        }
        return copy;
    }

    private Results run(Scope root, Map<String, Tensor> fed) {
        Device host = Devices.system().host();
        Specialised specialised = specialised(root, fed);
        Frame frame = take(specialised, host);
        try {
            frame.begin(fed, root, executor.interpreter(), program, runs.getAndIncrement());
            loop.run(index -> execute(frame, index));
            Map<String, Tensor> results = new LinkedHashMap<>();
            for (int i = 0; i < fetches.names().size(); i++) {
                results.put(fetches.names().get(i), fetched(frame.values[accesses.fetched().get(i)], fetches.names().get(i), host));
            }
            return new Results(results);
        } finally {
            synchronized (specialisations) {
                specialised.free().push(frame);
            }
        }
    }

    private static Tensor fetched(@Nullable Object value, String name, Device device) {
        if (value instanceof Tensor tensor) {
            return copy(tensor, device);
        }
        throw new IllegalArgumentException(
                "Fetch '" + name + "' " + (value == null ? "has no value: nothing computes it" : "holds no tensor"));
    }

    private void execute(Frame frame, int index) {
        try {
            frame.execute(index, KernelContext.current());
            if (executor.options().nanCheck()) {
                frame.requireFinite(index);
            }
        } catch (ProgramFailedException e) {
            throw e;
        } catch (Exception e) {
            throw failure(index, e);
        }
    }

    private ProgramFailedException failure(int index, Exception e) {
        Accesses.Access access = accesses.operations().get(index);
        String built = access.op().attribute("op_callstack") instanceof Attribute.Texts(List<String> stack) && !stack.isEmpty()
                ? "; built at " + stack.getLast()
                : "";
        return new ProgramFailedException(access.op().type(),
                "Operation " + access.index() + " (" + access.op().type() + ", outputs " + access.op().outputNames() + ") failed: " + e.getMessage()
                        + built,
                e);
    }

    private Specialised specialised(Scope root, Map<String, Tensor> fed) {
        List<TensorSpec> key = new ArrayList<>(fed.values().stream().map(tensor -> tensor.spec().rowMajor()).toList());
        synchronized (specialisations) {
            Specialised known = specialisations.get(key);
            if (known == null) {
                boolean reuses = executor.options().threads() == 1;
                PaddleRandom random = executor.options().paddleRandom();
                known = new Specialised(
                        new Specialiser(accesses, lifetimes, executor.kernels(), reuses, random)
                                .specialise(fed, root),
                        new ArrayDeque<>());
                specialisations.put(key, known);
                while (specialisations.size() > executor.options().specialisations()) {
                    var oldest = specialisations.entrySet().iterator();
                    oldest.next().getValue().free().forEach(Frame::close);
                    oldest.remove();
                }
            }
            return known;
        }
    }

    private Frame take(Specialised specialised, Device device) {
        synchronized (specialisations) {
            Frame free = specialised.free().poll();
            if (free != null) {
                return free;
            }
        }
        return new Frame(specialised.specialisation(), accesses, device, executor.kernels());
    }
}
