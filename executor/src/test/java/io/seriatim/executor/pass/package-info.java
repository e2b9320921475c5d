@NullMarked
package io.seriatim.executor.pass;

import org.jspecify.annotations.NullMarked;
