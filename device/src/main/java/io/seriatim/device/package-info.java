/**
 * Devices behind one narrow interface. Start with {@link io.seriatim.device.Device}; {@link io.seriatim.device.Devices}
 * finds a device by its {@link io.seriatim.device.Place}.
 *
 * <p>
 * From bottom to top, {@code RawMemory} obtains memory from the system, {@code CachingAllocator} caches freed blocks
 * per stream, {@link io.seriatim.device.Buffer} is one allocation, and {@link io.seriatim.device.Stream} and
 * {@link io.seriatim.device.Event} order the work on it.
 */
@NullMarked
package io.seriatim.device;

import org.jspecify.annotations.NullMarked;
