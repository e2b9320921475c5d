@NullMarked
package io.seriatim.examples.porting;

import org.jspecify.annotations.NullMarked;
