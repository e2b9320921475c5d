package io.seriatim.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** The devices that a program uses. A device is opened at the first request. Most programs use {@link #system()}. */
public final class Devices implements AutoCloseable {
    private static final int MAX_SIMULATED = 64;

    private final Map<String, DeviceProvider> providers = new LinkedHashMap<>();
    private final HostDevice host;
    @GuardedBy("open")
    private final Map<Place, Device> open = new LinkedHashMap<>();
    @GuardedBy("open")
    private boolean closed;

    private Devices(Builder builder) {
        host = new HostDevice(builder.cpuMemory);
        RaceDetector detector = new RaceDetector();
        for (DeviceProvider provider : ServiceLoader.load(DeviceProvider.class, Devices.class.getClassLoader())) {
            providers.put(provider.kind(), provider);
        }
        for (DeviceProvider provider : builder.providers) {
            providers.put(provider.kind(), provider);
        }
        providers.put("sim", new SimProvider(builder.simulated, builder.sim, detector));
    }

    /**
     * Returns the devices of the process, which are never closed. {@code -Dseriatim.cpu.memory=2g} limits the host's
     * memory, and {@code -Dseriatim.sim.memory=64m} the memory of each simulated accelerator. The default limit of the
     * host in a container is the container's memory minus the maximum Java heap, but at least half of the container's
     * memory.
     *
     * @return always the same object
     */
    public static Devices system() {
        return OfProcess.DEVICES;
    }

    /**
     * Returns a builder of devices with other options, for tests.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the host.
     *
     * @return the device {@code cpu}
     */
    public Device host() {
        return host;
    }

    /**
     * Returns a device, which is opened at the first request. {@code cpu:N} is the host too.
     *
     * @param place
     *            the name of the device
     * @return the device
     * @throws DeviceNotFoundException
     *             if there is no such device; the message says which device was searched for
     * @throws IllegalStateException
     *             if {@link #close} was called
     */
    public Device get(Place place) {
        if (place.isHost()) {
            return host;
        }
        synchronized (open) {
            if (closed) {
                throw new IllegalStateException("These devices are closed: '" + place + "' cannot be opened");
            }
            Device device = open.get(place);
            if (device == null) {
                DeviceProvider provider = providers.get(place.kind());
                if (provider == null) {
                    throw new DeviceNotFoundException(place,
                            "nothing on the class path provides devices of kind '" + place.kind() + "', only cpu and "
                                    + String.join(", ", providers.keySet()) + ": add the module that provides it");
                }
                device = provider.open(place);
                open.put(place, device);
            }
            return device;
        }
    }

    /**
     * Lists the devices of this machine.
     *
     * @return {@code cpu} first, then the devices of each provider
     */
    public List<Place> found() {
        List<Place> places = new ArrayList<>();
        places.add(Place.CPU);
        providers.values().forEach(provider -> places.addAll(provider.found()));
        return places;
    }

    /** Closes the opened devices. A second call has no effect. */
    @Override
    public void close() {
        List<Device> all;
        synchronized (open) {
            closed = true;
            all = List.copyOf(open.values());
            open.clear();
        }
        all.forEach(Device::close);
        host.close();
    }

    /** The options of a set of devices. */
    public static final class Builder {
        private long cpuMemory = Long.MAX_VALUE;
        private SimOptions sim = SimOptions.DEFAULT;
        private int simulated = MAX_SIMULATED;
        private final List<DeviceProvider> providers = new ArrayList<>();

        Builder() {
        }

        /**
         * Limits the host's memory.
         *
         * @param bytes
         *            the maximum number of bytes in buffers and cache
         * @return this
         */
        public Builder cpuMemory(long bytes) {
            cpuMemory = bytes;
            return this;
        }

        /**
         * Sets the options of simulated accelerators.
         *
         * @param options
         *            the options of all of them
         * @return this
         */
        public Builder sim(SimOptions options) {
            sim = options;
            return this;
        }

        /**
         * Adds devices that are not found as a service.
         *
         * @param provider
         *            opens them; it takes precedence over a service of the same kind, except {@code sim}
         * @return this
         */
        public Builder provider(DeviceProvider provider) {
            providers.add(provider);
            return this;
        }

        /**
         * Creates the devices, without opening any.
         *
         * @return the devices
         */
        public Devices build() {
            return new Devices(this);
        }
    }

    /** Parses a size in a system property, such as {@code 64m}, {@code 2g} or {@code 1000000}. */
    static long bytes(String property, long otherwise) {
        @Nullable
        String text = System.getProperty(property);
        if (text == null || text.isBlank()) {
            return otherwise;
        }
        String digits = text.strip().toLowerCase(Locale.ROOT);
        int shift = switch (digits.charAt(digits.length() - 1)) {
            case 'k' -> 10;
            case 'm' -> 20;
            case 'g' -> 30;
            default -> 0;
        };
        try {
            return Math.multiplyExact(Long.parseLong(shift == 0 ? digits : digits.substring(0, digits.length() - 1)),
                    1L << shift);
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException(
                    "-D" + property + " must be a number of bytes such as 64m or 2g, but is '" + text + "'", e);
        }
    }

    private static final class OfProcess {
        static final Devices DEVICES = builder()
                .cpuMemory(bytes("seriatim.cpu.memory",
                        ContainerMemory.forBuffers(Path.of("/"), Runtime.getRuntime().maxMemory())))
                .sim(SimOptions.DEFAULT.withMemory(bytes("seriatim.sim.memory", SimOptions.DEFAULT.memory()))).build();

        private OfProcess() {
        }
    }
}
