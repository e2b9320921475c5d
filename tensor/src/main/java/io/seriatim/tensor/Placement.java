package io.seriatim.tensor;

import io.seriatim.device.Device;
import io.seriatim.device.Place;
import io.seriatim.device.Stream;
import io.seriatim.engine.Lane;

/**
 * What arrays need of a place: its device, and streams of their own for computation and for copies in and out, so that copies overlap with computation.
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
 *            runs copies from it
 */
record Placement(Place place, Device device, Lane lane, Stream compute, Stream copyIn, Stream copyOut) {
    static Placement of(Place place, Device device) {
        Lane lane = Lane.of(place.toString());
        return place.isHost()
                ? new Placement(place, device, lane, device.defaultStream(), device.defaultStream(), device.defaultStream())
                : new Placement(place, device, lane, device.newStream("arrays"), device.newStream("copies in"),
                        device.newStream("copies out"));
    }
}
