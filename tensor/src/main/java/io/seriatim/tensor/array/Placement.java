package io.seriatim.tensor.array;

import io.seriatim.device.Device;
import io.seriatim.device.Place;
import io.seriatim.device.Stream;
import io.seriatim.engine.Lane;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The device of a place, and streams for computation and for copies in and out, so that copies overlap with
 * computation. All factories share one for each place of a device, so that their arrays can be combined; its streams
 * are closed after its last use.
 *
 * @param place
 *            its name
 * @param device
 *            whose memory arrays are in
 * @param lane
 *            where its operations queue
 * @param compute
 *            runs kernels
 * @param copyIn
 *            runs copies to it
 * @param copyOut
 *            runs copies from it to the host
 */
record Placement(Place place, Device device, Lane lane, Stream compute, Stream copyIn, Stream copyOut) {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final Map<Device, Map<Place, WeakReference<Placement>>> USED = new WeakHashMap<>();

    static Placement of(Place place, Device device) {
        synchronized (USED) {
            Map<Place, WeakReference<Placement>> ofDevice = USED.computeIfAbsent(device, _ -> new HashMap<>());
            WeakReference<Placement> known = ofDevice.get(place);
            @Nullable
            Placement placement = known == null ? null : known.get();
            if (placement == null) {
                placement = place.isHost() ? onHost(place, device) : onAccelerator(place, device);
                ofDevice.put(place, new WeakReference<>(placement));
            }
            return placement;
        }
    }

    private static Placement onHost(Place place, Device device) {
        Stream stream = device.defaultStream();
        return new Placement(place, device, Lane.of(place.toString()), stream, stream, stream);
    }

    private static Placement onAccelerator(Place place, Device device) {
        Placement made = new Placement(place, device, Lane.of(place.toString()), device.newStream("arrays"),
                device.newStream("copies in"),
                device.newStream("copies out"));
        List<Stream> streams = List.of(made.compute, made.copyIn, made.copyOut);
        CLEANER.register(made, () -> streams.forEach(Stream::close));
        return made;
    }
}
