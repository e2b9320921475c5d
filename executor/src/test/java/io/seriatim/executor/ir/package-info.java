@NullMarked
package io.seriatim.executor.ir;

import org.jspecify.annotations.NullMarked;
