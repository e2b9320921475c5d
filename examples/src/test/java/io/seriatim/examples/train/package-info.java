@NullMarked
package io.seriatim.examples.train;

import org.jspecify.annotations.NullMarked;
