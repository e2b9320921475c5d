package io.seriatim.tensor.kernel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Place;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Kernels by what they compute and for which operands, so that each is made once; the least recently used goes first. One that goes may still be running: it releases what it holds when no one can reach
 * it. For many threads.
 */
public final class PreparedKernels {
    private static final PreparedKernels SYSTEM = new PreparedKernels(Kernels.system(), 4096);

    private final Kernels kernels;
    private final int capacity;
    @GuardedBy("this")
    private final Map<Key, Kernel> prepared;

    /**
     * What a kernel is asked for by.
     *
     * @param computation
     *            what it computes
     * @param place
     *            where
     * @param arguments
     *            inputs and outputs; null for what is left out
     */
    public record Request(Computation computation, Place place, List<@Nullable TensorSpec> arguments) {
        /** Keeps a list that does not change. */
        public Request {
            arguments = Collections.unmodifiableList(new ArrayList<>(arguments));
        }

        private Key key() {
            return new Key(computation, place.kind(), arguments);
        }
    }

    private record Key(Computation computation, String kind, List<@Nullable TensorSpec> arguments) {
    }

    /**
     * Empty.
     *
     * @param kernels
     *            those that there are
     * @param capacity
     *            how many are kept, from 1
     */
    public PreparedKernels(Kernels kernels, int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("At least one kernel must be kept, but the capacity is " + capacity);
        }
        this.kernels = kernels;
        this.capacity = capacity;
        this.prepared = new LinkedHashMap<>(64, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Key, Kernel> eldest) {
                return size() > PreparedKernels.this.capacity;
            }
        };
    }

    /**
     * Those of {@link Kernels#system} that the process shares.
     *
     * @return one for all
     */
    public static PreparedKernels system() {
        return SYSTEM;
    }

    /**
     * A kernel, made if it is not there.
     *
     * @param computation
     *            what it computes
     * @param place
     *            where
     * @param arguments
     *            inputs and outputs; null for what is left out
     * @return not to be closed by the caller
     * @throws NoKernelException
     *             if there is none for these types at this place
     */
    public Kernel get(Computation computation, Place place, @Nullable TensorSpec... arguments) {
        List<@Nullable TensorSpec> specs = new ArrayList<>(arguments.length);
        for (TensorSpec argument : arguments) {
            specs.add(argument);
        }
        Key key = new Key(computation, place.kind(), specs);
        synchronized (this) {
            Kernel kernel = prepared.get(key);
            if (kernel != null) {
                return kernel;
            }
        }
        // Made outside of the lock, since it takes milliseconds: two threads may make the same one.
        Kernel made = kernels.prepare(computation, place, arguments);
        synchronized (this) {
            prepared.put(key, made);
        }
        return made;
    }

    /**
     * Makes what is not there, several at a time, on the calling thread and those of the common pool. What cannot be made is passed over: {@link #get} throws for it, where it is known who asked.
     *
     * @param requests
     *            in any order; equal ones are made once
     */
    public void makeAhead(Collection<Request> requests) {
        Map<Key, Request> missing = new LinkedHashMap<>();
        requests.forEach(request -> missing.putIfAbsent(request.key(), request));
        synchronized (this) {
            missing.keySet().removeAll(prepared.keySet());
        }
        if (missing.size() > 1) {
            missing.values().parallelStream().forEach(this::makeIfPossible);
        }
    }

    /**
     * Has kernels make what their first run would make, several at a time, on the calling thread and those of the common pool.
     *
     * @param kernels
     *            from {@link #get}, in any order
     */
    public static void load(Collection<Kernel> kernels) {
        kernels.parallelStream().forEach(Kernel::load);
    }

    private void makeIfPossible(Request request) {
        try {
            get(request.computation(), request.place(), request.arguments().toArray(TensorSpec[]::new));
        } catch (RuntimeException e) {
            System.getLogger(PreparedKernels.class.getName()).log(System.Logger.Level.DEBUG, "A kernel cannot be made ahead", e);
        }
    }
}
