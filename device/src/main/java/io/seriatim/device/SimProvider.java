package io.seriatim.device;

import java.util.List;

/** Opens simulated accelerators, up to a maximum number. {@link #found} lists the first two. */
record SimProvider(int count, SimOptions options, RaceDetector detector) implements DeviceProvider {
    @Override
    public String kind() {
        return "sim";
    }

    @Override
    public List<Place> found() {
        return List.of(Place.sim(0), Place.sim(1));
    }

    @Override
    public Device open(Place place) {
        if (place.index() >= count) {
            throw new DeviceNotFoundException(place,
                    "this process has " + count + " simulated accelerators, sim:0 to sim:" + (count - 1) + ".");
        }
        return new SimDevice(place, options, detector);
    }
}
