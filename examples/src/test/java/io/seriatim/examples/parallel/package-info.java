@NullMarked
package io.seriatim.examples.parallel;

import org.jspecify.annotations.NullMarked;
