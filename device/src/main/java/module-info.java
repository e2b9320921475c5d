/**
 * Devices: memory, streams and events of the host and of the simulated accelerator.
 */
@SuppressWarnings("module") // The tensor module is built later.
module io.seriatim.device {
    requires static com.google.errorprone.annotations;
    requires static transitive org.jspecify;

    exports io.seriatim.device;
    // For the one binding of malloc_trim.
    exports io.seriatim.device.internal.ffi to io.seriatim.tensor;

    uses io.seriatim.device.DeviceProvider;
}
