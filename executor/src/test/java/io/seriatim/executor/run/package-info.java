@NullMarked
package io.seriatim.executor.run;

import org.jspecify.annotations.NullMarked;
