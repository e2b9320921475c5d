@NullMarked
package io.seriatim.examples.build;

import org.jspecify.annotations.NullMarked;
