package io.seriatim.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** The devices that a program uses, opened when they are first asked for. Most programs use {@link #system()}. */
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
        providers.put("sim", new SimProvider(builder.simulated, builder.sim, detector));
    }

    /**
     * Those of the process. They are never closed. {@code -Dseriatim.cpu.memory=2g} limits the host's memory,
     * {@code -Dseriatim.sim.memory=64m} a simulated accelerator's. Unless set, the host's limit in a container is the
     * container's memory without the largest Java heap, but at least half of it.
     *
     * @return always the same
     */
    public static Devices system() {
        return OfProcess.DEVICES;
    }

    /**
     * Devices with options of their own, for tests.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The host.
     *
     * @return the device {@code cpu}
     */
    public Device host() {
        return host;
    }

    /**
     * Opens a device, or gives the one that is open. {@code cpu:N} has the memory of {@code cpu}.
     *
     * @param place
     *            its name
     * @return the device
     * @throws DeviceNotFoundException
     *             if there is none, saying what was looked for
     * @throws IllegalStateException
     *             if these devices are closed
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
     * The devices that this machine has.
     *
     * @return {@code cpu} first; those of other kinds as their providers find them
     */
    public List<Place> found() {
        List<Place> places = new ArrayList<>();
        places.add(Place.CPU);
        providers.values().forEach(provider -> places.addAll(provider.found()));
        return places;
    }

    /** Closes the devices that were opened. Does nothing the second time. */
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

    /** What devices are to be like. */
    public static final class Builder {
        private long cpuMemory = Long.MAX_VALUE;
        private SimOptions sim = SimOptions.DEFAULT;
        private int simulated = MAX_SIMULATED;

        Builder() {
        }

        /**
         * Limits the host's memory.
         *
         * @param bytes
         *            the most that buffers and cache may take
         * @return this
         */
        public Builder cpuMemory(long bytes) {
            cpuMemory = bytes;
            return this;
        }

        /**
         * Says what simulated accelerators are like.
         *
         * @param options
         *            for all of them
         * @return this
         */
        public Builder sim(SimOptions options) {
            sim = options;
            return this;
        }

        /**
         * Opens nothing yet.
         *
         * @return the devices
         */
        public Devices build() {
            return new Devices(this);
        }
    }

    /** A size as people write it: {@code 64m}, {@code 2g}, {@code 1000000}. */
    static long bytes(String property, long otherwise) {
        @Nullable
        String text = System.getProperty(property);
        if (text == null || text.isBlank()) {
            return otherwise;
        }
        String digits = text.strip().toLowerCase(java.util.Locale.ROOT);
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
