package io.seriatim.device;

import java.util.List;

/**
 * Provides devices of one kind. {@link java.util.ServiceLoader} finds the providers; {@code cpu} and {@code sim} are
 * built in.
 */
public interface DeviceProvider {
    /**
     * Returns the kind of device that this provider opens.
     *
     * @return the part of a place's name before the colon
     */
    String kind();

    /**
     * Lists the devices of this kind on this machine.
     *
     * @return their places; empty if none was found
     */
    List<Place> found();

    /**
     * Opens a device.
     *
     * @param place
     *            a place of this kind
     * @return the device
     * @throws DeviceNotFoundException
     *             if there is no such device; the message says which device was searched for and what to install
     */
    Device open(Place place);
}
