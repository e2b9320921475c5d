package io.seriatim.tensor.kernel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Place;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.NativeHeap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A cache of kernels by computation and operands, so that each is prepared once. Kernels that a plan holds stay. The
 * others are kept up to a number of bytes off the heap: the least recently used one is evicted first, and its memory is
 * released at once, or when the run that uses it ends. Thread-safe.
 */
public final class PreparedKernels {
    private static final int MOST = 4096;
    /** The most bytes of kernels that no plan holds. */
    private static final long MOST_BYTES = 64L << 20;
    /** The factor of that limit while plans are made, whose kernels nothing holds yet. */
    private static final int WHILE_POSTPONED = 4;
    /** From so many kernels on, several threads make them: to wait for them takes about as long as to make a few. */
    private static final int MANY = 16;
    private static final PreparedKernels SYSTEM = new PreparedKernels(Kernels.system(), MOST);

    private final Kernels kernels;
    private final int capacity;
    private final long mostBytes;
    @GuardedBy("this")
    private final Map<Key, Kernel> prepared = new HashMap<>();
    /** The keys of the kernels that are kept. */
    @GuardedBy("this")
    private final IdentityHashMap<Kernel, Key> keys = new IdentityHashMap<>();
    /** How many hold each kernel. */
    @GuardedBy("this")
    private final IdentityHashMap<Kernel, Integer> holders = new IdentityHashMap<>();
    /** The kernels that are kept and that nothing holds, the least recently used one first, with their bytes. */
    @GuardedBy("this")
    private final Map<Kernel, Long> idle = new LinkedHashMap<>();
    /** The sum of the bytes in {@link #idle}. */
    @GuardedBy("this")
    private long idleBytes;
    @GuardedBy("this")
    private int postponements;
    /** Written with the lock. */
    private volatile long evictions;

    /**
     * The key of a kernel.
     *
     * @param computation
     *            the computation
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

        private TensorSpec[] specs() {
            return arguments.toArray(TensorSpec[]::new);
        }
    }

    /** What kernels are found by, with its hash code, which takes as long to compute as several searches. */
    private static final class Key {
        private final Computation computation;
        private final String kind;
        private final @Nullable TensorSpec[] arguments;
        private final int hash;

        Key(Computation computation, Place place, @Nullable TensorSpec[] arguments) {
            this.computation = computation;
            this.kind = place.kind();
            this.arguments = arguments.clone();
            this.hash = (computation.hashCode() * 31 + kind.hashCode()) * 31 + Arrays.hashCode(arguments);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other || (other instanceof Key key && hash == key.hash && kind.equals(key.kind)
                    && computation.equals(key.computation) && Arrays.equals(arguments, key.arguments));
        }

        @Override
        public int hashCode() {
            return hash;
        }
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
        this(kernels, capacity, MOST_BYTES);
    }

