/**
 * Devices: memory, streams and events of the host and of the simulated accelerator.
 */
@SuppressWarnings("module") // io.seriatim.tensor is compiled later.
module io.seriatim.device {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;

    exports io.seriatim.device;
    // For NativeMemory.
    exports io.seriatim.device.internal.ffi to io.seriatim.tensor;

    uses io.seriatim.device.DeviceProvider;
}
