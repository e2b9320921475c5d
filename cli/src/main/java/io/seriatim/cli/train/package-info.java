/**
 * The main job: trains a network, shows how it goes, and leaves a folder with the model, its report and all that is
 * needed to go on.
 */
@NullMarked
package io.seriatim.cli.train;

import org.jspecify.annotations.NullMarked;
