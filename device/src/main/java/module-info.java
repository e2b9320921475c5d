/**
 * Devices: memory, streams and events of the host and of the simulated accelerator.
 */
module io.seriatim.device {
    requires static com.google.errorprone.annotations;
    requires static transitive org.jspecify;

    exports io.seriatim.device;

    uses io.seriatim.device.DeviceProvider;
}
