@NullMarked
package io.seriatim.examples.serve;

import org.jspecify.annotations.NullMarked;
