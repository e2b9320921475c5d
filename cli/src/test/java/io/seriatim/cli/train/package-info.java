@NullMarked
package io.seriatim.cli.train;

import org.jspecify.annotations.NullMarked;
