package io.seriatim.device;

import java.util.List;

/**
 * A kind of device. Providers are found by {@link java.util.ServiceLoader}; {@code cpu} and {@code sim} are built in.
 */
public interface DeviceProvider {
    /**
     * The kind that it provides.
     *
     * @return the word before the colon of a place
     */
    String kind();

    /**
     * The devices that this machine has.
     *
     * @return their places; empty if none was found
     */
    List<Place> found();

    /**
     * Opens one.
     *
     * @param place
     *            of this kind
     * @return the device
     * @throws DeviceNotFoundException
     *             if it is not there, saying what was looked for and what to install
     */
    Device open(Place place);
}
