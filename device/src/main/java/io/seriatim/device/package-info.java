/**
 * Devices behind one narrow interface. Start with {@link io.seriatim.device.Device}; {@link io.seriatim.device.Devices}
 * finds a device by its {@link io.seriatim.device.Place}.
 *
 * <p>
 * From bottom to top, {@link io.seriatim.device.DeviceMemory} obtains memory from the system,
 * {@link io.seriatim.device.CachingAllocator} caches freed blocks per stream, {@link io.seriatim.device.Buffer} is one
 * allocation, and {@link io.seriatim.device.Stream} and {@link io.seriatim.device.Event} order the work on it.
 *
 * <p>
 * A module that implements a device provides a {@link io.seriatim.device.DeviceProvider} as a service and passes
 * its memory to an allocator of its own.
 */
@NullMarked
package io.seriatim.device;

import org.jspecify.annotations.NullMarked;
