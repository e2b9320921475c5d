/**
 * The command {@code seriatim demo two-devices}: a network trained on two accelerators by a program that is written
 * serially.
 *
 * <p>
 * {@code DataParallel} is the program; {@code Replica} what it has on each device; {@code TimelineSvg} draws what the
 * engine made of it.
 */
@NullMarked
package io.seriatim.cli.demo.devices;

import org.jspecify.annotations.NullMarked;
