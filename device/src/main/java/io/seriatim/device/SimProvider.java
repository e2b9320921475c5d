package io.seriatim.device;

import java.util.List;

/** Opens simulated accelerators. */
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
        throw new DeviceNotFoundException(place, "simulated accelerators are not here yet.");
    }
}
