/** Networks to begin with, and what is done with them once trained. */
@NullMarked
package io.seriatim.train.model;

import org.jspecify.annotations.NullMarked;
