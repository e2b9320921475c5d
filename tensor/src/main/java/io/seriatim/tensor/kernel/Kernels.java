package io.seriatim.tensor.kernel;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The kernels that there are, by operation, kind of place and type. For each the fastest comes first; one that has
 * nothing for the shapes or layouts at hand passes them on to the next.
 */
public final class Kernels {
    /** The property that, set to {@code portable}, leaves only the plain Java kernels. */
    public static final String PROPERTY = "seriatim.kernels";

    private static final String FAST = "fast";

    private final Map<Key, List<Entry<?>>> entries = new ConcurrentHashMap<>();

    private record Key(String operation, String kind) {
    }

    private record Entry<C extends Computation>(String provider, Class<C> type, Set<DType> dtypes,
            KernelFactory<C> factory) {
    }

    private static final class OfProcess {
        static final Kernels KERNELS = isPortableOnly() ? portable() : of(Providers.ALL.stream());

        private OfProcess() {
        }
    }

    /** The providers, in the order of their ranks; looked up once, since each executor asks for them. */
    private static final class Providers {
        static final List<KernelProvider> ALL = ServiceLoader
                .load(KernelProvider.class, KernelProvider.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get).sorted(Comparator.comparingInt(KernelProvider::rank)).toList();

        private Providers() {
        }
    }

    /** No kernels yet. */
    public Kernels() {
        // The kernels of this module's providers are in system() and portable().
    }

    /**
     * Those of the process: with {@code -Dseriatim.kernels=portable} only the plain Java ones.
     *
     * @return always the same
     */
    public static Kernels system() {
        return OfProcess.KERNELS;
    }

    /** Loads libraries that {@link #system} needs in the background. */
    public static void loadAhead() {
        if (System.getProperty(PROPERTY, FAST).equals(FAST)) {
            Providers.ALL.forEach(KernelProvider::loadAhead);
        }
    }

    /**
     * Only the plain Java ones.
     *
     * @return a new registry
     */
    public static Kernels portable() {
        return of(Providers.ALL.stream().filter(provider -> provider.rank() == KernelProvider.REFERENCE));
    }

    private static Kernels of(Stream<KernelProvider> providers) {
        Kernels kernels = new Kernels();
        providers.forEach(provider -> provider.register(kernels));
        return kernels;
    }

    private static boolean isPortableOnly() {
        String value = System.getProperty(PROPERTY, FAST);
        return switch (value) {
            case "portable" -> true;
            case FAST -> false;
            default -> throw new IllegalArgumentException(
                    "-D" + PROPERTY + " must be fast or portable, but is '" + value + "'");
        };
    }

    /**
     * Adds kernels, to be asked after those that are there. Kernels for {@code cpu} serve {@code sim} too, which runs
     * them on its own memory.
     *
     * @param provider
     *            which library or kind of code they are
     * @param kind
     *            the kind of place, for instance {@code cpu}
     * @param operation
     *            the operation's name
     * @param type
     *            the computation's record
     * @param dtypes
     *            the types (see {@link Computation#keyType})
     * @param factory
     *            prepares them
     * @param <C>
     *            the computation's record
     * @return this
     */
    public <C extends Computation> Kernels register(String provider, String kind, String operation, Class<C> type,
            Collection<DType> dtypes,
            KernelFactory<C> factory) {
        Set<DType> set = EnumSet.copyOf(dtypes);
        entries.computeIfAbsent(new Key(operation, kind), _ -> new CopyOnWriteArrayList<>())
                .add(new Entry<>(provider, type, set, factory));
        return this;
    }

    /**
     * Prepares the fastest kernel.
     *
     * @param computation
     *            the computation
     * @param place
     *            where the tensors are
     * @param arguments
     *            inputs, then outputs; null for those that are left out
     * @return the kernel, which belongs to the caller
     * @throws IllegalArgumentException
     *             if the arguments do not fit the computation
     * @throws NoKernelException
     *             if there is none; the message lists those there are
     */
    public Kernel prepare(Computation computation, Place place, @Nullable TensorSpec... arguments) {
        Kernel kernel = prepareIfAny(computation, place, arguments);
        if (kernel == null) {
            throw missing(computation, place, arguments);
        }
        return kernel;
    }

    /**
     * Prepares the fastest kernel, if there is one.
     *
     * @param computation
     *            the computation
     * @param place
     *            where the tensors are
     * @param arguments
     *            inputs, then outputs; null for those that are left out
     * @return the kernel, which belongs to the caller; null if there is none
     * @throws IllegalArgumentException
     *             if the arguments do not fit the computation
     */
    public @Nullable Kernel prepareIfAny(Computation computation, Place place, @Nullable TensorSpec... arguments) {
        DType dtype = computation.keyType(arguments);
        for (Entry<?> entry : candidates(computation, place)) {
            Kernel kernel = entry.dtypes().contains(dtype) ? prepare(entry, computation, arguments) : null;
            if (kernel != null) {
                return kernel;
            }
        }
        return null;
    }

    private List<Entry<?>> candidates(Computation computation, Place place) {
        List<Entry<?>> own = entries.get(new Key(computation.operation(), place.kind()));
        if (own == null && place.kind().equals("sim")) {
            own = entries.get(new Key(computation.operation(), "cpu"));
        }
        return own == null ? List.of() : own;
    }

    private static <C extends Computation> @Nullable Kernel prepare(Entry<C> entry, Computation computation,
            @Nullable TensorSpec[] arguments) {
        return entry.type().isInstance(computation)
                ? entry.factory().prepare(entry.type().cast(computation), arguments)
                : null;
    }

    /** The failure of a request for a kernel that does not exist; its message lists those that do. */
    NoKernelException missing(Computation computation, Place place, @Nullable TensorSpec... arguments) {
        List<Entry<?>> candidates = candidates(computation, place);
        String given = Arrays.stream(arguments).map(spec -> spec == null ? "none" : spec.toString())
                .collect(Collectors.joining(", "));
        String there = candidates.isEmpty()
                ? "there are kernels of this operation at " + places(computation.operation())
                : "there are: " + candidates.stream().map(entry -> entry.provider() + " for " + names(entry.dtypes()))
                        .collect(Collectors.joining("; "));
        return new NoKernelException("No kernel '" + computation.operation() + "' for "
                + computation.keyType(arguments) + " at " + place + " (" + given + "); " + there
                + ". Cast or copy the operands to one of these.");
    }

    private String places(String operation) {
        String places = entries.keySet().stream().filter(key -> key.operation().equals(operation)).map(Key::kind)
                .sorted()
                .collect(Collectors.joining(", "));
        return places.isEmpty() ? "no place" : places;
    }

    private static String names(Set<DType> dtypes) {
        return dtypes.stream().map(DType::toString).collect(Collectors.joining(", "));
    }

    /**
     * One line of the table of kernels.
     *
     * @param operation
     *            the operation's name
     * @param kind
     *            the kind of place
     * @param provider
     *            which library or kind of code
     * @param dtypes
     *            for which types
     */
    public record KernelInfo(String operation, String kind, String provider, List<DType> dtypes) {
    }

    /**
     * All kernels.
     *
     * @return by operation, the fastest first
     */
    public List<KernelInfo> list() {
        List<KernelInfo> infos = new ArrayList<>();
        entries.forEach((key, list) -> list.forEach(
                entry -> infos.add(
                        new KernelInfo(key.operation(), key.kind(), entry.provider(), List.copyOf(entry.dtypes())))));
        // The sort is stable: the order among the kernels of an operation stays.
        infos.sort(Comparator.comparing(KernelInfo::operation).thenComparing(KernelInfo::kind));
        return infos;
    }
}
