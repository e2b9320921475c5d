/**
 * Devices behind one narrow seam. Begin with {@link io.seriatim.device.Device}; {@link io.seriatim.device.Devices}
 * finds one by its {@link io.seriatim.device.Place}.
 *
 * <p>
 * Bottom to top: {@code RawMemory} takes memory from where it comes; {@code CachingAllocator} keeps what was freed, by
 * stream; {@link io.seriatim.device.Buffer} is one piece of it; {@link io.seriatim.device.Stream} and
 * {@link io.seriatim.device.Event} order what happens to it.
 */
@NullMarked
package io.seriatim.device;

import org.jspecify.annotations.NullMarked;
