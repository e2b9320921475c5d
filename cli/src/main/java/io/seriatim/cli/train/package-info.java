/**
 * The command {@code seriatim train}: trains a network, prints the progress, and writes a folder with the model, a
 * report and checkpoints.
 */
@NullMarked
package io.seriatim.cli.train;

import org.jspecify.annotations.NullMarked;