    /**
     * Empty.
     *
     * @param kernels
     *            those that there are
     * @param capacity
     *            how many are kept, from 1
     * @param mostBytes
     *            the most bytes off the heap of kernels that nothing holds; 64 MiB otherwise
     */
    public PreparedKernels(Kernels kernels, int capacity, long mostBytes) {
        if (capacity < 1) {
            throw new IllegalArgumentException("At least one kernel must be kept, but the capacity is " + capacity);
        }
        this.kernels = kernels;
        this.capacity = capacity;
        this.mostBytes = mostBytes;
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
     * A kernel, prepared if the cache does not have it.
     *
     * @param computation
     *            the computation
     * @param place
     *            where
     * @param arguments
     *            inputs and outputs; null for what is left out
     * @return not to be closed by the caller
     * @throws NoKernelException
     *             if there is none for these types at this place
     */
    public Kernel get(Computation computation, Place place, @Nullable TensorSpec... arguments) {
        Kernel kernel = find(computation, place, arguments);
        if (kernel == null) {
            throw kernels.missing(computation, place, arguments);
        }
        return kernel;
    }

    /**
     * A kernel, if there is one, prepared if the cache does not have it.
     *
     * @param computation
     *            the computation
     * @param place
     *            where
     * @param arguments
     *            inputs and outputs; null for what is left out
     * @return not to be closed by the caller; null if there is none for these types at this place
     * @throws PreparationMemoryError
     *             if memory is exhausted while it is prepared
     */
    public @Nullable Kernel find(Computation computation, Place place, @Nullable TensorSpec... arguments) {
        Key key = new Key(computation, place, arguments);
        synchronized (this) {
            Kernel kernel = known(key);
            if (kernel != null) {
                return kernel;
            }
        }
        return made(key, place);
    }

    /** A kernel that the cache has, which is now the most recently used one. */
    @GuardedBy("this")
    private @Nullable Kernel known(Key key) {
        Kernel kernel = prepared.get(key);
        if (kernel != null) {
            use(kernel);
        }
        return kernel;
    }

    /** A kernel that the cache did not have. */
    private @Nullable Kernel made(Key key, Place place) {
        // Made outside of the lock, since it takes milliseconds: two threads may make the same one.
        Kernel made;
        try {
            made = kernels.prepareIfAny(key.computation, place, key.arguments.clone());
        } catch (OutOfMemoryError e) {
            throw new PreparationMemoryError(key.computation, Arrays.asList(key.arguments.clone()), e);
        }
        if (made == null) {
            return null;
        }
        Kernel other;
        synchronized (this) {
            other = prepared.putIfAbsent(key, made);
            if (other == null) {
                keys.put(made, key);
                rest(made);
            }
        }
        if (other != null) {
            made.close();
            return other;
        }
        trim(made);
        return made;
    }

    /** Keeps kernels until it is closed. */
    public interface Hold extends AutoCloseable {
        /** Ends it. Does nothing the second time. */
        @Override
        void close();
    }

    /**
     * Keeps kernels, whatever else is asked for.
     *
     * @param used
     *            from {@link #get}
     * @return to be closed when they are no longer needed
     */
    public Hold hold(Collection<Kernel> used) {
        Set<Kernel> held = Collections.newSetFromMap(new IdentityHashMap<>());
        held.addAll(used);
        Hold hold = once(() -> drop(held));
        synchronized (this) {
            for (Kernel kernel : held) {
                if (holders.merge(kernel, 1, Integer::sum) == 1) {
                    wake(kernel);
                }
            }
        }
        return hold;
    }

    private static Hold once(Runnable end) {
        AtomicBoolean ended = new AtomicBoolean();
        return () -> {
            if (!ended.getAndSet(true)) {
                end.run();
            }
        };
    }

    private void drop(Set<Kernel> held) {
        List<Kernel> unknown = new ArrayList<>();
        synchronized (this) {
            for (Kernel kernel : held) {
                if (holders.computeIfPresent(kernel, (_, count) -> count == 1 ? null : count - 1) == null) {
                    // Those that were evicted before they were held have no other owner.
                    if (keys.containsKey(kernel)) {
                        rest(kernel);
                    } else {
                        unknown.add(kernel);
                    }
                }
            }
        }
        release(unknown);
        trim(null);
    }

    /** Adds a kernel that nothing holds to those that may be evicted, as the most recently used one. */
    @GuardedBy("this")
    private void rest(Kernel kernel) {
        long bytes = kernel.loadedBytes();
        idle.put(kernel, bytes);
        idleBytes += bytes;
    }

    /** Removes a kernel from those that may be evicted, if it is one of them. */
    @GuardedBy("this")
    private boolean wake(Kernel kernel) {
        Long bytes = idle.remove(kernel);
        idleBytes -= bytes == null ? 0 : bytes;
        return bytes != null;
    }

    @GuardedBy("this")
    private void use(Kernel kernel) {
        if (wake(kernel)) {
            rest(kernel);
        }
    }

    /**
     * Postpones the release of kernels while a plan is made, which holds them in the end.
     *
     * @return to be closed when they are held
     */
    public Hold postponed() {
        Hold hold = once(() -> {
            synchronized (this) {
                postponements--;
            }
            trim(null);
        });
        synchronized (this) {
            postponements++;
        }
        return hold;
    }

    /** Lets kernels go that nothing holds until the others fit. */
    @SuppressWarnings("ReferenceEquality") // Kernels are equal to themselves only.
    private void trim(@Nullable Kernel latest) {
        List<Kernel> gone = new ArrayList<>();
        synchronized (this) {
            long most = postponements > 0 ? WHILE_POSTPONED * mostBytes : mostBytes;
            Iterator<Kernel> eldest = idle.keySet().iterator();
            while ((idleBytes > most || prepared.size() > capacity) && eldest.hasNext()) {
                Kernel kernel = eldest.next();
                if (kernel != latest) {
                    gone.add(kernel);
                    long bytes = Objects.requireNonNull(idle.get(kernel));
                    idleBytes -= bytes;
                    evictions += bytes > 0 ? 1 : 0;
                    eldest.remove();
                    prepared.remove(keys.remove(kernel));
                }
            }
        }
        release(gone);
    }

    private static void release(List<Kernel> gone) {
        long bytes = gone.stream().mapToLong(Kernel::bytes).sum();
        gone.forEach(Kernel::release);
        NativeHeap.released(bytes);
    }

    /**
     * How many kernels with memory off the heap were evicted. Callers that keep kernels without a {@link #hold hold}
     * ask for them again when the number has changed: an evicted kernel still runs, but its memory is not counted.
     *
     * @return from 0
     */
    public long evictions() {
        return evictions;
    }

    /** The bytes off the heap of kernels that nothing holds. */
    synchronized long idleBytes() {
        return idleBytes;
    }

    /**
     * The bytes off the heap of all kernels that are kept or held.
     *
     * @return an estimate in bytes
     */
    public synchronized long bytes() {
        Set<Kernel> all = Collections.newSetFromMap(new IdentityHashMap<>());
        all.addAll(keys.keySet());
        all.addAll(holders.keySet());
        return all.stream().mapToLong(Kernel::bytes).sum();
    }

    /**
     * Prepares kernels that are missing, several at a time, on the calling thread and those of the common pool. Kernels
     * that cannot be prepared are skipped: {@link #get} throws for them, where the caller is known.
     *
     * @param requests
     *            in any order; equal ones are made once
     */
    public void makeAhead(Collection<Request> requests) {
        if (requests.size() >= MANY) {
            Map<Key, Place> missing = new LinkedHashMap<>();
            requests.forEach(request -> missing.putIfAbsent(
                    new Key(request.computation(), request.place(), request.specs()), request.place()));
            synchronized (this) {
                missing.keySet().removeAll(prepared.keySet());
            }
            if (missing.size() >= MANY) {
                missing.entrySet().parallelStream().forEach(each -> madeIfPossible(each.getKey(), each.getValue()));
            }
        }
    }

    /**
     * Kernels, prepared if the cache does not have them: many that are missing several at a time, on the calling thread
     * and those of the common pool.
     *
     * @param requests
     *            in any order; equal ones are made once
     * @return in the order of the requests, not to be closed by the caller; null for those that cannot be prepared:
     * {@link #get} throws for them, where the caller is known
     */
    public List<@Nullable Kernel> findAll(List<Request> requests) {
        Key[] wanted = new Key[requests.size()];
        for (int i = 0; i < wanted.length; i++) {
            Request request = requests.get(i);
            wanted[i] = new Key(request.computation(), request.place(), request.specs());
        }
        List<@Nullable Kernel> found = new ArrayList<>(wanted.length);
        Map<Key, List<Integer>> missing = new LinkedHashMap<>();
        synchronized (this) {
            for (int i = 0; i < wanted.length; i++) {
                Kernel kernel = known(wanted[i]);
                found.add(kernel);
                if (kernel == null) {
                    missing.computeIfAbsent(wanted[i], _ -> new ArrayList<>(1)).add(i);
                }
            }
        }
        Stream<Map.Entry<Key, List<Integer>>> each = missing.size() < MANY
                ? missing.entrySet().stream()
                : missing.entrySet().parallelStream();
        // Each element is written by one thread, and all are seen when the stream has ended.
        each.forEach(entry -> {
            List<Integer> places = entry.getValue();
            Kernel made = madeIfPossible(entry.getKey(), requests.get(places.getFirst()).place());
            places.forEach(place -> found.set(place, made));
        });
        return found;
    }

    /**
     * Loads kernels, as their first run would, several at a time, on the calling thread and those of the common pool.
     *
     * @param kernels
     *            from {@link #get}, in any order
     */
    public static void load(Collection<Kernel> kernels) {
        (kernels.size() < MANY ? kernels.stream() : kernels.parallelStream()).forEach(Kernel::load);
    }

    private @Nullable Kernel madeIfPossible(Key key, Place place) {
        try {
            return made(key, place);
        } catch (RuntimeException | OutOfMemoryError e) {
            // Less memory is needed when it is asked for again, after the others.
            System.getLogger(PreparedKernels.class.getName()).log(System.Logger.Level.DEBUG,
                    "A kernel cannot be made ahead", e);
            return null;
        }
    }
}
