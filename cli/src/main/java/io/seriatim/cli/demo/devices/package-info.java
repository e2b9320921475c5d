/**
 * The command {@code seriatim demo two-devices}: a serial program trains a network on two accelerators.
 *
 * <p>
 * {@code DataParallel} is the program, {@code Replica} its state on one device, and {@code TimelineSvg} draws the
 * timeline.
 */
@NullMarked
package io.seriatim.cli.demo.devices;

import org.jspecify.annotations.NullMarked;
