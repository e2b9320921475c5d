/** Ready-made networks, and uses of trained ones. */
@NullMarked
package io.seriatim.train.model;

import org.jspecify.annotations.NullMarked;
